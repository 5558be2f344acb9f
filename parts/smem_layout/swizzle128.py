"""swizzle128: panels of 128-byte rows, of 64 or 32 bytes for an operand whose rows wider ones do not divide, whose
16-byte chunks the copy engine swizzles."""

from __future__ import annotations

from mlir_gemm.parts.base import Layout

PART = Layout("swizzle128", swizzled=True, panels=True)
