"""The engine that makes sweeps on a GPU, and whether there is one.

CuPy is imported when a GPU is asked for, and not before.
"""
