"""wgmma: warpgroups multiply what lies in shared memory, asynchronously (sm_90a)."""

from mlir_gemm.parts.mma.wgmma.part import PART

__all__ = ["PART"]
