"""wgmma with a 2:4 sparse A, as assembly: its form, and what is multiplied.

PTX ISA, "Sparse wgmma.mma_async": of the 64 rows of an instruction each warp has 16. With the selector s, the lanes
4 g + 2 s and 4 g + 2 s + 1 give the metadata of the rows g and g + 8, in the lower and the upper half of a word, each
for 16 of the 32 places of k.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.spec.sparse import KEPT
from mlir_gemm.spec.sparse_arrays import spread

_TEXT = re.compile(
    r"\{ \.reg \.pred p; setp\.ne\.b32 p, ([01]), 0; wgmma\.mma_async\.sp\.sync\.aligned\.m64n(\d+)k32\.f32\.(b?f16)\."
    r"(b?f16) \{([^}]*)\}, \$(\d+), \$(\d+), \$(\d+), ([01]), p, 1, 1, 0, ([01]); \}"
)
_NAME = "wgmma.mma_async.sp"
PLACES = 3
"""Operands after the accumulator: the descriptors of A and B, and the metadata."""
DEPTH = 32
"""K of an instruction."""


@dataclass(frozen=True)
class SparseForm:
    """What the assembly of a sparse product says."""

    kind: str
    columns: int
    fresh: bool
    selector: int
    b_along_k: bool
    sums: list[Any]
    """The operands that are the accumulator's numbers; none where it is fresh."""
    places: list[Any]


def is_sparse(text: str) -> bool:
    """Whether some assembly is a sparse wgmma."""
    return _NAME in text


def form_of(operation: Any) -> SparseForm:
    """The form of a sparse wgmma. Raises SimulationError for what does not say what it takes and gives."""
    op = operation.operation
    text = ir.StringAttr(op.attributes["asm_string"]).value
    found = _TEXT.fullmatch(text)
    if found is None or found[3] != found[4]:
        raise unsupported(operation, f"'{text[:90]}' is not simulated; expected one sparse wgmma")
    fresh, columns = found[1] == "0", int(found[2])
    count, operands = columns // 2, list(op.operands)
    given = 0 if fresh else count
    constraints = ["=f"] * count + [str(number) for number in range(given)] + ["l", "l", "r"]
    first = count + given
    in_order = [*map(str, range(count)), *(str(first + place) for place in range(PLACES))]
    said = [*re.findall(r"\$(\d+)", found[5]), *(found[place] for place in (6, 7, 8))]
    if columns % 8 or not 8 <= columns <= 256 or len(operands) != given + PLACES:
        raise unsupported(operation, f"m64n{columns}k{DEPTH} of {len(operands)} operands is not what the machine has")
    right = ir.StringAttr(op.attributes["constraints"]).value == ",".join(constraints)
    if said != in_order or not right or "has_side_effects" not in op.attributes:
        raise unsupported(operation, f"a sparse product of {count} registers that does not take them in order")
    return SparseForm(found[3], columns, fresh, int(found[9]), found[10] == "0", operands[:given], operands[given:])


def whole_of(values: Any, words: Any, selector: int) -> tuple[Any, bool]:
    """A (64, 32) as numbers, from its values (64, 16) and the metadata of the lanes of four warps, (4, lanes) as i32;
    or a (16, 32) of one warp; whether all pairs of places are in order, but for those of values that are all zero."""
    rows = len(values)
    own = np.ascontiguousarray(words).view(np.uint16).reshape(-1, 8, 4, 2)[:, :, 2 * selector : 2 * selector + 2]
    halves = own.transpose(0, 3, 1, 2).reshape(rows, 2)  # warp, upper or lower 8 rows, g; 16 places of k each
    nibbles = (halves[:, :, None] >> np.arange(0, 16, 4, dtype=np.uint16) & 0xF).reshape(rows, 8)
    at = np.stack([nibbles & 3, nibbles >> 2], axis=2).astype(np.int64)
    used = np.any(values.reshape(rows, 8, KEPT) != 0, axis=2)
    return spread(values, at), bool(np.all((at[:, :, 0] < at[:, :, 1]) | ~used))
