"""What `mlir-gemm info` says about the GPUs of the machine."""

from __future__ import annotations

from typing import Any

from mlir_gemm.runtime import device


def describe_devices() -> list[dict[str, Any]]:
    """One dict a GPU: ordinal, name, chip, memory_bytes, and driver (the newest CUDA version that the driver speaks).

    Empty where there is no GPU, no driver or no cuda-bindings. Never raises.
    """
    try:
        driver = device.find_driver()
        return [_describe(driver, ordinal) for ordinal in range(device.device_count())]
    except Exception:  # a report on the machine must not fail because of the machine
        return []


def _describe(driver: Any, ordinal: int) -> dict[str, Any]:
    handle = device.checked(driver, driver.cuDeviceGet(ordinal), f"opening cuda:{ordinal}")
    memory = device.checked(driver, driver.cuDeviceTotalMem(handle), "asking for a GPU's memory")
    version = device.checked(driver, driver.cuDriverGetVersion(), "asking for the driver's version")
    return {
        "ordinal": ordinal,
        "name": device.gpu_name(driver, ordinal),
        "chip": device.chip_of(driver, ordinal),
        "memory_bytes": int(memory),
        "driver": device.format_version(version),
    }
