"""From draws to answers."""
