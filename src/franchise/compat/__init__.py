"""A drop-in for the paper's own program: its options, its files, its numbers, this library's sampler."""
