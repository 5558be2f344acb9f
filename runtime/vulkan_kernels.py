"""Kernels in SPIR-V on a Vulkan device: pipelines, buffers, and one submission for each call."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Mapping
from typing import Any

from mlir_gemm.errors import DeviceError
from mlir_gemm.pipeline import spirv_words
from mlir_gemm.runtime.host_launcher import failed_check, memory_of
from mlir_gemm.runtime.vulkan_device import VulkanDevice, api, said
from mlir_gemm.runtime.vulkan_matrices import lacking_matrices
from mlir_gemm.spec.launch import Launch, Step

_CAPABILITIES = {
    0: "Matrix", 1: "Shader", 9: "Float16", 10: "Float64", 11: "Int64", 22: "Int16", 39: "Int8",
    4433: "StorageBuffer16BitAccess", 4448: "StorageBuffer8BitAccess", 61: "GroupNonUniform",
    65: "GroupNonUniformShuffle", 5345: "VulkanMemoryModel", 6022: "CooperativeMatrixKHR",
}  # fmt: skip
"""The names of capabilities by their numbers, as the specification of SPIR-V has them."""
_NEEDED = {(1, 6): (1, 3), (1, 5): (1, 2)}
"""The version of Vulkan that takes a version of SPIR-V; those before need 1.1."""
_FULL_SUBGROUPS = 2
"""VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT."""
_WORD = 4
"""Bytes of what a kernel reports, and of a constant that is specialised."""
_FOREVER = (1 << 64) - 1


def capabilities(code: bytes) -> list[str]:
    """The capabilities that a module of SPIR-V declares, by name."""
    return [_CAPABILITIES.get(number, str(number)) for number in spirv_words.capabilities(code)]


def by_subgroups(code: bytes) -> bool:
    """Whether a module goes by subgroups, which must then have the size that it was made for."""
    return any(each.startswith("GroupNonUniform") for each in capabilities(code))


def check(device: VulkanDevice, code: bytes, launch: Launch, subgroup: int = 0) -> None:
    """Raises DeviceError, which names all that is missing as Vulkan's documentation does, where a device cannot run
    this. `subgroup` is how many lanes a subgroup has to have, if the code goes by these."""
    version = spirv_words.version(code)
    problems = [] if device.version >= _NEEDED.get(version, (1, 1)) else [
        f"SPIR-V {'.'.join(map(str, version))}: expected Vulkan {'.'.join(map(str, _NEEDED[version]))}, it has "
        f"{'.'.join(map(str, device.version))}"
    ]  # fmt: skip
    problems += [*device.missing(capabilities(code)), *lacking_matrices(device, code)]
    least, most = device.subgroups
    if by_subgroups(code) and subgroup and most and not least <= subgroup <= most:
        problems.append(f"subgroups of {subgroup}: minSubgroupSize is {least}, maxSubgroupSize is {most}")
    limits, shared = device.limits, spirv_words.workgroup_bytes(code)
    sizes = spirv_words.workgroup_sizes(code)
    for step in launch.steps:
        taken, bound, pushed = shared.get(step.entry, 0), buffers_of(launch, step), 4 * sum(words_of(launch, step))
        if taken > limits.maxComputeSharedMemorySize:
            problems.append(
                f"{taken} bytes of shared memory ({step.entry}): maxComputeSharedMemorySize is "
                f"{limits.maxComputeSharedMemorySize}"
            )
        if bound > limits.maxPerStageDescriptorStorageBuffers:
            problems.append(
                f"{bound} buffers ({step.entry}): maxPerStageDescriptorStorageBuffers is "
                f"{limits.maxPerStageDescriptorStorageBuffers}"
            )
        if pushed > limits.maxPushConstantsSize:
            problems.append(
                f"{pushed} bytes of numbers ({step.entry}): maxPushConstantsSize is {limits.maxPushConstantsSize}"
            )
        if (made_for := sizes.get(step.entry, step.block)) != step.block:
            given, right = ("x".join(map(str, each)) for each in (step.block, made_for))
            problems.append(f"workgroups of {given} ({step.entry}): the code is for {right}, as 'block' has to say")
        threads = step.block[0] * step.block[1] * step.block[2]
        if threads > limits.maxComputeWorkGroupInvocations:
            problems.append(
                f"workgroups of {threads} ({step.entry}): maxComputeWorkGroupInvocations is "
                f"{limits.maxComputeWorkGroupInvocations}"
            )
        for axis, name in enumerate("xyz"):
            if step.block[axis] > limits.maxComputeWorkGroupSize[axis]:
                problems.append(
                    f"workgroups of {step.block[axis]} along {name} ({step.entry}): maxComputeWorkGroupSize is "
                    f"{limits.maxComputeWorkGroupSize[axis]}"
                )
            if step.grid[axis] > limits.maxComputeWorkGroupCount[axis]:
                problems.append(
                    f"{step.grid[axis]} workgroups along {name} ({step.entry}): maxComputeWorkGroupCount is "
                    f"{limits.maxComputeWorkGroupCount[axis]}"
                )
    largest = max([0, *memory_of(launch)])
    if largest > limits.maxStorageBufferRange:
        problems.append(f"a buffer of {largest} bytes: maxStorageBufferRange is {limits.maxStorageBufferRange}")
    if problems:
        raise DeviceError(f"{device} cannot run this kernel: {'; '.join(problems)}")


def words_of(launch: Launch, step: Step) -> list[int]:
    """The words of the push constants that each number of a step's kernel takes."""
    places = (each for each in step.parameters if isinstance(each, int) and not is_memory(launch, each))
    return [_word_of(launch, each)[0] for each in places]


def buffers_of(launch: Launch, step: Step) -> int:
    """How many buffers a step's kernel takes."""
    return sum(is_memory(launch, each) for each in step.parameters if isinstance(each, int)) + bool(step.asserts)


def is_memory(launch: Launch, number: int) -> bool:
    """Whether a parameter is memory; else it is a number, passed by value."""
    if number < len(launch.arguments):
        return not launch.arguments[number].scalar
    return number < len(launch.arguments) + len(launch.buffers) + len(launch.constants)


class Memory:
    """A buffer that the host can write, kept until it is released."""

    def __init__(self, device: VulkanDevice, size: int, read: bool = False) -> None:
        vk = api()
        self.size, self._device = max(16, -(-size // 16) * 16), device
        copied = vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT if read else vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT
        info = vk.VkBufferCreateInfo(size=self.size, usage=vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | copied)
        self.buffer = vk.vkCreateBuffer(device.handle, info, None)
        needs = vk.vkGetBufferMemoryRequirements(device.handle, self.buffer)
        kind = device.memory_type(needs.memoryTypeBits, read)
        self.is_cached = device.is_cached(kind)
        given = vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=kind)
        try:
            self._memory = vk.vkAllocateMemory(device.handle, given, None)
        except Exception as error:
            vk.vkDestroyBuffer(device.handle, self.buffer, None)
            raise DeviceError(f"{device}: {size} bytes cannot be had ({type(error).__name__})") from None
        vk.vkBindBufferMemory(device.handle, self.buffer, self._memory, 0)
        self.bytes = vk.vkMapMemory(device.handle, self._memory, 0, self.size, 0)

    def release(self) -> None:
        """Gives the memory back."""
        vk = api()
        vk.vkUnmapMemory(self._device.handle, self._memory)
        vk.vkDestroyBuffer(self._device.handle, self.buffer, None)
        vk.vkFreeMemory(self._device.handle, self._memory, None)


class VulkanKernels:
    """What was compiled, on a device: a pipeline for each step, and the buffers of its calls."""

    def __init__(self, device: VulkanDevice, code: bytes, launch: Launch, subgroup: int = 0) -> None:
        """Raises DeviceError where the device lacks what the kernels need; then nothing was made. `subgroup` is how
        many lanes a subgroup has in this code."""
        check(device, code, launch, subgroup)
        vk = api()
        self.subgroup = subgroup if by_subgroups(code) else 0
        self.device, self.launch = device, launch
        given = vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code)
        self._module = _taken(
            device, "vkCreateShaderModule", lambda: vk.vkCreateShaderModule(device.handle, given, None)
        )
        sizes = [each.span_bytes + each.shift_bytes for each in launch.arguments]
        self.arguments = [Memory(device, size) for size in sizes]
        self._copies = {
            number: Memory(device, memory.size, read=True)
            for number, (memory, argument) in enumerate(zip(self.arguments, launch.arguments, strict=True))
            if argument.role != "in" and not argument.scalar and not memory.is_cached
        }
        """Of what is written: memory that the host reads fast, where the device's own is not."""
        self._workspace = Memory(device, launch.workspace_bytes) if launch.workspace_bytes else None
        self._flags = Memory(device, launch.zeroed_bytes) if launch.zeroed_bytes else None
        if self._flags is not None:
            self._flags.bytes[:] = bytes(self._flags.size)
        self._constants = [Memory(device, len(each.data)) for each in launch.constants]
        for memory, constant in zip(self._constants, launch.constants, strict=True):
            memory.bytes[: len(constant.data)] = constant.data
        self._steps = [_Pipeline(self, step) for step in launch.steps if not step.is_empty]
        (self._commands,) = vk.vkAllocateCommandBuffers(
            device.handle, vk.VkCommandBufferAllocateInfo(
                commandPool=device.pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1)
        )  # fmt: skip
        self._fence = vk.vkCreateFence(device.handle, vk.VkFenceCreateInfo(), None)

    @property
    def module(self) -> Any:
        """The shader module."""
        return self._module

    @contextlib.contextmanager
    def mapped(self, number: int) -> Generator[Any, None, None]:
        """The bytes of an argument's buffer, which the host may read and write at any time."""
        yield self.arguments[number].bytes

    def memory(self, number: int) -> tuple[Memory, int, int]:
        """The memory of a number, as in `Step.parameters`: a buffer, an offset and a size in bytes."""
        launch = self.launch
        if number < len(launch.arguments):
            return self.arguments[number], 0, self.arguments[number].size
        number -= len(launch.arguments)
        if number < len(launch.buffers):
            buffer = launch.buffers[number]
            whole = self._flags if buffer.zeroed else self._workspace
            assert whole is not None and isinstance(buffer.bytes, int)
            return whole, buffer.offset or 0, max(16, -(-buffer.bytes // 4) * 4)
        memory = self._constants[number - len(launch.buffers)]
        return memory, 0, memory.size

    @contextlib.contextmanager
    def written(self, number: int) -> Generator[Any, None, None]:
        """The bytes of an argument after a run."""
        yield self._copies.get(number, self.arguments[number]).bytes

    def run(self, numbers: Mapping[int, int], repeat: int = 1, fetch: bool = True) -> None:
        """Runs all steps in order, and waits for them; the arguments' memory holds what they read. `numbers` are the
        bits of the arguments that are numbers, by place. With `repeat` all of it is done so many times in one
        submission. With `fetch` the host can read what was written (`written`). Raises DeviceError where the driver
        refuses."""
        vk = api()
        with self.device.lock:
            for step in self._steps:
                step.forget()
            vk.vkBeginCommandBuffer(self._commands, vk.VkCommandBufferBeginInfo(
                flags=vk.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT))  # fmt: skip
            shader = vk.VK_ACCESS_SHADER_READ_BIT | vk.VK_ACCESS_SHADER_WRITE_BIT
            others = vk.VK_ACCESS_HOST_READ_BIT | vk.VK_ACCESS_TRANSFER_READ_BIT
            between = vk.VkMemoryBarrier(srcAccessMask=shader, dstAccessMask=shader)
            last = vk.VkMemoryBarrier(srcAccessMask=vk.VK_ACCESS_SHADER_WRITE_BIT, dstAccessMask=others)
            compute = vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT
            after = vk.VK_PIPELINE_STAGE_HOST_BIT | vk.VK_PIPELINE_STAGE_TRANSFER_BIT
            for _ in range(repeat):
                for step in self._steps:
                    step.record(self._commands, numbers)
                    vk.vkCmdPipelineBarrier(self._commands, compute, compute, 0, 1, [between], 0, None, 0, None)
            vk.vkCmdPipelineBarrier(self._commands, compute, after, 0, 1, [last], 0, None, 0, None)
            if fetch and self._copies:
                self._record_copies()
            vk.vkEndCommandBuffer(self._commands)
            submitted = vk.VkSubmitInfo(pCommandBuffers=[self._commands])
            try:
                vk.vkQueueSubmit(self.device.queue, 1, [submitted], self._fence)
                vk.vkWaitForFences(self.device.handle, 1, [self._fence], True, _FOREVER)
            except Exception as error:
                raise DeviceError(f"running on {self.device} failed: {type(error).__name__}") from None
            vk.vkResetFences(self.device.handle, 1, [self._fence])
            for step in self._steps:
                failed_check(self.device, step.step, step.reported)

    def _record_copies(self) -> None:
        """Copies what was written to where the host reads it."""
        vk = api()
        for number, copy in self._copies.items():
            whole = vk.VkBufferCopy(srcOffset=0, dstOffset=0, size=copy.size)
            vk.vkCmdCopyBuffer(self._commands, self.arguments[number].buffer, copy.buffer, 1, [whole])
        moved = vk.VkMemoryBarrier(
            srcAccessMask=vk.VK_ACCESS_TRANSFER_WRITE_BIT, dstAccessMask=vk.VK_ACCESS_HOST_READ_BIT
        )
        transfer, host = vk.VK_PIPELINE_STAGE_TRANSFER_BIT, vk.VK_PIPELINE_STAGE_HOST_BIT
        vk.vkCmdPipelineBarrier(self._commands, transfer, host, 0, 1, [moved], 0, None, 0, None)


class _Pipeline:
    """One step: its pipeline, with its buffers bound."""

    def __init__(self, kernels: VulkanKernels, step: Step) -> None:
        vk, device = api(), kernels.device
        self.step = step
        places = [each for each in step.parameters if isinstance(each, int)]
        assert len(places) == len(step.parameters)  # there are no tensor maps on these chips, and sizes are bound
        bound = [each for each in places if is_memory(kernels.launch, each)]
        self._words = [_word_of(kernels.launch, each) for each in places if not is_memory(kernels.launch, each)]
        self._push = 4 * sum(count for count, _ in self._words)
        self._told = Memory(device, _WORD) if step.asserts else None
        held = [kernels.memory(each) for each in bound]
        if self._told is not None:
            held.append((self._told, 0, self._told.size))
        kind, stage = vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, vk.VK_SHADER_STAGE_COMPUTE_BIT
        slots = [
            vk.VkDescriptorSetLayoutBinding(binding=number, descriptorType=kind, descriptorCount=1, stageFlags=stage)
            for number in range(len(held))
        ]
        layout = vk.vkCreateDescriptorSetLayout(
            device.handle, vk.VkDescriptorSetLayoutCreateInfo(pBindings=slots), None
        )
        ranges = [vk.VkPushConstantRange(stageFlags=stage, offset=0, size=self._push)] if self._push else []
        self._layout = vk.vkCreatePipelineLayout(
            device.handle, vk.VkPipelineLayoutCreateInfo(pSetLayouts=[layout], pPushConstantRanges=ranges), None
        )
        pool = vk.vkCreateDescriptorPool(
            device.handle, vk.VkDescriptorPoolCreateInfo(
                maxSets=1, pPoolSizes=[vk.VkDescriptorPoolSize(type=kind, descriptorCount=max(1, len(held)))]), None
        )  # fmt: skip
        (self._set,) = vk.vkAllocateDescriptorSets(
            device.handle, vk.VkDescriptorSetAllocateInfo(descriptorPool=pool, pSetLayouts=[layout])
        )
        writes = list[Any]()
        for number, (memory, offset, size) in enumerate(held):
            info = vk.VkDescriptorBufferInfo(buffer=memory.buffer, offset=offset, range=size)
            writes.append(vk.VkWriteDescriptorSet(
                dstSet=self._set, dstBinding=number, descriptorType=kind, pBufferInfo=[info]))  # fmt: skip
        vk.vkUpdateDescriptorSets(device.handle, len(writes), writes, 0, None)
        # Blocks that are not of whole subgroups belong to kernels that do not go by them.
        size, least_most = 0 if step.block[0] % max(1, kernels.subgroup) else kernels.subgroup, device.subgroups
        lanes = vk.VkPipelineShaderStageRequiredSubgroupSizeCreateInfo(requiredSubgroupSize=size)
        shader = vk.VkPipelineShaderStageCreateInfo(
            stage=stage, module=kernels.module, pName=step.entry, flags=_FULL_SUBGROUPS if size else 0,
            pNext=lanes if size and least_most[0] < least_most[1] else None, pSpecializationInfo=_specialised(step),
        )  # fmt: skip
        asked = [vk.VkComputePipelineCreateInfo(stage=shader, layout=self._layout)]
        made = _taken(
            device, f"vkCreateComputePipelines, {step.entry}",
            lambda: vk.vkCreateComputePipelines(device.handle, None, 1, asked, None),
        )  # fmt: skip
        self._pipeline = made[0]

    @property
    def reported(self) -> int:
        """The number of the message of an assertion that failed in the last run, from 1; 0 for none."""
        return 0 if self._told is None else int.from_bytes(self._told.bytes[:_WORD], "little")

    def forget(self) -> None:
        """Lets `reported` be 0."""
        if self._told is not None:
            self._told.bytes[:_WORD] = bytes(_WORD)

    def record(self, commands: Any, numbers: Mapping[int, int]) -> None:
        """Writes the step's commands."""
        vk = api()
        point = vk.VK_PIPELINE_BIND_POINT_COMPUTE
        vk.vkCmdBindPipeline(commands, point, self._pipeline)
        vk.vkCmdBindDescriptorSets(commands, point, self._layout, 0, 1, [self._set], 0, None)
        if self._push:
            data = b"".join(value(numbers).to_bytes(4 * count, "little") for count, value in self._words)
            values = vk.ffi.from_buffer(data)
            vk.vkCmdPushConstants(commands, self._layout, vk.VK_SHADER_STAGE_COMPUTE_BIT, 0, len(data), values)
        vk.vkCmdDispatch(commands, *self.step.grid)


def _specialised(step: Step) -> Any:
    """The workgroup's size as the constants with the SpecIds 0, 1 and 2; those that a module lacks change nothing."""
    vk = api()
    entries = [
        vk.VkSpecializationMapEntry(constantID=axis, offset=_WORD * axis, size=_WORD) for axis in range(len(step.block))
    ]
    data = b"".join(int(size).to_bytes(_WORD, "little") for size in step.block)
    return vk.VkSpecializationInfo(pMapEntries=entries, pData=vk.ffi.from_buffer(data))


def _taken(device: VulkanDevice, what: str, make: Callable[[], Any]) -> Any:
    """What the driver makes of the code. Raises DeviceError where it does not take it."""
    try:
        return make()
    except Exception as error:
        raise DeviceError(f"{device} does not take this module of SPIR-V ({what}): {said(error)}") from None


def _word_of(launch: Launch, number: int) -> tuple[int, Callable[[Mapping[int, int]], int]]:
    """How many words of the push constants a number takes, and what gives it in a call."""
    if number < len(launch.arguments):
        size = launch.arguments[number].item_bytes
        return (2 if size > 4 else 1), functools.partial(_given, number)
    size = launch.values[number - len(launch.arguments) - len(launch.buffers) - len(launch.constants)]
    return 1, functools.partial(_always, size)


def _given(number: int, numbers: Mapping[int, int]) -> int:
    return numbers[number]


def _always(size: int, _: Mapping[int, int]) -> int:
    return size & 0xFFFFFFFF
