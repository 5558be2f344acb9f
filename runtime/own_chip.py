"""Which chip the GPU of this machine is: what the user measured of it (`mlir-gemm probe`), else the row of the table
that its driver's answers fit."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from mlir_gemm.errors import Error
from mlir_gemm.runtime import device
from mlir_gemm.runtime.power import power_share
from mlir_gemm.runtime.status import checked
from mlir_gemm.runtime.user_files import data_file
from mlir_gemm.tile_model.chips import chip_name
from mlir_gemm.tile_model.recognise import Recognised, recognise

FALLBACK_CHIP = "sm_80"
"""Where no GPU is found: PTX for it runs on every later chip."""
VARIABLE = "MLIR_GEMM_CHIPS"
"""Names the file of what was measured, in the place of that in the user's folder for data; `off` for none."""
FORMAT = 1
_ASKED = {
    "sms": ("MULTIPROCESSOR_COUNT", 1.0),
    "clock": ("CLOCK_RATE", 1e-6),
    "l2": ("L2_CACHE_SIZE", 1 / (1 << 20)),
}
"""What the driver is asked, and the unit of its answer."""
_MEMORY = ("MEMORY_CLOCK_RATE", "GLOBAL_MEMORY_BUS_WIDTH")


def default_chip(ordinal: int = 0) -> str:
    """The chip of the GPU with that number, such as `sm_90a`; `sm_80` where there is none. Never raises."""
    return own_chip(ordinal).chip


def own_chip(ordinal: int = 0) -> Recognised:
    """The same, and why. Never raises."""
    try:
        return _of_gpu(device.find_driver(), ordinal)
    except Exception as problem:  # whatever is wrong with the driver is reported at the first call, not here
        first = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        return Recognised(FALLBACK_CHIP, first.removeprefix("error: "))


@functools.cache
def _of_gpu(driver: Any, ordinal: int) -> Recognised:
    arch = device.chip_of(driver, ordinal)
    handle = checked(driver, driver.cuDeviceGet(ordinal), f"opening cuda:{ordinal}")
    name = device.gpu_name(driver, ordinal)
    chips, faults = _table()
    found = chips.get(name)
    if found and found.partition(":")[0] == arch:
        return Recognised(found, f"measured on {name} by mlir-gemm probe ({table_path()})")
    if found:
        faults[name] = f"is {found}, and this GPU is {arch}"
    other = recognise(name, arch, _asked(driver, handle))
    for place, which in ((name, f"its entry in {table_path()}"), ("", str(table_path()))):
        if place in faults:
            return other._replace(why=f"{other.why}; {which} {faults[place]}: measure again with mlir-gemm probe")
    return other


def _asked(driver: Any, handle: Any) -> dict[str, float]:
    """What the driver says of a GPU, as far as it does."""
    found = {figure: _attribute(driver, handle, name) * unit for figure, (name, unit) in _ASKED.items()}
    clock, bits = (_attribute(driver, handle, name) for name in _MEMORY)
    found["power"] = power_share(driver, handle)
    found["dram"] = 2 * clock * 1e3 * bits / 8 / 1e12  # kHz; memory moves data on both edges of its clock
    return {figure: value for figure, value in found.items() if value > 0}


def _attribute(driver: Any, handle: Any, name: str) -> float:
    """An attribute of a GPU, 0 where the driver does not tell it."""
    number = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}", None)
    if number is None:
        return 0.0
    status, value = driver.cuDeviceGetAttribute(number, handle)
    return 0.0 if int(status) else float(value)


def table_path() -> Path | None:
    """The file with what was measured of the user's GPUs; None where it is turned off, or there is no home."""
    return data_file(VARIABLE, "chips.json")


def measured() -> dict[str, str]:
    """Chips by the driver's names of GPUs, as `mlir-gemm probe` left them; none where the file is not there or cannot
    be read. Entries that are no chips are left out."""
    return _table()[0]


def _table() -> tuple[dict[str, str], dict[str, str]]:
    """The same, and what is wrong: by the names of GPUs, under no name of the whole file."""
    path = table_path()
    if path and path.exists() and not path.is_file():
        return {}, {"": "is no file"}
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8")) if path else {"format": FORMAT, "gpus": {}}
    except FileNotFoundError:
        return {}, {}
    except (OSError, ValueError, RecursionError) as problem:
        return {}, {"": f"cannot be read: {problem}"}
    try:
        gpus: dict[str, Any] = dict(content["gpus"]) if content["format"] == FORMAT else {}
        wrong = content["format"] != FORMAT
    except (LookupError, TypeError, ValueError):
        gpus, wrong = {}, True
    if wrong:
        return {}, {"": f"is no table of chips of format {FORMAT}"}
    chips: dict[str, str] = {}
    faults: dict[str, str] = {}
    for name, entry in gpus.items():
        try:
            chip: Any = entry["chip"]
        except (LookupError, TypeError):
            chip = None
        if isinstance(chip, str) and _is_chip(chip):
            chips[name] = chip
        else:
            faults[name] = f"has no chip that this version knows: {chip}" if chip else "has no chip"
    return chips, faults


def _is_chip(chip: str) -> bool:
    try:
        return chip_name(chip) == chip
    except Error:
        return False
