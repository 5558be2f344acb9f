"""Workgroup sizes of SPIR-V for Vulkan as specialisation constants: what stands in the binary, and that devices go by
what they are given."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_targets import VALIDATOR
from test_vulkan import on_device, product

import mlir_gemm
from mlir_gemm.pipeline import spirv_words
from mlir_gemm.pipeline.spirv_sizes import with_size_constants
from mlir_gemm.runtime import vulkan_device, vulkan_kernels
from mlir_gemm.runtime.host_launcher import run_on

SHADER, KERNEL = 1, 6
DECORATE, SPEC_CONSTANT, SPEC_COMPOSITE = 71, 50, 51
SIZE = (64, 2, 1)


def assembled(bound: int, *instructions: tuple[int, ...]) -> bytes:
    """A module of SPIR-V 1.0: instructions as their numbers and operands."""
    words = [0x07230203, 0x10000, 0, bound, 0]
    for op, *operands in instructions:
        words += [len(operands) + 1 << 16 | op, *operands]
    return struct.pack(f"<{len(words)}I", *words)


def kernels(*sizes: tuple[int, int, int], capability: int = SHADER, vector: bool = False) -> bytes:
    """A module with an empty kernel for each size, named `a`, `b`, ...; with the type of three words, or without."""
    first = 10
    numbers = range(first, first + 2 * len(sizes), 2)
    void, kind = 1, 2
    return assembled(
        first + 2 * len(sizes),
        (17, capability),
        (14, 0, 1),
        *((15, 5, number, ord("a") + place) for place, number in enumerate(numbers)),
        *((16, number, 17, *size) for number, size in zip(numbers, sizes, strict=True)),
        (19, void),
        (33, kind, void),
        *(((21, 3, 32, 0), (23, 4, 3, 3)) if vector else ()),
        *(each for number in numbers for each in ((54, void, number, 0, kind), (248, number + 1), (253,), (56,))),
    )


def constants(code: bytes) -> dict[int, int]:
    """The defaults of the constants of which the workgroup's size is made, by SpecId."""
    found = list(spirv_words.instructions(code))
    ids = {given[0]: given[2] for op, given in found if op == DECORATE and given[1] == 1}
    (whole,) = (given[0] for op, given in found if op == DECORATE and given[1:] == (11, 25))
    (parts,) = (given[2:] for op, given in found if op == SPEC_COMPOSITE and given[1] == whole)
    values = {given[1]: given[2] for op, given in found if op == SPEC_CONSTANT}
    return {ids[each]: values[each] for each in parts}


@pytest.mark.parametrize("vector", [False, True])
def test_a_module_declares_its_size(vector: bool, tmp_path: Path) -> None:
    given = kernels(SIZE, SIZE, vector=vector)
    code = with_size_constants(given)
    assert constants(code) == dict(enumerate(SIZE))
    assert spirv_words.workgroup_sizes(code) == {"a": SIZE, "b": SIZE}  # as it was before
    assert code[12] == given[12] + (4 if vector else 6)
    assert sum(op in (21, 23) for op, _ in spirv_words.instructions(code)) == 2  # types stand once
    assert with_size_constants(code) == code
    if VALIDATOR:
        (tmp_path / "x.spv").write_bytes(code)
        command = [VALIDATOR, "--target-env", "vulkan1.1", str(tmp_path / "x.spv")]
        assert subprocess.run(command, capture_output=True, text=True).stdout == ""
        subprocess.run(command, check=True)


def test_other_modules_stay_as_they_were() -> None:
    """OpenCL's, and those whose kernels have several sizes: a decoration is the whole module's."""
    for code in (kernels(SIZE, capability=KERNEL), kernels(SIZE, (32, 1, 1)), kernels()):
        assert with_size_constants(code) == code


@on_device
def test_a_device_goes_by_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code whose defaults are one thread is right, by the launch's block; by the defaults alone it is not."""
    kernel = mlir_gemm.compile(product(24, 20, 12), device="vulkan")
    device, code, launch = vulkan_device.open_device(), kernel.code, kernel.launch
    assert isinstance(code, bytes) and launch.block[0] > 1
    assert constants(code) == dict(enumerate(launch.block))
    size = struct.pack("<I", launch.block[0])
    opening = struct.pack("<I", 4 << 16 | SPEC_CONSTANT) + rb"[\s\S]{8}"
    alone = re.sub(b"(" + opening + b")" + re.escape(size), lambda found: found[1] + b"\1\0\0\0", code)
    assert constants(alone) == {0: 1, 1: 1, 2: 1}
    a, b, c = (np.ones(shape, "f4") for shape in ((24, 12), (12, 20), (24, 20)))
    for specialised in (True, False):
        if not specialised:
            monkeypatch.setattr(vulkan_kernels, "_specialised", lambda _: None)
        result = np.zeros((24, 20), "f4")
        run_on(vulkan_kernels.VulkanKernels(device, alone, launch), [a, b, c, result])
        assert (result == a @ b + c).all() == specialised
