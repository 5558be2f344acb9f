"""Arrays of other libraries, seen as memory: where it is, its shape, type and strides, and who may write it.

No library is imported here. An array of PyTorch can only exist where PyTorch has been imported, so `sys.modules` is
asked; the same goes for CuPy and NumPy. Everything else speaks DLPack or `__cuda_array_interface__`.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any

from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime import dlpack
from mlir_gemm.runtime.device import LEGACY_STREAM
from mlir_gemm.spec.element_types import BY_NAME, ITEM_BYTES, NAMES, Derived

_TYPES = Derived(lambda rows: {row.type_string: row.name for row in rows if row.type_string})
_DLPACK_CUDA = (2, 13)
"""DLPack's numbers for CUDA memory and CUDA managed memory (dlpack.h, DLDeviceType)."""
_NEVER = types.SimpleNamespace(_current_level=-1)
_IMMUTABLE = ("jax", "jaxlib")
"""Libraries whose arrays must not be written, whatever their interface says."""


@dataclass(frozen=True, slots=True)
class View:
    """The memory of one argument."""

    library: str
    """`torch`, `cupy`, `numpy`, or `other` for what came through a protocol."""
    pointer: int
    shape: tuple[int, ...]
    dtype: str
    """By MLIR's name, or as its library calls it when MLIR has no name for it."""
    strides: tuple[float, ...] | None
    """In elements (a fraction where the bytes do not divide); None for dense row-major memory."""
    ordinal: int | None
    """The GPU that holds it; None for memory of the host."""
    writable: bool
    stream: int | None
    """The stream that its library works on, or that it came with."""
    owner: Any
    """What must live until the kernel is launched."""


def library_of(array: Any) -> str | None:
    """Which reader below understands `array`; None when none does."""
    for name, kind in (("torch", "Tensor"), ("numpy", "ndarray"), ("cupy", "ndarray")):
        module = sys.modules.get(name)
        if module is not None and isinstance(array, getattr(module, kind, ())):
            return name
    if hasattr(array, "__dlpack__") or hasattr(array, "__cuda_array_interface__"):
        return "other"
    return None


def current_stream(library: str, ordinal: int) -> int | None:
    """The stream on which the caller's library is working on that GPU; None for a library that has no such notion."""
    module: Any = sys.modules.get(library)
    if library == "torch":
        return int(module.cuda.current_stream(ordinal).cuda_stream)
    if library == "cupy":
        return int(module.cuda.get_current_stream(ordinal).ptr)
    return None


def ordinal_of(array: Any, library: str, gpu_of: Any) -> int | None:
    """The GPU that holds `array`; None for memory of the host. `gpu_of` answers that for an address."""
    if library == "numpy":
        return None
    if library == "torch":
        return array.get_device() if array.is_cuda else None
    if library == "cupy":
        return array.device.id
    if hasattr(array, "__dlpack_device__"):
        kind, ordinal = array.__dlpack_device__()
        return int(ordinal) if int(kind) in _DLPACK_CUDA else None
    return gpu_of(array.__cuda_array_interface__["data"][0])


def view(array: Any, library: str, ordinal: int | None, stream: int) -> View:
    """Reads an array that `library_of` and `ordinal_of` have placed. `stream` is where the kernel will run."""
    if library == "torch":
        return _view_torch(array, ordinal)
    if library in ("numpy", "cupy"):
        return _view_numpy(array, library, ordinal)
    if hasattr(array, "__dlpack__") and ordinal is not None:
        return _view_dlpack(array, ordinal, stream)
    if hasattr(array, "__cuda_array_interface__"):
        return _view_interface(array, ordinal)
    return View("other", 0, (), "", None, None, False, None, array)  # DLPack of the host: refused for its place


def check_torch(tensor: Any) -> None:
    """Raises ArgumentError for a tensor whose memory does not hold its values in order, and for one that needs a
    gradient."""
    if str(tensor.layout) != "torch.strided":
        raise ArgumentError(f"a tensor with layout {tensor.layout} given; the kernel takes dense memory")
    if tensor.is_neg() or tensor.is_conj():
        raise ArgumentError("a tensor with a pending negation or conjugate given; resolve it with .clone()")
    if is_differentiated(tensor, sys.modules["torch"]):
        raise ArgumentError(
            "it needs a gradient, and the kernel has no derivative: its result would have no history, and the gradient "
            "would be lost. Call the kernel under torch.no_grad(), pass .detach(), or write a torch.autograd.Function "
            "that calls it in forward and has a backward"
        )


def torch_dtype(torch: Any, dtype: str) -> Any:
    """PyTorch's type for elements of an MLIR type. Raises ArgumentError where it has none."""
    if not torch_has(torch, dtype):
        raise ArgumentError(
            f"PyTorch {torch.__version__} has no type {NAMES[dtype]} for a result; pass no tensor first, but an array "
            "of NumPy, or one on the GPU with DLPack"
        )
    return getattr(torch, NAMES[dtype])


def torch_has(torch: Any, dtype: str) -> bool:
    """Whether PyTorch has tensors of these elements; of some 8-bit floats that can be registered it has none."""
    return hasattr(torch, NAMES[dtype])


def is_differentiated(tensor: Any, torch: Any) -> bool:
    """Whether PyTorch records what is done to a tensor: for a gradient, or as a tangent in forward mode."""
    if tensor.requires_grad and torch.is_grad_enabled():
        return True
    forward = forward_mode(torch)
    return forward._current_level >= 0 and forward.unpack_dual(tensor).tangent is not None


def forward_mode(torch: Any) -> Any:
    """The object whose `_current_level` tells whether tensors may carry tangents now: they may not if it is
    negative."""
    forward: Any = torch.autograd.forward_ad
    return forward if hasattr(forward, "_current_level") else _NEVER


def _view_torch(tensor: Any, ordinal: int | None) -> View:
    name = str(tensor.dtype).removeprefix("torch.")
    check_torch(tensor)
    try:
        pointer = tensor.data_ptr()
    except Exception as problem:
        raise ArgumentError(f"a {type(tensor).__name__} without memory of its own given ({problem})") from None
    return View(
        library="torch",
        pointer=pointer,
        shape=tuple(tensor.shape),
        dtype=BY_NAME.get(name, name),
        strides=tuple(tensor.stride()),
        ordinal=ordinal,
        writable=True,
        stream=None if ordinal is None else current_stream("torch", ordinal),
        owner=tensor,
    )


def _view_numpy(array: Any, library: str, ordinal: int | None) -> View:
    """NumPy and CuPy, which differ in where the pointer stands."""
    if hasattr(array, "mask"):
        raise ArgumentError("an array with a mask given; the kernel takes plain memory")
    name: str = array.dtype.name if array.dtype.isnative else f"{array.dtype.name} with swapped bytes"
    on_host = library == "numpy"
    return View(
        library=library,
        pointer=array.ctypes.data if on_host else array.data.ptr,
        shape=tuple(array.shape),
        dtype=BY_NAME.get(name, name),
        strides=_elements(array.strides, array.dtype.itemsize),
        ordinal=ordinal,
        writable=array.flags.writeable if on_host else True,
        stream=None if on_host or ordinal is None else current_stream("cupy", ordinal),
        owner=array,
    )


def _view_dlpack(array: Any, ordinal: int, stream: int) -> View:
    memory = dlpack.read(array, stream or LEGACY_STREAM)
    return View(
        library="other",
        pointer=memory.pointer,
        shape=memory.shape,
        dtype=memory.dtype,
        strides=memory.strides,
        ordinal=ordinal,
        writable=not memory.readonly and type(array).__module__.partition(".")[0] not in _IMMUTABLE,
        stream=None,  # the exchange has ordered the streams
        owner=(array, memory),
    )


def _view_interface(array: Any, ordinal: int | None) -> View:
    """Numba's protocol, version 3: strides in bytes, `stream` what a consumer must wait for."""
    interface = array.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise ArgumentError("an array with a mask given; the kernel takes plain memory")
    text: str = interface["typestr"]
    dtype = _TYPES.get(text, text)
    strides = interface.get("strides")
    pointer, readonly = interface["data"]
    return View(
        library="other",
        pointer=pointer,
        shape=tuple(interface["shape"]),
        dtype=dtype,
        strides=None if strides is None else _elements(strides, ITEM_BYTES.get(dtype, 1)),
        ordinal=ordinal,
        writable=not readonly,
        stream=interface.get("stream"),
        owner=array,
    )


def _elements(strides: tuple[int, ...], item: int) -> tuple[float, ...]:
    return tuple(stride // item if stride % item == 0 else stride / item for stride in strides)
