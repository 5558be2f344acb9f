"""Values that have been through JSON."""

from __future__ import annotations

from typing import Any, cast


def as_tuples(value: Any) -> Any:
    """JSON has lists where the dataclasses have tuples."""
    if isinstance(value, list | tuple):
        return tuple(as_tuples(item) for item in cast("list[Any]", value))
    if isinstance(value, dict):
        return {name: as_tuples(item) for name, item in cast("dict[str, Any]", value).items()}
    return value
