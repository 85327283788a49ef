"""What is on disk: a corpus, a chain, the folder of a model."""
