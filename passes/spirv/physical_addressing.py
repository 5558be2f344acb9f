"""physical-addressing: pointers of 64 bits, and numbers of threads as the hardware gives them.

Expects spirv.modules of kernels of OpenCL, as upstream's convert-gpu-to-spirv makes them for indices of 32 bits:
addressing is Physical32, and the places of threads and workgroups have 32 bits. Leaves Physical64, in which OpenCL
gives these places in 64 bits, cut to 32 where they are read. In kernels that have an fma, multiplications and
additions stay as they are written (ContractionOff): these count on their roundings. The modules stand beside the
gpu.module that they were made of, as those for Vulkan do. Leaves other modules as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.walk import body, named
from mlir_gemm.passes.base import Pass

_MODEL = "addressing_model"
_NARROW = "#spirv.addressing_model<Physical32>"
_WIDE = "#spirv.addressing_model<Physical64>"
_FMA = "spirv.CL.fma"
_PLACES = "!spirv.ptr<vector<3xi64>, Input>"


@dataclass(frozen=True)
class PhysicalAddressing(Pass):
    """Give kernels of OpenCL pointers of 64 bits."""

    name: ClassVar[str] = "physical-addressing"

    def run(self, module: Any) -> None:
        for each in named(module, "spirv.module"):
            made = each.operation
            if str(made.attributes[_MODEL]) != _NARROW:
                continue
            made.attributes[_MODEL] = ir.Attribute.parse(_WIDE)
            if made.parent.operation.name == "gpu.module":
                made.move_before(made.parent.operation)
            inputs = [each for each in named(made, "spirv.GlobalVariable") if "built_in" in each.attributes]
            for variable in inputs:
                variable.attributes["type"] = ir.TypeAttr.get(ir.Type.parse(_PLACES))
            names = {ir.StringAttr(each.attributes["sym_name"]).value for each in inputs}
            for address in named(made, "spirv.mlir.addressof"):
                if ir.FlatSymbolRefAttr(address.attributes["variable"]).value in names:
                    _widen(address.operation)
            _keep_roundings(made)


def _widen(address: Any) -> None:
    """Reads three places of 64 bits where three of 32 bits were read."""
    with ir.InsertionPoint(address), address.location:
        new = _made("spirv.mlir.addressof", _PLACES, [], {"variable": address.attributes["variable"]})
    for load in _users(address):
        with ir.InsertionPoint(load), load.location:
            places = _made("spirv.Load", "vector<3xi64>", [new])
        for extract in _users(load):
            with ir.InsertionPoint(extract), extract.location:
                place = _made("spirv.CompositeExtract", "i64", [places], {"indices": extract.attributes["indices"]})
                extract.results[0].replace_all_uses_with(_made("spirv.UConvert", "i32", [place]))
            extract.erase()
        load.erase()
    address.erase()


def _users(operation: Any) -> list[Any]:
    return [use.owner.operation for use in operation.results[0].uses]


def _made(name: str, type_: str, operands: list[Any], attributes: dict[str, Any] | None = None) -> Any:
    return ir.Operation.create(name, [ir.Type.parse(type_)], operands, attributes).results[0]


def _keep_roundings(module: Any) -> None:
    """Says of kernels with an fma that the driver may not fuse a multiplication with an addition."""
    mode = ir.Attribute.parse("#spirv.execution_mode<ContractionOff>")
    for kernel in named(module, "spirv.func"):
        if not named(kernel, _FMA):
            continue
        with ir.InsertionPoint(body(module)), kernel.location:
            name = ir.FlatSymbolRefAttr.get(ir.StringAttr(kernel.attributes["sym_name"]).value)
            attributes = {"fn": name, "execution_mode": mode, "values": ir.ArrayAttr.get([])}
            ir.Operation.create("spirv.ExecutionMode", attributes=attributes)
