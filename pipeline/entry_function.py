"""The text of the one function that is compiled, of a module that has several, or operations of tosa."""

from __future__ import annotations

import re

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.locations import relabelled
from mlir_gemm.dialect.parse import COMPILER, parse_module, remember
from mlir_gemm.pipeline.runner import Runner
from mlir_gemm.spec.attributes import STAGE
from mlir_gemm.spec.passes import step

_SEVERAL = re.compile(r"\bfunc(?:\.func)?\s+(?:\w+\s+)?@|\bfunc\.call\b|\btosa\.|\bcall\s+@")

_COMMENT = re.compile(r"//[^\n]*")
_VIEW = re.compile(r"tensor\.cast .*: tensor<\?x\?x\d+x\w+> to tensor<\?x1x")


def one_function(source: str, filename: str, entry: str = "") -> str:
    """The module with the entry alone, and what it calls in its body; the source itself where it is that already.

    Raises InputError for a module with several entries, or without the one that is named.
    """
    found = _SEVERAL.findall(source)
    if len(found) > 1:
        found = _SEVERAL.findall(_COMMENT.sub("", source))  # a text that is rewritten loses the names of arguments
    if not entry and ((len(found) < 2 and not _VIEW.search(source)) or STAGE in source):
        return source
    with COMPILER, relabelled(filename):
        module = parse_module(source, filename, new_context())
        with module.context:
            options = {"entry": entry} if entry else {}
            Runner().run(module, [step("lower-tosa"), step("inline-calls", **options), step("flatten-open-views")])
            return remember(module.operation.get_asm(enable_debug_info=True))
