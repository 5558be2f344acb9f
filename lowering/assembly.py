"""Inline assembly in the code of a thread: for instructions without an operation, and to enforce an order that nothing
else keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir


def inline(
    text: str, constraints: Sequence[str], operands: Sequence[Any], type_: Any = None, *, effects: bool = True
) -> Any:
    """PTX at the insertion point, with a constraint for its result, if it has a type, and for each operand; its result.
    Without `effects` it may be moved, and is removed where its result is not used."""
    attributes = {"asm_string": ir.StringAttr.get(text), "constraints": ir.StringAttr.get(",".join(constraints))}
    if effects:
        attributes["has_side_effects"] = ir.UnitAttr.get()
    results = [] if type_ is None else [type_]
    made = ir.Operation.create("llvm.inline_asm", results=results, operands=list(operands), attributes=attributes)
    return made.results[0] if results else None


NO_BITS = "popc.b32 $0, $1; shr.u32 $0, $0, 6;"
"""Of 32 bits no more than 32 are set, which divided by 64 are none. The assembler does not see through it, as it would
through an AND with 0."""


OWN = "mov.b64 $0, $1;"
"""A number in a register of its own: LLVM does not see that it is the same."""


def no_bits(word: Any) -> Any:
    """An i32 that is 0, available once another i32 is."""
    return inline(NO_BITS, ["=r", "r"], [word], word.type, effects=False)


def emit(text: str, *addresses: Any) -> None:
    """PTX on addresses, at the insertion point. No access to memory is moved past it."""
    inline(text, ["l"] * len(addresses) + ["~{memory}"], addresses)


def tied(values: list[Any], type_: Any) -> Any:
    """A struct of numbers of one type, passed through inline assembly without instructions that takes and returns all
    their registers."""
    letter = {"f32": "f", "f16": "h"}.get(str(values[0].type), "r")
    constraints = [f"={letter}"] * len(values) + [str(number) for number in range(len(values))]
    return inline("", constraints, values, type_)


def members_of(struct: Any) -> list[Any]:
    """The numbers of a struct whose members have one type."""
    members = str(struct.type)[len("!llvm.struct<(") : -2].split(", ")
    element = ir.Type.parse(members[0])
    extract = dialect("llvm").ExtractValueOp
    return [extract(element, struct, [number]).operation.results[0] for number in range(len(members))]
