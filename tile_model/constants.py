"""The fitted constants of a chip's costs by name, such as `wgmma.row`: a chip's name may give others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mlir_gemm.parts.mma.wgmma.constants import WgmmaConstants
from mlir_gemm.parts.warp_level.constants import FragmentConstants, LaneConstants
from mlir_gemm.spec.target import Target

FAMILIES: dict[str, Any] = {each.FAMILY: each for each in (WgmmaConstants, LaneConstants, FragmentConstants)}
"""The classes of constants by the word that names them: of `wgmma`; of `mma_sync`, `simt` and their kin; of `wmma`."""
MOST = 20.0
"""How many times the row's value a constant may be given, or what part of it."""


def constants_of(target: Target) -> dict[str, float]:
    """The constants of a chip that a name may give: those that are one number, and not 0."""
    found: dict[str, float] = {}
    for family, cls in FAMILIES.items():
        values: dict[str, Any] = dataclasses.asdict(target.constants(cls))
        found |= {
            f"{family}.{name}": value for name, value in values.items() if isinstance(value, (int, float)) and value
        }
    return found


def with_constants(target: Target, values: Mapping[str, float]) -> Target:
    """The chip with other constants, by the names of `constants_of`."""
    fitted = list(target.fitted)
    for place, each in enumerate(fitted):
        families = [family for family, cls in FAMILIES.items() if type(each) is cls]
        own = {name.partition(".")[2]: value for name, value in values.items() if name.partition(".")[0] in families}
        fitted[place] = replace(each, **own) if own else each
    return replace(target, fitted=tuple(fitted))
