"""inline-kernel: a program that is just one kernel becomes that kernel.

Expects a program (`normalise-kernels`). When its function only runs one kernel, on its own arguments, each once and of
the same type as the kernel's, the kernel's body becomes the function's and its module goes; what is noted on them moves
to the function and to the outer module. Any other program is left alone. A second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.clone import attributes_of, clone
from mlir_gemm.dialect.outlining import programs
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import NOTE


@dataclass(frozen=True)
class InlineKernel(Pass):
    """Make a flat function of a program of one kernel."""

    name: ClassVar[str] = "inline-kernel"

    def run(self, module: Any) -> None:
        modules = programs.kernel_modules(module)
        runs = named(module, "tile.run")
        if len(modules) == 1 and len(runs) == 1 and programs.kernel_of(runs[0]) in modules:
            inner = modules[programs.kernel_of(runs[0])]
            _inline(module, runs[0], inner)


def _inline(module: Any, run: Any, inner: Any) -> None:
    main, kernel = run.operation.parent, programs.function_of(inner)
    buffers, arguments = programs.buffers_of(run), list(body(kernel).arguments)
    if len(set(buffers)) != len(buffers) or any(value not in list(body(main).arguments) for value in buffers):
        return
    if [value.type for value in buffers] != [argument.type for argument in arguments]:
        return
    old = [each for each in in_block(body(main)) if each.operation.name != "func.return"]
    if any(each.operation.name not in ("tile.run", "memref.extract_aligned_pointer_as_index") for each in old):
        return
    values: dict[Any, Any] = dict(zip(arguments, buffers, strict=True))
    with ir.InsertionPoint(run):
        for each in in_block(body(kernel)):
            if each.operation.name != "func.return":
                clone(each, values)
    for name, attribute in attributes_of(kernel).items():
        if name.startswith("tile.") and name not in main.attributes:
            main.attributes[name] = attribute
    if NOTE in inner.operation.attributes:
        module.operation.attributes[NOTE] = inner.operation.attributes[NOTE]
    for each in reversed(old):
        each.operation.erase()
    inner.operation.erase()
