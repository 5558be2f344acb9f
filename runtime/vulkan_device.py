"""Vulkan devices: what they can do, buffers, and pipelines of kernels, through the package `vulkan`.

Nothing here is touched before a kernel is to run on Vulkan.
"""

# ruff: noqa: N815 - names are those of VkPhysicalDeviceLimits, which messages give

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from mlir_gemm.errors import DeviceError

PACKAGE = "vulkan"
_INSTALL = "pip install 'mlir-gemm[vulkan]', and a Vulkan driver (Debian: libvulkan1 with mesa-vulkan-drivers)"
SHUFFLE = "VK_SUBGROUP_FEATURE_SHUFFLE_BIT"
_FEATURES = {
    "StorageBuffer16BitAccess": ("16bit_storage", "storageBuffer16BitAccess"),
    "StorageBuffer8BitAccess": ("8bit_storage", "storageBuffer8BitAccess"),
    "Float16": ("float16_int8", "shaderFloat16"),
    "Int8": ("float16_int8", "shaderInt8"),
    "Float64": ("core", "shaderFloat64"),
    "Int64": ("core", "shaderInt64"),
    "Int16": ("core", "shaderInt16"),
    "VulkanMemoryModel": ("memory_model", "vulkanMemoryModel"),
    "CooperativeMatrixKHR": ("matrices", "cooperativeMatrix"),
    "GroupNonUniform": ("subgroups", "computeFullSubgroups"),
    "GroupNonUniformShuffle": ("properties", SHUFFLE),
}
"""The feature that a capability of SPIR-V needs (Vulkan specification, "Capabilities"), and the structure it is in.
Code that goes by subgroups needs those of one size, all full."""
_ALWAYS = frozenset({"Shader", "Matrix"})
_STRUCTURES = {
    "16bit_storage": "VkPhysicalDevice16BitStorageFeatures",
    "8bit_storage": "VkPhysicalDevice8BitStorageFeatures",
    "float16_int8": "VkPhysicalDeviceShaderFloat16Int8Features",
    "memory_model": "VkPhysicalDeviceVulkanMemoryModelFeatures",
    "subgroups": "VkPhysicalDeviceSubgroupSizeControlFeatures",
    "matrices": "VkPhysicalDeviceCooperativeMatrixFeaturesKHR",
}
_NEVER = (99, 0)
_EXTENSIONS = {
    "8bit_storage": ("VK_KHR_8bit_storage", (1, 2)),
    "float16_int8": ("VK_KHR_shader_float16_int8", (1, 2)),
    "memory_model": ("VK_KHR_vulkan_memory_model", (1, 2)),
    "subgroups": ("VK_EXT_subgroup_size_control", (1, 3)),
    "matrices": ("VK_KHR_cooperative_matrix", _NEVER),
}
"""Extensions, and the version of Vulkan that has each in it; storage of 16 bits is in Vulkan 1.1."""
_WHOLE = (1 << 64) - 1


@functools.cache
def api() -> Any:
    """The package. Raises DeviceError where it, or the loader of Vulkan, is not installed."""
    try:
        return importlib.import_module(PACKAGE)
    except (ImportError, OSError) as error:
        raise DeviceError(f"device='vulkan' needs the package '{PACKAGE}' and Vulkan's loader: {error}; "
                          f"{_INSTALL}") from None  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What a device allows, by Vulkan's names."""

    maxComputeWorkGroupInvocations: int
    maxComputeWorkGroupSize: tuple[int, int, int]
    maxComputeWorkGroupCount: tuple[int, int, int]
    maxComputeSharedMemorySize: int
    maxStorageBufferRange: int
    maxPushConstantsSize: int
    maxPerStageDescriptorStorageBuffers: int

    @staticmethod
    def of(given: Any) -> Limits:
        """A copy of the driver's: a structure inside another lives no longer than that."""
        values: dict[str, Any] = {each.name: getattr(given, each.name) for each in fields(Limits)}
        copied: dict[str, Any] = {name: each if isinstance(each, int) else tuple(each) for name, each in values.items()}
        return Limits(**copied)


@dataclass
class VulkanDevice:
    """An open device with one queue for compute."""

    name: str
    number: int
    limits: Limits
    features: frozenset[str]
    """Features that it has, of those in `_FEATURES`, by their names in the specification."""
    version: tuple[int, int]
    subgroups: tuple[int, int]
    """The least and the most lanes of a subgroup (`minSubgroupSize`, `maxSubgroupSize`); zeros if it does not say."""
    extensions: frozenset[str] = field(repr=False)
    physical: Any = field(repr=False)
    handle: Any = field(repr=False)
    queue: Any = field(repr=False)
    family: int = field(repr=False)
    memory: Any = field(repr=False)
    pool: Any = field(repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __str__(self) -> str:
        return f"vulkan:{self.number} ({self.name})"

    def missing(self, capabilities: Sequence[str]) -> list[str]:
        """What a module with these capabilities needs that the device lacks, by its name in the specification."""
        found: list[str] = []
        for each in capabilities:
            if each in _ALWAYS:
                continue
            if each not in _FEATURES:
                found.append(f"the capability {each}")
                continue
            key, feature = _FEATURES[each]
            extension, since = _EXTENSIONS.get(key, ("", (1, 1)))
            if feature in self.features:
                continue
            if self.version < since and extension not in self.extensions:
                found.append(f"the extension {extension} (its feature {feature})")
            else:
                found.append(f"the feature {feature}")
        return found

    def is_cached(self, number: int) -> bool:
        """Whether the host reads a type of memory through its caches."""
        flags = self.memory.memoryTypes[number].propertyFlags
        return bool(flags & api().VK_MEMORY_PROPERTY_HOST_CACHED_BIT)

    def memory_type(self, bits: int, read: bool = False) -> int:
        """The number of a type of memory that the host can write; of the device's own if there is one. With `read` one
        that the host reads fast: through its caches, if there is one."""
        vk = api()
        host = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        best = vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT if read else vk.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
        for wanted in (host | best, host):
            for number in range(self.memory.memoryTypeCount):
                flags = self.memory.memoryTypes[number].propertyFlags
                if bits >> number & 1 and flags & wanted == wanted:
                    return number
        raise DeviceError(f"{self}: no memory that the host can write (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)")


def device_names() -> list[str]:
    """The names of all Vulkan devices, in the driver's order. Raises DeviceError where there is no Vulkan."""
    return [vk_name(each) for each in _physical()]


def number_of(name: str) -> int:
    """The number of the first device in whose name these letters stand. Raises DeviceError where there is none."""
    names = device_names()
    for number, each in enumerate(names):
        if name.lower() in each.lower():
            return number
    raise DeviceError(f"there is no Vulkan device '{name}'; found: {', '.join(names) or 'none'}; {_INSTALL}")


def vk_name(physical: Any) -> str:
    """The driver's name of a device."""
    return str(api().vkGetPhysicalDeviceProperties(physical).deviceName)


@functools.cache
def instance() -> Any:
    """Vulkan's instance, made once. Raises DeviceError where Vulkan does not start."""
    vk = api()
    about = vk.VkApplicationInfo(pApplicationName="mlir-gemm", apiVersion=vk.VK_MAKE_VERSION(1, 3, 0))
    try:
        return vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=about), None)
    except Exception as error:
        raise DeviceError(f"Vulkan does not start (vkCreateInstance): {said(error)}; {_INSTALL}") from None


def _physical() -> list[Any]:
    vk = api()
    try:
        return list(vk.vkEnumeratePhysicalDevices(instance()))
    except DeviceError:
        raise
    except Exception as error:
        raise DeviceError(f"no Vulkan device (vkEnumeratePhysicalDevices): {said(error)}; {_INSTALL}") from None


@functools.cache
def open_device(number: int = 0) -> VulkanDevice:
    """Opens a Vulkan device by its number, as `vulkaninfo --summary` counts. Raises DeviceError where there is none, or
    it has no queue for compute."""
    vk, found = api(), _physical()
    if number >= len(found):
        known = ", ".join(f"vulkan:{each} ({vk_name(one)})" for each, one in enumerate(found)) or "none"
        raise DeviceError(f"there is no Vulkan device {number}; found: {known}; {_INSTALL}")
    physical = found[number]
    properties = vk.vkGetPhysicalDeviceProperties(physical)
    version = (properties.apiVersion >> 22 & 0x7F, properties.apiVersion >> 12 & 0x3FF)
    name = str(properties.deviceName)
    if version < (1, 1):
        raise DeviceError(f"vulkan:{number} ({name}) has Vulkan {version[0]}.{version[1]}; expected 1.1 or later")
    families = vk.vkGetPhysicalDeviceQueueFamilyProperties(physical)
    family = next((n for n, each in enumerate(families) if each.queueFlags & vk.VK_QUEUE_COMPUTE_BIT), None)
    if family is None:
        raise DeviceError(f"vulkan:{number} ({name}) has no queue with VK_QUEUE_COMPUTE_BIT")
    extensions = {each.extensionName for each in vk.vkEnumerateDeviceExtensionProperties(physical, None)}
    features, chain, core, wanted = _features(physical, extensions, version)
    queues = [vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, queueCount=1, pQueuePriorities=[1.0])]
    made = vk.VkDeviceCreateInfo(
        pNext=chain, pQueueCreateInfos=queues, pEnabledFeatures=core, ppEnabledExtensionNames=wanted
    )
    try:
        handle = vk.vkCreateDevice(physical, made, None)
    except Exception as error:
        raise DeviceError(f"vulkan:{number} ({name}) does not open (vkCreateDevice): {said(error)}") from None
    pool = vk.vkCreateCommandPool(handle, vk.VkCommandPoolCreateInfo(
        flags=vk.VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, queueFamilyIndex=family), None)  # fmt: skip
    queue = vk.vkGetDeviceQueue(handle, family, 0)
    return VulkanDevice(
        name, number, Limits.of(properties.limits), features, version, _subgroups(physical, features),
        frozenset(extensions), physical, handle, queue, family,
        vk.vkGetPhysicalDeviceMemoryProperties(physical), pool,
    )  # fmt: skip


def _features(physical: Any, extensions: set[str], version: tuple[int, int]) -> tuple[frozenset[str], Any, Any, Any]:
    """The features that a device has, and what turns them on: a chain of structures, the core ones, extensions."""
    vk = api()
    asked: dict[str, Any] = {}
    chain: Any = None
    for key, structure in _STRUCTURES.items():
        extension, since = _EXTENSIONS.get(key, ("", (1, 1)))
        if extension in extensions or version >= since:
            chain = asked[key] = getattr(vk, structure)(pNext=chain)
    both = vk.VkPhysicalDeviceFeatures2(pNext=chain)
    vk.vkGetPhysicalDeviceFeatures2(physical, both)
    core = vk.vkGetPhysicalDeviceFeatures(physical)
    asked["core"] = core
    operations = vk.VkPhysicalDeviceSubgroupProperties()
    vk.vkGetPhysicalDeviceProperties2(physical, vk.VkPhysicalDeviceProperties2(pNext=operations))
    if "matrices" in asked:
        asked["matrices"].cooperativeMatrixRobustBufferAccess = 0  # no matrix reaches over the end of a buffer
    found = {name for key, name in _FEATURES.values() if key in asked and getattr(asked[key], name)}
    names = {name for _, name in _FEATURES.values()}
    if operations.supportedOperations & getattr(vk, SHUFFLE):
        found.add(SHUFFLE)
    on = vk.VkPhysicalDeviceFeatures(**dict.fromkeys(found & names & set(dir(core)), 1))
    wanted = [extension for extension, _ in _EXTENSIONS.values() if extension in extensions]
    return frozenset(found), chain, on, wanted


def _subgroups(physical: Any, features: frozenset[str]) -> tuple[int, int]:
    """The least and the most lanes of a subgroup that a pipeline may ask for."""
    vk = api()
    if "computeFullSubgroups" not in features:
        return 0, 0
    sizes = vk.VkPhysicalDeviceSubgroupSizeControlProperties()
    vk.vkGetPhysicalDeviceProperties2(physical, vk.VkPhysicalDeviceProperties2(pNext=sizes))
    return int(sizes.minSubgroupSize), int(sizes.maxSubgroupSize)


def said(error: Exception) -> str:
    """The result that a function of Vulkan ended with, by its name."""
    text = str(error).splitlines()
    return f"{type(error).__name__}{': ' + text[0] if text else ''}"
