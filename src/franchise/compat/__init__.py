"""Drop-in replacement for the paper's program: its options, files and numbers, this library's sampler."""
