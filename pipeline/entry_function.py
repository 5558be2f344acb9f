"""What a source computes, as the text of one function. Results are compared with it, also where the source has several
functions or operations of tosa."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.locations import relabelled
from mlir_gemm.dialect.parse import COMPILER, parse_module, remember
from mlir_gemm.pipeline.importing import entry_passes
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.spec.attributes import STAGE


def one_function(source: str, filename: str, entry: str = "") -> str:
    """The module with the entry alone, and what it calls in its body; the source itself where it is that already, or
    was saved after a stage.

    Raises InputError for a module with several entries, or without the one that is named.
    """
    if STAGE in source:
        return source
    with COMPILER, relabelled(filename):
        module = parse_module(source, filename, new_context())
        with module.context:
            before = _without_data(module)
            Runner().run(module, entry_passes(entry))
            if _without_data(module) == before:
                return source
            return remember(module.operation.get_asm(enable_debug_info=True))


def _without_data(module: Any) -> str:
    """Its text, without that of large constants."""
    return module.operation.get_asm(large_elements_limit=1)
