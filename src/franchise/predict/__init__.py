"""New documents with fixed topics: their mixtures, and how well the topics predict them."""
