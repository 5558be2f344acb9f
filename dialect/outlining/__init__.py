"""From linalg to kernels: which operations share one, how tensors lie in buffers, the order of a kernel's loops, and
the modules of kernels and programs that come of it.
"""
