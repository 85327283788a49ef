"""The engine on a GPU: kernels in CUDA C++, compiled by NVRTC through CuPy.

CuPy is imported when a GPU is asked for, and not before.
"""
