"""A drop-in replacement for the paper's program: its options, files and numbers, but our sampler."""
