"""From the `nvvm` stage to code: PTX, cubin, LLVM IR."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir, passmanager
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.dialect.walk import named
from mlir_gemm.errors import InputError

_FORMATS = {"ptx": "isa", "cubin": "bin"}


def ptx(module: Any) -> str:
    """The PTX of the kernels of a module at the `nvvm` stage; the module becomes a gpu.binary."""
    return _binary(module, "isa").rstrip(b"\0").decode()


def emit(text: str, kind: str) -> str | bytes:
    """Code of a kind from the text of a module at the `nvvm` stage."""
    with ir.Context() as context:
        module = ir.Module.parse(text, context)
        if kind == "llvm":
            return _llvm_ir(module)
        if kind not in _FORMATS:
            raise InputError(f"cannot emit '{kind}'; expected ptx, cubin, llvm or a stage")
        code = _binary(module, _FORMATS[kind])
    return code if kind == "cubin" else code.rstrip(b"\0").decode()


def _binary(module: Any, form: str) -> bytes:
    with module.context:
        try:
            passmanager.PassManager.parse(f"builtin.module(gpu-module-to-binary{{format={form}}})").run(
                module.operation
            )
        except ir.MLIRError as error:
            raise from_mlir(error, f"making {form} failed") from None
        binary = named(module, "gpu.binary")[0]
        return dialect("gpu").ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object


def _llvm_ir(module: Any) -> str:
    """The kernels as LLVM IR: the functions of the gpu.module, moved to a module of their own."""
    with module.context, ir.Location.unknown():
        plain = ir.Module.create()
        for operation in list(named(module, "gpu.module")[0].regions[0].blocks[0].operations):
            plain.body.append(operation)
        return dialect("llvm").translate_module_to_llvmir(plain.operation)
