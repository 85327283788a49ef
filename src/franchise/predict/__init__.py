"""New documents, the topics held fixed: their mixtures, and how well the topics predict them."""
