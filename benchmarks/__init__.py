"""Programs that print tables of ratios, each measured in one run."""
