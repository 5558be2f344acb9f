"""wgmma with A in registers, as assembly: its form, and the matrix that its words are.

PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8" and the other shapes: a lane has, of the 16 rows of its warp,
the rows `lane // 4` and that plus 8, and of K the places of one word from `lane % 4` words on, and 4 words further.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.lowering.wgmma_registers import PERMUTE, WORDS
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.wgmma import KINDS, numbers
from mlir_gemm.simulator.wgmma_sparse import PLACES, is_sparse

_TEXT = re.compile(
    r"\{ \.reg \.pred p; setp\.ne\.b32 p, ([01]), 0; wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k(\d+)\.(\w+)\.(\w+)\."
    r"(\w+) \{([^}]*)\}, \{([^}]*)\}, \$(\d+), p(, 1, 1)?; \}"
)
_NAME = "wgmma.mma_async"


@dataclass(frozen=True)
class AssemblyForm:
    """What the assembly of a product says."""

    kinds: tuple[str, str, str]
    columns: int
    depth: int
    fresh: bool
    sums: list[Any]
    """The operands that are the accumulator's numbers; none where it is fresh."""
    words: list[Any]
    """Those that are A's."""
    b: Any


def is_product(text: str) -> bool:
    """Whether some assembly is a wgmma."""
    return f"{_NAME}." in text


def form_of(operation: Any) -> AssemblyForm:
    """The form of a wgmma by assembly. Raises SimulationError for what does not say what it takes and gives."""
    op = operation.operation
    text = ir.StringAttr(op.attributes["asm_string"]).value
    found = _TEXT.fullmatch(text)
    if found is None:
        raise unsupported(operation, f"'{text[:90]}' is not simulated; expected one wgmma with A in registers")
    fresh, columns, depth = found[1] == "0", int(found[2]), int(found[3])
    kinds = found[5], found[6], found[4]
    if any(kind not in KINDS for kind in kinds[:2]) or kinds[2] not in ("f32", "s32"):
        raise unsupported(operation, f"of {kinds} with A in registers is not simulated")
    if columns % 8 or not 8 <= columns <= 256 or depth != KINDS[kinds[0]][1]:
        raise unsupported(operation, f"m64n{columns}k{depth} of {kinds[0]} is not what the machine has")
    if bool(found[10]) == (kinds[2] == "s32"):
        raise unsupported(operation, f"of {kinds[2]} takes {'no ' if found[10] else ''}signs of its operands")
    count = columns // 2
    operands = list(op.operands)
    given = 0 if fresh else count
    letter = "r" if kinds[2] == "s32" else "f"
    constraints = [f"={letter}"] * count + [str(number) for number in range(given)] + ["r"] * WORDS + ["l"]
    first = count + given
    in_order = [*map(str, range(count)), *map(str, range(first, first + WORDS)), str(first + WORDS)]
    said = [*re.findall(r"\$(\d+)", found[7]), *re.findall(r"\$(\d+)", found[8]), found[9]]
    if said != in_order or ir.StringAttr(op.attributes["constraints"]).value != ",".join(constraints):
        raise unsupported(operation, f"a product of {count} registers that does not take them in order")
    if "has_side_effects" not in op.attributes or len(operands) != given + WORDS + 1:
        raise unsupported(operation, f"a product must have side effects and {given + WORDS + 1} operands")
    return AssemblyForm(kinds, columns, depth, fresh, operands[:given], operands[given:-1], operands[-1])


def struct_of(values: list[Any]) -> Any | None:
    """The struct of which some values are all members, in order."""
    owners = [value.owner.operation for value in values if not hasattr(value.owner, "operations")]
    if not owners or len(owners) < len(values) or any(owner.name != "llvm.extractvalue" for owner in owners):
        return None
    struct = owners[0].operands[0]
    places = [list(ir.DenseI64ArrayAttr(owner.attributes["position"])) for owner in owners]
    same = all(owner.operands[0] == struct for owner in owners)
    return struct if same and places == [[number] for number in range(len(values))] else None


def only_carried(value: Any) -> bool:
    """Whether a member of an accumulator goes to products alone, which take all of it: none is read then."""
    uses = list(value.uses)
    is_member = getattr(value.owner, "name", "") == "llvm.extractvalue"
    return (
        is_member
        and bool(uses)
        and all(
            _is_product(use.owner) and use.operand_number < len(use.owner.operands) - _behind_sums(use.owner)
            for use in uses
        )
    )


def _behind_sums(product: Any) -> int:
    """Operands of a product after those of its accumulator."""
    return PLACES if is_sparse(_text(product)) else WORDS + 1


def feeds_products(value: Any) -> bool:
    """Whether what was loaded goes to A of products alone: these come after it, as they need its registers."""
    uses = list(value.uses)
    return bool(uses) and all(_is_product(use.owner) or (_passes_on(use.owner) and
                              feeds_products(use.owner.operation.results[0])) for use in uses)  # fmt: skip


def _is_product(operation: Any) -> bool:
    return operation.operation.name == "llvm.inline_asm" and is_product(_text(operation))


def _text(operation: Any) -> str:
    return ir.StringAttr(operation.operation.attributes["asm_string"]).value


def _passes_on(operation: Any) -> bool:
    op = operation.operation
    return op.name == "llvm.extractvalue" or (op.name == "llvm.inline_asm" and _text(op) in ("", PERMUTE))


def matrix_of(parts: list[Any], kind: str) -> Any:
    """A (64, K) as numbers, from the words of four warps: (lanes, words) as i32."""
    element = KINDS[kind][0]
    words = np.stack(parts).reshape(4, 8, 4, 2, 2)  # warp, row of eight, place in K, halves of K, of the rows
    items = np.ascontiguousarray(words.transpose(0, 4, 1, 3, 2)).view(f"u{element.bytes}")
    return numbers(items.reshape(64, -1), kind)
