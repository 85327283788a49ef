"""Slow, obvious twins of the library, and exact answers for corpora small enough to enumerate."""
