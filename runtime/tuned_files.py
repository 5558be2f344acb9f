"""Where the schedules lie that `mlir-gemm tune` has found, and for which GPU they are asked."""

from __future__ import annotations

import functools
from pathlib import Path

from mlir_gemm.errors import InputError
from mlir_gemm.runtime import device
from mlir_gemm.runtime.user_files import OFF, data_file
from mlir_gemm.tile_model.tuned import Database

VARIABLE = "MLIR_GEMM_TUNED"


def default_path() -> Path | None:
    """The file of this user: what the variable says, else `tuned.json` in the platform's folder for data; None where
    it is turned off or there is no home."""
    return data_file(VARIABLE, "tuned.json")


def database(tuned: str = "") -> Database | None:
    """The schedules to use: those of a file, none for `off`, or the user's own for an empty text, if there are any.
    Raises InputError for a file that does not exist."""
    if tuned.strip().lower() == OFF:
        return None
    path = Path(tuned) if tuned else default_path()
    if path is None or (not tuned and not path.exists()):
        return None
    if not path.is_file():
        raise InputError(f"there is no file of tuned schedules '{path}'; mlir-gemm tune writes one")
    return Database(str(path), *this_gpu())


@functools.cache
def this_gpu(ordinal: int = 0) -> tuple[str, str]:
    """Chip and name of a GPU of this machine, such as `sm_90a` and `NVIDIA H200`; empty texts where there is none.
    Never raises."""
    try:
        driver = device.find_driver()
        return device.chip_of(driver, ordinal), device.gpu_name(driver, ordinal)
    except Exception:  # whatever is wrong with the driver is reported at the first call
        return "", ""
