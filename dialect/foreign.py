"""Operations of other dialects that are read: torch-mlir's `tm_tensor.scatter`, in the generic form.

MLIR's parser knows no custom form of a dialect that is not there, but any operation in the generic form. Line numbers,
and columns up to the operation, stay the same, so that errors name places in the source.
"""

from __future__ import annotations

import re

SCATTER, YIELD = "tm_tensor.scatter", "tm_tensor.yield"
_SCATTER = re.compile(
    r"tm_tensor\.scatter\s*\{dimension_map\s*=\s*(array<i64:[\s\d,]*>)\}\s*unique_indices\((true|false)\)\s*"
    r"ins\((%[\w#]+),\s*(%[\w#]+)\s*:\s*(tensor<[^<>]*>),\s*(tensor<[^<>]*>)\)\s*"
    r"outs\((%[\w#]+)\s*:\s*(tensor<[^<>]*>)\)\s*\{(?P<body>[^{}]*)\}\s*->\s*(tensor<[^<>]*>)"
)
_YIELD = re.compile(r"tm_tensor\.yield\s+(%[\w#]+)\s*:\s*(\w+)")


def is_foreign(text: str) -> bool:
    """Whether a text has such operations."""
    return SCATTER in text


def in_generic_form(text: str) -> str:
    """The text with those operations as MLIR reads them without their dialect."""
    return _SCATTER.sub(_scatter, text)


def _scatter(found: re.Match[str]) -> str:
    dimensions, unique, updates, indices, updates_type, indices_type, original, type_, inner, result = found.groups()
    inner = _YIELD.sub(r'"tm_tensor.yield"(\1) : (\2) -> ()', inner)
    return (
        f'"tm_tensor.scatter"({updates}, {indices}, {original}) ({{{inner}}}) '
        f"{{dimension_map = {dimensions}, unique_indices = {unique}}} : "
        f"({updates_type}, {indices_type}, {type_}) -> {result}"
    )
