"""The machine that figures come from, and its state while they are taken: NVML, the library behind nvidia-smi."""

from __future__ import annotations

import ctypes
import platform
import statistics
from ctypes import byref, c_uint, c_ulonglong, c_void_p
from typing import Any

from mlir_gemm.version import __version__

_SM_CLOCK, _MEMORY_CLOCK, _CORE_TEMPERATURE = 1, 2, 0
_REASONS = {
    0x4: "power cap", 0x8: "hardware slowdown", 0x20: "thermal (software)", 0x40: "thermal (hardware)",
    0x80: "power brake",
}  # fmt: skip
"""Why the clock is held down, by the bits of nvmlClocksEventReasons that matter here."""
_COPY_BYTES = 1 << 30


class Monitor:
    """Clock, power and temperature of one GPU. Without NVML it knows nothing and says so by None."""

    def __init__(self, torch: Any) -> None:
        self._nvml, self._handle = _open(str(torch.cuda.get_device_properties(0).uuid))
        self._samples: list[dict[str, int]] = []

    def sample(self) -> None:
        """Notes the state of this moment."""
        if self._nvml is not None:
            self._samples.append(
                {
                    "sm_mhz": self._ask("nvmlDeviceGetClockInfo", _SM_CLOCK),
                    "power_mw": self._ask("nvmlDeviceGetPowerUsage"),
                    "temperature": self._ask("nvmlDeviceGetTemperature", _CORE_TEMPERATURE),
                    "reasons": self._reasons(),
                }
            )

    def summary(self) -> dict[str, Any] | None:
        """What was noted since the last time: least, median and largest clock (MHz) and power (W), the highest
        temperature (C), and what held the clock down."""
        samples, self._samples = self._samples, []
        if not samples:
            return None
        reasons = 0
        for each in samples:
            reasons |= each["reasons"]
        return {
            "sm_mhz": _range([each["sm_mhz"] for each in samples]),
            "power_w": _range([round(each["power_mw"] / 1e3) for each in samples]),
            "temperature": max(each["temperature"] for each in samples),
            "held_down_by": [name for bit, name in _REASONS.items() if reasons & bit],
            "samples": len(samples),
        }

    def limits(self) -> dict[str, Any]:
        """What does not change: the driver's version, the power limit and the highest clocks."""
        if self._nvml is None:
            return {"driver": None, "power_limit_w": None, "max_sm_mhz": None, "max_memory_mhz": None}
        text = ctypes.create_string_buffer(96)
        self._nvml.nvmlSystemGetDriverVersion(text, 96)
        return {
            "driver": text.value.decode(),
            "power_limit_w": round(self._ask("nvmlDeviceGetEnforcedPowerLimit") / 1e3),
            "max_sm_mhz": self._ask("nvmlDeviceGetMaxClockInfo", _SM_CLOCK),
            "max_memory_mhz": self._ask("nvmlDeviceGetMaxClockInfo", _MEMORY_CLOCK),
        }

    def _ask(self, function: str, *what: int) -> int:
        value = c_uint()
        status = getattr(self._nvml, function)(self._handle, *what, byref(value))
        return 0 if status else int(value.value)

    def _reasons(self) -> int:
        value = c_ulonglong()
        status = self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle, byref(value))
        return 0 if status else int(value.value)


def _range(values: list[int]) -> list[int]:
    return [min(values), round(statistics.median(values)), max(values)]


def _open(uuid: str) -> tuple[Any, c_void_p]:
    """NVML and the GPU that PyTorch uses: by its identity, since the two may number GPUs differently."""
    handle = c_void_p()
    try:
        nvml: Any = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None, handle
    name = uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
    failed = nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByUUID(name.encode(), byref(handle))
    return (None if failed else nvml), handle


def describe(torch: Any, monitor: Monitor, chip: str, lt_version: str | None) -> dict[str, Any]:
    """The machine as data: names, versions, limits, and the rate of a copy (read plus write) measured here."""
    properties = torch.cuda.get_device_properties(0)
    return {
        "device": properties.name,
        "chip": chip,
        "sms": properties.multi_processor_count,
        "memory_bytes": properties.total_memory,
        "l2_bytes": getattr(properties, "L2_cache_size", None),
        **monitor.limits(),
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "cublaslt": lt_version,
        "triton": _version("triton"),
        "python": platform.python_version(),
        "mlir_gemm": __version__,
        "copy_bytes_s": _copy_rate(torch),
    }


def _version(package: str) -> str | None:
    import importlib.metadata

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _copy_rate(torch: Any) -> float:
    """Bytes read and written in a second by a copy within the GPU's memory, the best of some."""
    source, target = (torch.ones(_COPY_BYTES, dtype=torch.int8, device="cuda") for _ in range(2))
    seconds: list[float] = []
    for _ in range(6):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        target.copy_(source)
        end.record()
        end.synchronize()
        seconds.append(start.elapsed_time(end) / 1e3)
    return 2 * _COPY_BYTES / min(seconds)


def described(machine: dict[str, Any]) -> list[str]:
    """What `describe` found, as a list in Markdown."""
    return [f"- {name}: {_shown(name, value)}" for name, value in machine.items() if value is not None]


def _shown(name: str, value: object) -> str:
    if isinstance(value, (int, float)) and name.endswith("bytes_s"):
        return f"{value / 1e12:.2f} TB/s"
    if isinstance(value, int) and name.endswith("bytes"):
        return f"{value / 2**20:.0f} MiB"
    return str(value)
