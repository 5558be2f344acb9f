"""The precision of a schedule that is an emulation: `import` brings it about, and `select` knows of parts alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.errors import ScheduleError
from mlir_gemm.spec.emulation import EMULATED


def without_emulation(fields: Mapping[str, Any], stage: str) -> tuple[dict[str, Any], str]:
    """Schedule fields without a precision that is emulated, and that precision, empty where there is none. `stage` is
    the one after which the module was saved. Raises ScheduleError where it is too late."""
    precision = fields.get("precision", "")
    if precision not in EMULATED:
        return dict(fields), ""
    if stage:
        raise ScheduleError(
            f"precision={precision} divides elements into parts at stage 'import', and the module was saved after "
            f"'{stage}'; start from the source"
        )
    return {name: value for name, value in fields.items() if name != "precision"}, precision
