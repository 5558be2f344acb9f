"""The problem: what is to be computed, derived from the IR, without any decision about how."""

from __future__ import annotations

from dataclasses import dataclass

ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "i32": 4}


@dataclass(frozen=True)
class Problem:
    """One product D[M, N] = A[M, K] B[K, N] + C[M, N], row-major, sizes in elements.

    `a`, `b`, `acc` and `out` are element types by their MLIR names. `reads_c` says whether C is an input from memory
    (it is not when the module fills it with zero first). `extra_bytes` counts bytes per result element that the
    epilogue reads or writes beyond D itself.
    """

    m: int
    n: int
    k: int
    a: str = "f16"
    b: str = "f16"
    acc: str = "f32"
    out: str = "f32"
    reads_c: bool = True
    extra_bytes: int = 0

    @property
    def flops(self) -> int:
        """Floating-point operations: one multiplication and one addition for each of M N K."""
        return 2 * self.m * self.n * self.k

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k} {self.a},{self.b}->{self.out} (accumulates in {self.acc})"
