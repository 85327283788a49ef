"""The engine on a GPU: kernels in CUDA C++, compiled by NVRTC through CuPy.

CuPy is imported only when a GPU is requested.
"""
