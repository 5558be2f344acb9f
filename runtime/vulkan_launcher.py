"""Vulkan as a device."""

from __future__ import annotations

from typing import ClassVar

from mlir_gemm.pipeline import spirv_words
from mlir_gemm.runtime.host_launcher import HostKernels, HostLauncher
from mlir_gemm.runtime.vulkan_device import open_device
from mlir_gemm.runtime.vulkan_kernels import VulkanKernels
from mlir_gemm.spec.launch import Launch
from mlir_gemm.tile_model.chips import target


class VulkanLauncher(HostLauncher):
    """Calls what was compiled on a Vulkan device."""

    word: ClassVar[str] = "vulkan"
    standard: ClassVar[str] = "Vulkan"
    capability: ClassVar[int] = spirv_words.SHADER

    def __init__(self, code: bytes, launch: Launch, number: int, chip: str) -> None:
        super().__init__(code, launch, number, chip)
        self._subgroup = target(chip).subgroup

    def _made(self) -> HostKernels:
        return VulkanKernels(open_device(self._number), self._code, self._launch, self._subgroup)
