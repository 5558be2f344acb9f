"""From the `spirv` stage to SPIR-V: one binary module, with an entry point for each kernel."""

from __future__ import annotations

import itertools
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir, passmanager
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.pipeline.spirv_sizes import with_size_constants

_SERIALIZE = "gpu-module-to-binary{format=bin}"
_MAGIC = b"\x03\x02\x23\x07"
_ENVIRONMENT = "spirv.target_env"
_NEEDS, _BUILT_IN = "vce_triple", "built_in"


def spirv(module: Any) -> bytes:
    """The kernels of a module, or of the modules in a program, at the `spirv` stage, which stays as it is; empty for no
    kernels. Raises PassError where upstream cannot write them."""
    found = named(module, "spirv.module")
    if not found:
        return b""
    with module.context, ir.Location.unknown():
        whole = ir.Module.create()
        with ir.InsertionPoint(whole.body):
            target = found[0].operation.parent.attributes[_ENVIRONMENT]
            attributes = {"sym_name": ir.StringAttr.get("kernels"), "targets": ir.ArrayAttr.get([target])}
            holder = ir.Operation.create("gpu.module", attributes=attributes, regions=1)
            holder.regions[0].blocks.append()
        merged = found[0].operation.clone(ir.InsertionPoint(body(holder)))
        for other in found[1:]:
            _merge(merged, other)
        try:
            passmanager.PassManager.parse("builtin.module(gpu.module(spirv.module(spirv-update-vce)))").run(
                whole.operation
            )
            for each in named(whole, "spirv.module"):
                _declare_subgroups(each.operation)
            passmanager.PassManager.parse(f"builtin.module({_SERIALIZE})").run(whole.operation)
        except ir.MLIRError as error:
            raise from_mlir(error, "making SPIR-V failed") from None
        binary = named(whole, "gpu.binary")[0]
        code: bytes = dialect("gpu").ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object
    if not code.startswith(_MAGIC):
        raise PassError("making SPIR-V gave no SPIR-V module")
    return with_size_constants(code)


def _declare_subgroups(module: Any) -> None:
    """Adds the capability of the numbers of subgroups and of their lanes, which upstream does not see: it is of a
    variable's decoration, not of an operation."""
    numbered = any(
        _BUILT_IN in each.operation.attributes and "Subgroup" in str(each.operation.attributes[_BUILT_IN])
        for each in in_block(body(module))
    )
    needs = str(module.attributes[_NEEDS])
    if numbered and "GroupNonUniform," not in needs and "GroupNonUniform]" not in needs:
        module.attributes[_NEEDS] = ir.Attribute.parse(needs.replace("[", "[GroupNonUniform, ", 1))


def _merge(target: Any, other: Any) -> None:
    """Copies what another spirv.module holds into `target`. Kernels have unique names; of variables with the same name,
    equal ones are kept once and different ones are renamed."""
    inside = body(target)
    taken = {_name(each): str(each) for each in in_block(inside) if _name(each)}
    scratch = ir.Module.create()  # renaming must not show in the kernel's own module
    copy = other.operation.clone(ir.InsertionPoint(scratch.body))
    for operation in in_block(body(copy)):
        name = _name(operation)
        if name in taken and str(operation) != taken[name]:
            fresh = next(f"{name}_{count}" for count in itertools.count(1) if f"{name}_{count}" not in taken)
            ir.SymbolTable.replace_all_symbol_uses(name, fresh, copy)
            operation.operation.attributes["sym_name"] = ir.StringAttr.get(fresh)
            taken[fresh] = str(operation)
    have = {_name(each) for each in in_block(inside)}
    for operation in in_block(body(copy)):
        if not _name(operation) or _name(operation) not in have:
            inside.append(operation)


def _name(operation: Any) -> str:
    attributes = operation.operation.attributes
    return ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else ""
