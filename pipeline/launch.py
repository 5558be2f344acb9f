"""How a compiled kernel is launched: the same information for the Python runtime and, as JSON, for any other caller."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Argument:
    """One argument of the source function, or one of its tensor results (which follow the arguments, in order)."""

    name: str
    """The name in the source (`%A` gives `A`) where the IR keeps it, else `arg0`, ...; `result0`, ... for results."""
    shape: tuple[int, ...]
    """Sizes in elements; the memory is row-major and dense."""
    dtype: str
    """Element type by its MLIR name: f16, f32."""
    role: str
    """`in` (only read), `out` (written whole, not read), `inout`, or `result` (an `out` that the runtime makes)."""


@dataclass(frozen=True)
class Launch:
    """Everything that a launch of the kernel needs besides its code."""

    entry: str
    """Name of the entry in the PTX."""
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: int
    """Dynamic shared memory to ask for at launch; 0 when all of it is declared statically."""
    arguments: tuple[Argument, ...]
    """The function's arguments in order, then its results."""
    parameters: tuple[int, ...]
    """The kernel's parameters in order, each an index into `arguments`; every parameter is a device pointer that must
    be aligned to 16 bytes."""

    def to_json(self) -> dict[str, Any]:
        """The same as plain data, for `--launch-info`."""
        return dataclasses.asdict(self)
