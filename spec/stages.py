"""The stages of every kernel, in order, and the slots of each: named places at which a part puts its passes.

Inside a stage the passes run slot by slot; inside a slot in the order in which they were put there.
"""

from __future__ import annotations

SLOTS: dict[str, tuple[str, ...]] = {
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
    "nvvm": ("math", "convert", "maps"),
    "ptx": (),
}  # fmt: skip
"""The slots of each stage."""

STAGES = tuple(SLOTS)
"""All stages in order."""


def is_after(stage: str, other: str) -> bool:
    """Whether a stage is `other` or a later one."""
    return STAGES.index(stage) >= STAGES.index(other)
