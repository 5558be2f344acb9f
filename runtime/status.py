"""The status that a call of the CUDA driver returns."""

from __future__ import annotations

from typing import Any

from mlir_gemm.errors import DeviceError


def checked(driver: Any, result: tuple[Any, ...], doing: str) -> Any:
    """What a call of the driver returned, without its status. Raises DeviceError with the driver's error name."""
    status, *values = result
    if int(status):
        raise DeviceError(f"{doing} failed: {name_of(driver, status)}")
    return values[0] if len(values) == 1 else tuple(values)


def name_of(driver: Any, status: Any) -> str:
    """The driver's name for an error, and its explanation where there is one."""
    name, text = (ask(status)[1] for ask in (driver.cuGetErrorName, driver.cuGetErrorString))
    if not name:
        return f"CUDA error {int(status)}"
    return f"{name.decode()} ({text.decode()})" if text else name.decode()
