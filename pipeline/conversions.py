"""The passes after `lower`, the same for every kind of kernel: those of the target's back end, up to its last IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from mlir_gemm.spec.passes import PassSpec, Placed, at, step, upstream
from mlir_gemm.spec.target import Target


def converted(target: Target, features: str = "") -> Iterator[Placed]:
    """The passes of a back end's stages. `features` are LLVM's, where a part asks for others than the chip's row."""
    return _CONVERSIONS[target.backend](target, features)


def _nvptx(target: Target, features: str) -> Iterator[Placed]:
    yield at("nvvm", "math", step("select-math"))
    yield at("nvvm", "convert", conversions(target, features))


def conversions(target: Target, features: str = "") -> PassSpec:
    """Upstream's conversions to NVVM. With 64-bit indices LLVM splits constants off addresses, so that accesses at
    constant distances share one address register; with 32 bits it keeps one for each (docs/history/performance.md)."""
    features = features or target.features
    given = f" features={features}" if features else ""
    return upstream(
        f"nvvm-attach-target{{chip={target.arch} O=3{given}}},"
        "gpu.module(expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-nvgpu-to-nvvm,"
        "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=1 index-bitwidth=64},convert-nvvm-to-llvm,"
        "canonicalize,cse,reconcile-unrealized-casts)"
    )


def _rocdl(target: Target, _: str) -> Iterator[Placed]:
    yield at("rocdl", "math", step("select-math", chips="amdgcn"))
    yield at("rocdl", "memory", step("local-barriers"), step("buffer-accesses"))
    yield at("rocdl", "control", step("trap-asserts"))
    yield at("rocdl", "convert", _to_rocdl(target))


def _to_rocdl(target: Target) -> PassSpec:
    """Upstream's conversions to ROCDL."""
    return upstream(
        f"rocdl-attach-target{{chip={target.arch} O=3}},"
        "gpu.module(expand-strided-metadata,lower-affine,convert-scf-to-cf,"
        f"convert-amdgpu-to-rocdl{{chipset={target.arch}}},"
        f"convert-gpu-to-rocdl{{chipset={target.arch} runtime=HIP use-bare-ptr-memref-call-conv=1 index-bitwidth=64}},"
        "canonicalize,cse,reconcile-unrealized-casts)"
    )


def _spirv(target: Target, features: str) -> Iterator[Placed]:
    own = _OPENCL if target.environment.startswith("opencl") else _VULKAN
    yield at("spirv", "interface", step(own.interface, environment=target.environment))
    if "subgroup.shuffle" in target.capabilities:
        numbered = step("number-subgroups", size=target.subgroup, shuffles=True)
        yield at("spirv", "memory", step("share-shuffles", words=False), numbered)
    else:
        yield at("spirv", "memory", step("share-shuffles"))
    yield at("spirv", "memory", step("linearize-memory", limit=target.smem_block, **own.buffers))
    yield at("spirv", "memory", step("report-asserts", storage=own.storage))
    kernel = "builtin.module(gpu.module(gpu.func({})))"
    fused = [] if "fma.arithmetic" in target.capabilities else [step("split-fma")]
    yield at("spirv", "registers", *fused, step("scalarize-registers"), step("floats-as-bits"))
    yield at("spirv", "registers", upstream(kernel.format("canonicalize,cse")))
    yield at("spirv", "math", step("narrow-comparisons"), step(own.math))
    matrices = "CooperativeMatrixKHR" in target.capabilities
    yield at("spirv", "convert", upstream("builtin.module(convert-gpu-to-spirv)"))
    if matrices:
        yield at("spirv", "convert", step("start-results"), step("sign-products"))
    lowered = "builtin.module(spirv.module(spirv-lower-abi-attrs,canonicalize,cse,spirv-update-vce))"
    yield at("spirv", "convert", *map(step, own.after), upstream(lowered), step("finish-spirv"))
    if matrices:  # all kernels of a module go by one memory model
        yield at("spirv", "convert", step("vulkan-memory-model"))


class _Flavour(NamedTuple):
    """What differs between the environments of SPIR-V, as names of passes."""

    interface: str
    math: str
    storage: str
    """The storage class of buffers."""
    after: tuple[str, ...] = ()
    """After upstream's conversion."""
    buffers: Mapping[str, str] = MappingProxyType({})
    """Options of `linearize-memory`."""


_VULKAN = _Flavour("vulkan-interface", "select-glsl", "StorageBuffer", ("keep-roundings",))
_OPENCL = _Flavour(
    "opencl-interface",
    "select-opencl",
    "CrossWorkgroup",
    ("physical-addressing",),
    MappingProxyType({"width": "element"}),
)
_CONVERSIONS: dict[str, Callable[[Target, str], Iterator[Placed]]] = {
    "nvptx": _nvptx, "rocdl": _rocdl, "spirv": _spirv
}  # fmt: skip
"""By the name of the back end."""
