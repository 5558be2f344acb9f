"""Products written in Python: `einsum` and `matmul`, whose functions of single elements become regions of MLIR."""
