"""Launches that ask for more than a grid: that may start while what is before them on the stream still runs
(programmatic dependent launch), or of which all blocks run at the same time (cooperative launch)."""

from __future__ import annotations

from typing import Any

from mlir_gemm.spec.launch import Step

MOST_STREAMS = 64
"""Streams that a configuration is kept for; then all are forgotten."""


class Configurations(dict[int, Any]):
    """What `cuLaunchKernelEx` takes for one step, by the handle of the stream: made once, then only looked up."""

    def __init__(self, driver: Any, step: Step) -> None:
        super().__init__()
        self._driver = driver
        self._step = step

    @staticmethod
    def of(driver: Any, step: Step) -> Configurations | None:
        """Those of a step; None for one that an ordinary launch will do for."""
        return Configurations(driver, step) if step.dependent_launch or step.cooperative else None

    def __missing__(self, stream: int) -> Any:
        driver, step = self._driver, self._step
        attributes: list[Any] = []
        if step.dependent_launch:
            allowed = driver.CUlaunchAttribute()
            allowed.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            allowed.value.programmaticStreamSerializationAllowed = 1
            attributes.append(allowed)
        if step.cooperative:
            together = driver.CUlaunchAttribute()
            together.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            together.value.cooperative = 1
            attributes.append(together)
        made = driver.CUlaunchConfig()
        made.gridDimX, made.gridDimY, made.gridDimZ = step.grid
        made.blockDimX, made.blockDimY, made.blockDimZ = step.block
        made.sharedMemBytes = step.shared_bytes
        made.hStream = driver.CUstream(stream)
        made.attrs, made.numAttrs = attributes, len(attributes)
        if len(self) >= MOST_STREAMS:
            self.clear()
        self[stream] = made
        return made
