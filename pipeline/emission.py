"""From the `nvvm` stage to code: PTX and LLVM IR."""

from __future__ import annotations

import itertools
import re
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir, passmanager
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.pipeline.debug_info import Place, add_lines, cleaned
from mlir_gemm.pipeline.rehearsal import rehearse, rehearse_translation

_TO_PTX = "gpu-module-to-binary{format=isa}"
_TARGETS = "targets"


def ptx(module: Any, *, from_outside: bool = False, lines: Place | None = None) -> str:
    """The PTX of the kernels of a module at the `nvvm` stage; the module becomes a gpu.binary. `from_outside` is for a
    module whose text may have been edited. With `lines` it says where in a file its instructions come from. Raises
    PassError where LLVM ends the process on that."""
    if from_outside:
        rehearse(module, _TO_PTX, "making PTX")
    if lines is not None:
        add_lines(module, lines)
    with module.context:
        try:
            passmanager.PassManager.parse(f"builtin.module({_TO_PTX})").run(module.operation)
        except ir.MLIRError as error:
            raise from_mlir(error, "making PTX failed") from None
        binary = named(module, "gpu.binary")[0]
        code: bytes = dialect("gpu").ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object
    text = code.rstrip(b"\0").decode()
    return text if lines is None else cleaned(text)


def ptx_of_program(module: Any, *, from_outside: bool = False, lines: Place | None = None) -> str:
    """One PTX with the kernels of all modules in a program at the `nvvm` stage, which stays as it is; empty for no
    kernels."""
    kernels = named(module, "gpu.module")
    if not kernels:
        return ""
    with module.context, ir.Location.unknown():
        merged = ir.Module.create()
        whole = kernels[0].operation.clone(ir.InsertionPoint(merged.body))
        _merge(whole, kernels[1:])
        targets = [each.operation.attributes[_TARGETS] for each in kernels if _TARGETS in each.operation.attributes]
        if targets:
            whole.attributes[_TARGETS] = max(targets, key=_version)
        return ptx(merged, from_outside=from_outside, lines=lines)


def _version(targets: Any) -> int:
    """The version of PTX that a kernel asks for; 0 where what LLVM writes for the chip will do."""
    found = re.search(r"\+ptx(\d+)", str(targets))
    return int(found[1]) if found else 0


def llvm_ir(text: str, *, from_outside: bool = False) -> str:
    """The kernels as LLVM IR, from the text of a module at the `nvvm` stage. `from_outside` is for text that may have
    been edited. Raises PassError where the translation ends the process on that."""
    module = parse_module(text, "-", new_context(), own=True)
    with module.context, ir.Location.unknown():
        plain = ir.Module.create()
        kernels = named(module, "gpu.module")
        if kernels:
            _merge(kernels[0], kernels[1:])
            for operation in in_block(body(kernels[0])):
                plain.body.append(operation)
        if from_outside:
            rehearse_translation(plain)
        return dialect("llvm").translate_module_to_llvmir(plain.operation)


def _merge(target: Any, others: list[Any]) -> None:
    """Copies what other gpu.modules hold into `target`. Kernels and their memory have unique names. Of other symbols
    with the same name, equal ones are kept once and different ones are renamed."""
    inside = body(target)
    taken = {_name(operation): operation for operation in in_block(inside)}
    for other in others:
        scratch = ir.Module.create()  # renaming must not show in the kernel's own module
        copy = other.operation.clone(ir.InsertionPoint(scratch.body))
        for operation in in_block(body(copy)):
            name = _name(operation)
            if name in taken and str(operation) != str(taken[name]):
                fresh = next(f"{name}_{count}" for count in itertools.count(1) if f"{name}_{count}" not in taken)
                ir.SymbolTable.replace_all_symbol_uses(name, fresh, copy)
                operation.operation.attributes["sym_name"] = ir.StringAttr.get(fresh)
        for operation in in_block(body(copy)):
            if _name(operation) not in taken:
                taken[_name(operation)] = operation.operation.clone(ir.InsertionPoint(inside))


def _name(operation: Any) -> str:
    return ir.StringAttr(operation.operation.attributes["sym_name"]).value
