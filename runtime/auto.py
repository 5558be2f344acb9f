"""`device="auto"`: a GPU where there is one, else the simulator, with a note the first time, as on the command line."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mlir_gemm.runtime import device
from mlir_gemm.runtime.launcher import GpuLauncher
from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.launch import Launch

if TYPE_CHECKING:
    from mlir_gemm.runtime.simulated import SimulatorLauncher

_CALLERS = 4
"""From the warning to who called the kernel."""


def why_no_gpu() -> str:
    """Why this process has no GPU to run on; empty where it has one. Never raises."""
    try:
        count = device.device_count()
    except Exception as error:  # without a working driver there is no GPU, whatever is wrong with it
        return getattr(error, "message", str(error))
    return "" if count else "no GPU was found: the CUDA driver shows none to this process (see CUDA_VISIBLE_DEVICES)"


class AutoLauncher(GpuLauncher):
    """Calls what was compiled on a GPU, or on the simulator where the first call finds none. Nothing asks for a driver
    before."""

    def __init__(
        self,
        ptx: str,
        launch: Launch,
        whole: Launch,
        simulator: Callable[[], SimulatorLauncher],
        records: Sequence[KernelRecord] = (),
    ) -> None:
        super().__init__(ptx, launch, None, whole, records)
        self._make_simulator = simulator
        self._simulator: SimulatorLauncher | None = None
        self._decided = False

    @property
    def device(self) -> str:
        """What the kernel runs on; `auto` until a first call has decided."""
        return super().device if self._simulator is None else self._simulator.device

    def __call__(self, given: tuple[Any, ...], stream: Any) -> Any:
        """Checks, launches or simulates, and returns the results: None, an array, or a tuple of them."""
        if not self._decided:
            why = why_no_gpu()
            if why:
                _say(why)
                self._simulator = self._make_simulator()
            self._decided = True
        return super().__call__(given, stream) if self._simulator is None else self._simulator(given, stream)


@functools.cache  # once in a process, however many kernels there are
def _say(why: str) -> None:
    warnings.warn(
        f"{why}; with device='auto' kernels run on the simulator then, on the CPU: device='simulator' asks for that, "
        "device='gpu' for an error",
        RuntimeWarning,
        stacklevel=_CALLERS,
    )
