"""Where chains start."""
