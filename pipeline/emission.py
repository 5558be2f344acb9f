"""From the `nvvm` stage to code: PTX and LLVM IR."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir, passmanager
from mlir_gemm.dialect.locations import from_mlir
from mlir_gemm.dialect.parse import new_context, parse_module
from mlir_gemm.dialect.walk import named


def ptx(module: Any) -> str:
    """The PTX of the kernels of a module at the `nvvm` stage; the module becomes a gpu.binary."""
    with module.context:
        try:
            passmanager.PassManager.parse("builtin.module(gpu-module-to-binary{format=isa})").run(module.operation)
        except ir.MLIRError as error:
            raise from_mlir(error, "making PTX failed") from None
        binary = named(module, "gpu.binary")[0]
        code: bytes = dialect("gpu").ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object
    return code.rstrip(b"\0").decode()


def llvm_ir(text: str) -> str:
    """The kernels as LLVM IR, from the text of a module at the `nvvm` stage."""
    module = parse_module(text, "-", new_context())
    with module.context, ir.Location.unknown():
        plain = ir.Module.create()
        for operation in list(named(module, "gpu.module")[0].regions[0].blocks[0].operations):
            plain.body.append(operation)
        return dialect("llvm").translate_module_to_llvmir(plain.operation)
