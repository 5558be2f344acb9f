"""Elementwise kernels: what they compute for each element, in vectors, and in patches where they transpose."""
