"""Which operations of the dialect have no effects on memory."""

from __future__ import annotations

from typing import Any

from mlir_gemm.dialect.bindings import ir

PURE = (
    "tile.position",
    "tile.windows",
    "tile.sparse",
    "tile.composite",
    "tile.planes",
    "tile.unit_id",
    "tile.clip",
    "tile.reduce",
    "tile.tensor_map",
    "tile.rank",
    "tile.consumer_id",
    "tile.advance",
    "tile.step_range",
)


class _Pure:
    """Memory effects of an operation that has none."""

    @staticmethod
    def get_effects(_op: Any, _effects: Any) -> None:
        return


def attach_effects(context: Any) -> None:
    """Tells `context`, which has the dialect, that these operations have none."""
    for name in PURE:
        ir.MemoryEffectsOpInterface.attach(name, target=_Pure, context=context)
