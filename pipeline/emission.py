"""From the `nvvm` stage to code: PTX and LLVM IR."""

from __future__ import annotations

import itertools
import re
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir, passmanager
from mlir_gemm.dialect.context import by_threads, new_context
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.dialect.memory import SHARED
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
        text = _code(named(module, "gpu.binary")[0])
    return text if lines is None else cleaned(text)


def _code(binary: Any) -> str:
    code: bytes = dialect("gpu").ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object
    return code.rstrip(b"\0").decode()


def ptx_of_program(module: Any, *, from_outside: bool = False, lines: Place | None = None) -> str:
    """One PTX with the kernels of all modules in a program at the `nvvm` stage, which stays as it is; empty for no
    kernels."""
    kernels = named(module, "gpu.module")
    if not kernels:
        return ""
    with module.context, ir.Location.unknown():
        targets = [each.operation.attributes[_TARGETS] for each in kernels if _TARGETS in each.operation.attributes]
        target = max(targets, key=_version, default=None)
        if lines is None and not from_outside and len(kernels) > 1 and all(map(_stands_alone, kernels)):
            return _side_by_side(kernels, target)
        merged = ir.Module.create()
        whole = kernels[0].operation.clone(ir.InsertionPoint(merged.body))
        _merge(whole, kernels[1:])
        if target is not None:
            whole.attributes[_TARGETS] = target
        return ptx(merged, from_outside=from_outside, lines=lines)


def _stands_alone(kernel: Any) -> bool:
    """Whether a gpu.module holds one kernel, and else shared memory only: then its PTX is the same beside others."""
    others = [each.operation.attributes for each in in_block(body(kernel)) if not _is_shared(each.operation.attributes)]
    return len(others) == 1 and "nvvm.kernel" in others[0]


def _is_shared(attributes: Any) -> bool:
    return "addr_space" in attributes and ir.IntegerAttr(attributes["addr_space"]).value == SHARED


def _side_by_side(kernels: list[Any], target: Any) -> str:
    """The PTX of kernels that stand alone, made by threads of MLIR's: LLVM is a third of the time of a program."""
    whole = ir.Module.create()
    for kernel in kernels:
        beside = ir.Operation.create("builtin.module", regions=1, ip=ir.InsertionPoint(whole.body))
        copy = kernel.operation.clone(ir.InsertionPoint(beside.regions[0].blocks.append()))
        if target is not None:
            copy.attributes[_TARGETS] = target
    try:
        manager = passmanager.PassManager.parse(f"builtin.module(builtin.module({_TO_PTX}))")
        manager.enable_verifier(False)
        with by_threads(whole.context):
            manager.run(whole.operation)
    except ir.MLIRError as error:
        raise from_mlir(error, "making PTX failed") from None
    return joined([_code(binary) for binary in named(whole, "gpu.binary")])


_ENTRY = re.compile(r"^\.visible \.entry ", re.MULTILINE)
_LABEL = re.compile(r"\$L__BB0_")


def joined(texts: list[str]) -> str:
    """One PTX of several with a function each and one header, as LLVM writes it of one module with all of them."""
    heads, bodies = zip(*(_divided(text) for text in texts), strict=True)
    header = heads[0].partition("\t// .globl\t")[0]
    declared = [head.partition("\t// .globl\t")[2].partition("\n") for head in heads]
    globals_ = "".join(memory.removesuffix("\n") for _, _, memory in declared)
    functions = [
        body if number == 0 else _LABEL.sub(f"$L__BB{number}_", f"\t// .globl\t{name}\n{body}")
        for number, ((name, _, _), body) in enumerate(zip(declared, bodies, strict=True))
    ]
    before = f"{globals_}\n" if globals_ else ""
    return f"{header}\t// .globl\t{declared[0][0]}\n{before}{''.join(functions)}"


def _divided(text: str) -> tuple[str, str]:
    """What stands before a function, and the function."""
    entry = _ENTRY.search(text)
    assert entry is not None  # LLVM has written a kernel
    return text[: entry.start()], text[entry.start() :]


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
