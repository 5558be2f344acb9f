"""A compilation as one page: every pass, what it changed, and where each operation came from (`mlir-gemm view`)."""
