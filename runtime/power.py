"""How much power a GPU may draw: a lower limit than the product's own lowers the clock that it holds under load."""

from __future__ import annotations

import importlib
from typing import Any


def power_share(driver: Any, handle: Any) -> float:
    """The GPU's power limit as a part of the product's default, by NVML; 0 where that is not known: without the package
    `nvidia-ml-py` (the extra `power`), or on a GPU without a limit. Never raises."""
    try:
        nvml: Any = importlib.import_module("pynvml")
        nvml.nvmlInit()
    except Exception:  # not installed, or no library of the driver's
        return 0.0
    try:
        # CUDA and NVML may number GPUs differently: both know them by where they are on the bus.
        status, place = driver.cuDeviceGetPCIBusId(32, handle)
        if int(status):
            return 0.0
        gpu = nvml.nvmlDeviceGetHandleByPciBusId(bytes(place).split(b"\0", 1)[0].decode())
        default = float(nvml.nvmlDeviceGetPowerManagementDefaultLimit(gpu))
        return float(nvml.nvmlDeviceGetEnforcedPowerLimit(gpu)) / default if default > 0 else 0.0
    except Exception:  # a GPU, or a driver, that does not tell
        return 0.0
    finally:
        nvml.nvmlShutdown()
