"""OpenCL devices: what they can do, through the package `pyopencl`.

Nothing here is touched before a kernel is to run on OpenCL.
"""

from __future__ import annotations

import functools
import importlib
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.errors import DeviceError

PACKAGE = "pyopencl"
_INSTALL = "pip install 'mlir-gemm[opencl]', and an OpenCL driver that takes SPIR-V"
_CAPABILITIES = {
    4: ("Addresses", ""), 5: ("Linkage", ""), 6: ("Kernel", ""), 8: ("Float16Buffer", ""),
    9: ("Float16", "cl_khr_fp16"), 10: ("Float64", "cl_khr_fp64"), 11: ("Int64", ""), 22: ("Int16", ""),
    39: ("Int8", ""),
}  # fmt: skip
"""Capabilities by their numbers in SPIR-V: the name, and the extension that OpenCL ties them to ("OpenCL SPIR-V
Environment Specification", required and optional capabilities)."""
_LONG = "cles_khr_int64"
"""What an embedded profile needs for integers of 64 bits."""


@functools.cache
def api() -> Any:
    """The package. Raises DeviceError where it is not installed."""
    try:
        return importlib.import_module(PACKAGE)
    except (ImportError, OSError) as error:
        raise DeviceError(f"device='opencl' needs the package '{PACKAGE}': {error}; {_INSTALL}") from None


@dataclass(frozen=True)
class Limits:
    """What a device allows: the names are CL_DEVICE_... of OpenCL in small letters. Sizes in bytes."""

    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]
    local_mem_size: int
    max_mem_alloc_size: int
    global_mem_size: int
    max_parameter_size: int
    address_bits: int
    single_fp_config: int
    il_version: str = ""
    """The versions of SPIR-V that it takes, such as `SPIR-V_1.0 SPIR-V_1.2`; empty for none."""
    profile: str = "FULL_PROFILE"


@dataclass
class OpenclDevice:
    """A device with a queue."""

    name: str
    number: int
    platform: str
    limits: Limits
    extensions: frozenset[str]
    context: Any = field(repr=False)
    queue: Any = field(repr=False)
    handle: Any = field(repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __str__(self) -> str:
        return f"opencl:{self.number} ({self.name}, {self.platform})"

    def missing(self, version: tuple[int, int], capabilities: Sequence[int]) -> list[str]:
        """What a module of SPIR-V needs that the device lacks, by its name in OpenCL's documentation."""
        found: list[str] = []
        taken = [tuple(map(int, each)) for each in re.findall(r"SPIR-V_(\d+)\.(\d+)", self.limits.il_version)]
        if not taken:
            found.append("the extension cl_khr_il_program: CL_DEVICE_IL_VERSION is empty, it takes no SPIR-V")
        elif max(taken) < version:
            found.append(f"SPIR-V {version[0]}.{version[1]}: CL_DEVICE_IL_VERSION is {self.limits.il_version}")
        if self.limits.address_bits != 64:
            found.append(f"addresses of 64 bits: CL_DEVICE_ADDRESS_BITS is {self.limits.address_bits}")
        for each in capabilities:
            name, extension = _CAPABILITIES.get(each, (str(each), "")) if each in _CAPABILITIES else (str(each), None)
            if extension is None:
                found.append(f"the capability {name}")
            elif extension and extension not in self.extensions:
                found.append(f"the extension {extension}")
            elif name == "Int64" and self.limits.profile != "FULL_PROFILE" and _LONG not in self.extensions:
                found.append(f"the extension {_LONG}")
        return found


def devices() -> list[Any]:
    """All OpenCL devices, platform by platform. Raises DeviceError where there is no OpenCL; empty for no devices."""
    cl = api()
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        raise DeviceError(f"no OpenCL platform (clGetPlatformIDs): {said(error)}; {_INSTALL}") from None
    found: list[Any] = []
    for platform in platforms:
        try:
            found += platform.get_devices()
        except cl.Error:
            continue  # a platform without devices
    return found


def device_names() -> list[str]:
    """The names of all OpenCL devices with those of their platforms, in order: `opencl:0` is the first."""
    return [f"{each.name.strip()}, {each.platform.name.strip()}" for each in devices()]


def number_of(name: str) -> int:
    """The number of the first device in whose name, or its platform's, these letters stand. Raises DeviceError where
    there is none."""
    names = device_names()
    for number, each in enumerate(names):
        if name.lower() in each.lower():
            return number
    raise DeviceError(f"there is no OpenCL device '{name}'; found: {_known(names)}; {_INSTALL}")


@functools.cache
def open_device(number: int = 0) -> OpenclDevice:
    """Opens an OpenCL device by its number, as `clinfo -l` counts from 0 through all platforms. Raises DeviceError
    where there is none."""
    cl, found = api(), devices()
    if number >= len(found):
        raise DeviceError(f"there is no OpenCL device {number}; found: {_known(device_names())}; {_INSTALL}")
    device = found[number]
    name, platform = device.name.strip(), device.platform.name.strip()
    try:
        context = cl.Context([device])
        queue = cl.CommandQueue(context, device)
    except cl.Error as error:
        raise DeviceError(f"opencl:{number} ({name}, {platform}) does not open: {said(error)}") from None
    limits = Limits(
        int(device.max_work_group_size), tuple(map(int, device.max_work_item_sizes)), int(device.local_mem_size),
        int(device.max_mem_alloc_size), int(device.global_mem_size), int(device.max_parameter_size),
        int(device.address_bits), int(device.single_fp_config), _il_version(device), str(device.profile),
    )  # fmt: skip
    extensions = frozenset(device.extensions.split())
    return OpenclDevice(name, number, platform, limits, extensions, context, queue, device)


def _il_version(device: Any) -> str:
    cl = api()
    try:
        return str(device.il_version)
    except (cl.Error, AttributeError):  # a device of OpenCL before 2.1 need not know the question
        return ""


def _known(names: Sequence[str]) -> str:
    return "; ".join(f"opencl:{number} ({name})" for number, name in enumerate(names)) or "none"


def said(error: Exception) -> str:
    """The first line of an error of OpenCL's."""
    text = str(error).splitlines()
    return text[0] if text else type(error).__name__
