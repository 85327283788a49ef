"""Every experiment of the paper's section 4, rerun: ``python -m experiments --help``."""
