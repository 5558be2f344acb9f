"""Back ends as data: what follows `lower`, which makes code for the GPUs of a vendor or for a standard of several.

Up to `lower` every kernel goes through the same stages. A chip's row in the table says which back end finishes it
(`Target.backend`); nothing else tells vendors apart.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Backend:
    """The last stages, and the code that they make."""

    name: str
    slots: dict[str, tuple[str, ...]]
    """Its stages after `lower`, in order, with their slots. The last one has none: its output is the code."""
    code: str
    """What the code is called."""
    is_text: bool
    """Whether the code is text; else it is binary."""
    extension: str
    """Of a file that holds the code."""

    @property
    def last(self) -> str:
        """The stage whose output is the code."""
        return tuple(self.slots)[-1]

    @property
    def converted(self) -> str:
        """The last stage whose output is IR."""
        return tuple(self.slots)[-2]


BACKENDS: dict[str, Backend] = {
    each.name: each
    for each in (
        Backend("nvptx", {"nvvm": ("math", "convert", "maps"), "ptx": ()}, "PTX", True, ".ptx"),
        Backend(
            "spirv",
            {"spirv": ("interface", "memory", "registers", "math", "convert"), "spv": ()},
            "SPIR-V", False, ".spv",
        ),
        Backend("rocdl", {"rocdl": ("math", "memory", "control", "convert"), "isa": ()}, "AMDGPU assembly", True, ".s"),
    )
}  # fmt: skip
"""By name."""
NVPTX = "nvptx"
"""The back end of chips whose rows name none."""
