"""Assembly in the code of a thread: for what no operation stands for, and to keep an order that nothing else keeps."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir


def emit(text: str, *addresses: Any) -> None:
    """PTX on addresses, at the insertion point. No access to memory is moved past it."""
    ir.Operation.create(
        "llvm.inline_asm",
        operands=list(addresses),
        attributes={
            "asm_string": ir.StringAttr.get(text),
            "constraints": ir.StringAttr.get(",".join(["l"] * len(addresses) + ["~{memory}"])),
            "has_side_effects": ir.UnitAttr.get(),
        },
    )


def tied(values: list[Any], type_: Any) -> Any:
    """A struct of numbers of one type, by an assembly of no instructions that takes and gives all their registers."""
    letter = "f" if str(values[0].type) == "f32" else "r"
    constraints = [f"={letter}"] * len(values) + [str(number) for number in range(len(values))]
    return ir.Operation.create(
        "llvm.inline_asm",
        results=[type_],
        operands=values,
        attributes={
            "asm_string": ir.StringAttr.get(""),
            "constraints": ir.StringAttr.get(",".join(constraints)),
            "has_side_effects": ir.UnitAttr.get(),
        },
    ).results[0]


def members_of(struct: Any) -> list[Any]:
    """The numbers of a struct whose members have one type."""
    members = str(struct.type)[len("!llvm.struct<(") : -2].split(", ")
    element = ir.Type.parse(members[0])
    extract = dialect("llvm").ExtractValueOp
    return [extract(element, struct, [number]).operation.results[0] for number in range(len(members))]
