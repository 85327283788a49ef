"""Where documents and their seating live, by kind: words or counts in memory, words on a GPU."""
