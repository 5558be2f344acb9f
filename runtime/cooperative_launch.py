"""Launches of which all blocks are on the GPU at the same time, because some wait for others."""

from __future__ import annotations

import math
from typing import Any

from mlir_gemm.errors import DeviceError
from mlir_gemm.runtime.status import checked
from mlir_gemm.spec.launch import Step


def check_together(driver: Any, ordinal: int, function: Any, step: Step) -> None:
    """Raises DeviceError where the blocks of a step do not all fit on a GPU at once, as the driver counts them for a
    kernel that is loaded, or where the GPU has no cooperative launches. A launch asks the driver again: where other
    work holds a part of the GPU for good (MPS), it fails, and no block waits."""
    names = driver.CUdevice_attribute
    handle = checked(driver, driver.cuDeviceGet(ordinal), f"opening cuda:{ordinal}")
    can, sms = (
        int(checked(driver, driver.cuDeviceGetAttribute(each, handle), "asking for cooperative launches"))
        for each in (names.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, names.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    )
    threads, blocks = math.prod(map(int, step.block)), math.prod(map(int, step.grid))
    asked = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, threads, step.shared_bytes)
    each = int(checked(driver, asked, f"asking how many blocks of '{step.entry}' an SM takes"))
    if can and blocks <= each * sms:
        return
    why = f"{each * sms} fit at once: {each} on each of {sms} SMs" if can else "it has no cooperative launches"
    raise DeviceError(
        f"'{step.entry}' has {blocks} blocks that wait for each other, and cuda:{ordinal} cannot run them: {why} "
        f"({threads} threads and {step.shared_bytes} bytes of shared memory a block); compile for this GPU "
        "(chip='auto'), or fix tile.rows with fewer blocks in grid"
    )
