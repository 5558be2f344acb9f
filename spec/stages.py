"""The stages of every kernel, in order, and the slots of each: named places at which a part puts its passes.

Inside a stage the passes run slot by slot; inside a slot in the order in which they were put there. What follows
`lower` is the back end's (`spec/backends.py`).
"""

from __future__ import annotations

from mlir_gemm.spec.backends import BACKENDS, NVPTX

COMMON_SLOTS: dict[str, tuple[str, ...]] = {
    "import": ("normalise", "form"),
    "select": ("pin", "precision", "relayout", "split_k_workspace", "swap_ab", "schedule"),
    "tile": ("loops", "sizes", "tile", "padding"),
    "fuse": ("fuse",),
    "promote": ("promote",),
    "tensorize": ("tensorize",),
    "accumulate": ("accumulate", "initialise", "clean"),
    "pipeline": ("buffers", "mainloop", "clean"),
    "parallelize": ("blocks", "raster", "scheduler", "cluster"),
    "distribute": ("split_k_cluster", "units", "reduce", "clean"),
    "describe": ("store", "maps", "l2"),
    "launch": ("launch", "outline", "cluster", "registers"),
    "lower": (
        "layouts", "unroll", "mma", "copies", "roles", "memory", "swizzle", "types", "epilogue", "clean", "positions",
        "check",
    ),
}  # fmt: skip
"""The stages that all back ends share."""

SLOTS: dict[str, tuple[str, ...]] = {**COMMON_SLOTS, **BACKENDS[NVPTX].slots}
"""The slots of each stage on NVIDIA's GPUs."""

STAGES = tuple(SLOTS)
"""All stages in order on NVIDIA's GPUs."""

ALL_SLOTS: dict[str, tuple[str, ...]] = {
    **COMMON_SLOTS,
    **{stage: slots for each in BACKENDS.values() for stage, slots in each.slots.items()},
}
"""The slots of the stages of all back ends."""

ALL_STAGES = tuple(ALL_SLOTS)
"""The stages of all back ends: first those that they share."""


def stages_of(backend: str) -> tuple[str, ...]:
    """All stages in order of a back end. Raises KeyError for a name that is none's."""
    return (*COMMON_SLOTS, *BACKENDS[backend].slots)


_PLACES = {stage: place for name in BACKENDS for place, stage in enumerate(stages_of(name))}


def place_of(stage: str) -> int:
    """How many stages come before one, in its back end. Raises KeyError for a name that is no stage's."""
    return _PLACES[stage]


def is_after(stage: str, other: str) -> bool:
    """Whether a stage is `other` or a later one; those of one back end are no later than those of another."""
    return _PLACES[stage] >= _PLACES[other]
