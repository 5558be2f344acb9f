"""The problem: what is to be computed, derived from the IR, without any decision about how."""

from __future__ import annotations

from dataclasses import dataclass

from mlir_gemm.spec.algebra import padding
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.zeros import shown_zeros

MATRIX_OPERATIONS = 6
"""Instructions of reading an element of a matrix in the epilogue, about."""


@dataclass(frozen=True)
class Problem:
    """`batch` products D[M, N] = A[M, K] B[K, N] + C[M, N], sizes in elements.

    `a`, `b`, `acc` and `out` are element types by their MLIR names: of the operands as the mma takes them, of the
    accumulator and of the result. `reads_c` says whether C is an input from memory (it is not when the module fills it
    with zero first). `extra_bytes` counts bytes per result element that the epilogue reads or writes beyond D itself.
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
    batch: int = 1
    """Products of these sizes."""
    a_order: str = "mk"
    """How A lies in memory: `mk` (the elements of a row are neighbours) or `km` (those of a column are)."""
    b_order: str = "kn"
    """How B lies in memory: `kn` or `nk`."""
    a_vector: int = 128
    """Bits of the widest aligned access along A's neighbours that never crosses the end of its row: 128 at most."""
    b_vector: int = 128
    """The same for B."""
    out_vector: int = 128
    """The same for D."""
    a_memory: str = ""
    """Element type of A in memory where a prologue computes what is multiplied from it; empty where there is none."""
    b_memory: str = ""
    """The same for B."""
    unsigned: str = ""
    """Which of the integer operands are unsigned: `a`, `b` or `ab`."""
    dynamic: str = ""
    """Which of the sizes, such as `m` or `mk`, are known at run time only; they stand for typical values then."""
    out_order: str = "mn"
    """How D lies in memory: `mn` or `nm`."""
    epilogue_ops: int = 0
    """Work of the epilogue on one element, in instructions, about: its arithmetic, functions and divisions as several,
    and matrices that it reads."""
    epilogue_matrices: int = 0
    """Matrices that the epilogue reads."""
    algebra: str = ""
    """What takes the place of plus and times of numbers (`spec/algebra.py`), where something does."""
    symmetric: bool = False
    """Whether D equals its transpose, so that one of two tiles that mirror each other is enough."""
    result_mask: str = ""
    """Where D is one number whatever A and B are, as conditions such as `n>m` (`spec/zeros.py`); empty where it is
    nowhere known to be."""
    zeros: str = ""
    """Where operands are zero, as conditions such as `k>m` of A and `k<n` of B; empty where none is known to be."""

    sparse: str = ""
    """Which operand is a 2:4 sparse matrix, given compressed: `a` or `b`."""

    composite: int = 0
    """Components of the elements of B, where a product of real numbers makes its numbers of them in registers
    (`tile.composite`): K and N count numbers. 0 for a B of plain numbers."""
    laid_out: str = ""
    """Of a B that a kernel in front of the product lays out, from elements that the product could read: how many
    components these have, their order, and `planes` where each lies in a plane of its own, such as `2 kn planes`; empty
    for another."""
    planes: str = ""
    """Which of A, B and D have components in memory of their own (`tile.planes`), as a, b and d."""
    a_channels: int = 0
    """Of an A that is read by windows (`tile.windows`): how many channels of a pixel the copy engine can take in a row,
    1 where it takes none. 0 for an A that lies as its sizes say."""
    b_channels: int = 0
    """The same for B."""
    epilogue_vector: int = 128
    """The same as `out_vector` for all matrices that the epilogue reads or writes; 0 where the rows of one run across
    those of D."""
    epilogue_types: str = ""
    """Element types of the matrices of D's shape that the epilogue reads, in whole bytes and no planes of components,
    such as `f16 f32`; empty where it reads none."""
    b_matrices: int = 0
    """How many matrices B one kernel multiplies by the same A, each with an equal part of N, and of a tile's columns
    (`join-products`); 0 for one. The epilogue's bytes, and what it reads, are those of an element of all their results
    together."""

    @property
    def flops(self) -> int:
        """Floating-point operations: one multiplication and one addition for each of M N K, in each product."""
        return 2 * self.batch * self.m * self.n * self.k

    def __str__(self) -> str:
        batch = f"{self.batch} x " if self.batch > 1 else ""
        orders = "" if (self.a_order, self.b_order) == ("mk", "kn") else f" ({self.a_order}, {self.b_order})"
        sizes = f"{batch}{self.m}x{self.n}x{self.k}"
        by = f" by {self.algebra}" if self.algebra else ""
        same = (", symmetric" if self.symmetric else "") + (
            f", zero for {shown_zeros(self.zeros)}" if self.zeros else ""
        )
        same += f", {self.sparse.upper()} is 2:4 sparse" if self.sparse else ""
        same += f", B of {self.b_matrices} matrices" if self.b_matrices else ""
        same += f", B of {self.composite} components" if self.composite else ""
        same += f", planes of {', '.join(self.planes.upper())}" if self.planes else ""
        same += f", masked for {shown_zeros(self.result_mask)}" if self.result_mask else ""
        return f"{sizes} {self.a},{self.b}->{self.out}{orders} (accumulates in {self.acc}{by}{same})"

    @property
    def matrices(self) -> int:
        """How many matrices B there are."""
        return max(1, self.b_matrices)

    @property
    def pads_with_zeros(self) -> bool:
        """Whether zeros beyond the end of k change nothing in the result."""
        return not self.algebra or padding(self.algebra, self.a, self.b, self.acc) == (0, 0)


def stored_part(problem: Problem, operand: str) -> float:
    """What part of its elements an operand has in memory: all, or of a 2:4 sparse one half, and an eighth of these for
    two bits each; of elements with components a number for each component."""
    if operand == "b" and problem.composite:
        return 1 / problem.composite
    return 9 / 16 if problem.sparse == operand else 1.0


def element_bytes(problem: Problem, operand: str) -> int:
    """Bytes of an element of A or B in shared memory: as the operation takes it."""
    return ELEMENT_BYTES[problem.a if operand == "a" else problem.b]


def memory_bytes(problem: Problem, operand: str) -> int:
    """Bytes of an element of A or B in global memory, before a prologue where there is one."""
    if operand == "a":
        return ELEMENT_BYTES[problem.a_memory or problem.a]
    return ELEMENT_BYTES[problem.b_memory or problem.b]


def by_registers(problem: Problem) -> bool:
    """Whether A comes to `wgmma` through registers: from shared memory it transposes elements of 16 bits only."""
    return problem.a_order == "km" and element_bytes(problem, "a") != 2


def transposes_b(problem: Problem) -> bool:
    """Whether `wgmma` takes B transposed in shared memory: of bytes that lie along n."""
    return problem.b_order == "kn" and element_bytes(problem, "b") == 1
