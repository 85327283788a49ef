"""Where documents and their seating live: as words or counts in memory, or as words on a GPU."""
