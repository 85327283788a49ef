"""The engine on a GPU: kernels in CUDA C++, compiled by NVRTC through CuPy."""
