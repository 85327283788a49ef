"""Models, chains and draws on disk."""
