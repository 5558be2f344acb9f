"""wmma: fragments of which only the operation knows which lane holds what, for plain aligned products."""

from mlir_gemm.parts.mma.wmma.part import PART

__all__ = ["PART"]
