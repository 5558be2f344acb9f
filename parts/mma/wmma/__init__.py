"""wmma: opaque fragments (which lane holds which element is not specified), for plain aligned products."""

from mlir_gemm.parts.mma.wmma.part import PART

__all__ = ["PART"]
