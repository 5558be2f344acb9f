"""Kernels through ptxas, which the test extra installs: without it a test fails, instead of being passed over."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.assembler import Usage


def usage(ptx: str, chip: str) -> Usage:
    """The resources that the one kernel of `ptx` takes on `chip`."""
    found = assembler.usage(ptx, chip)
    assert found is not None, f"no ptxas that knows {chip}: the test extra's packages are not installed"
    return found


def machine_code(ptx: str, chip: str) -> str:
    """The machine code of `ptx` as text."""
    text = assembler.disassembled(ptx, chip)
    assert text, "no nvdisasm: the test extra's packages are not installed"
    return text


def instructions(ptx: str, chip: str) -> list[str]:
    """The instructions of a kernel's machine code."""
    lines = machine_code(ptx, chip).splitlines()
    return [line.split("*/", 1)[1].strip() for line in lines if re.match(r"\s+/\*[0-9a-f]+\*/ ", line)]


def loads_in_flight(ptx: str, chip: str, folder: Path) -> list[int]:
    """For each arrival at a barrier by which warps release a stage, how many ldmatrix may not have read it yet.

    An instruction says in bits 105 to 125 which of six counters it sets when it has written its result, and for which
    it waits (Jia et al., Dissecting the NVIDIA Volta GPU architecture via microbenchmarking, 2018, section 2.1). Loads
    of a warp come in order."""
    program = assembler.disassembler()
    assert program, "no nvdisasm: the test extra's packages are not installed"
    output = folder / "kernel.cubin"
    output.write_bytes(assembler.cubin(ptx, chip))
    text = subprocess.run([program, "-c", "-hex", str(output)], capture_output=True, text=True, check=True).stdout
    words = re.findall(r"/\*[0-9a-f]{4,}\*/ +(.*?);.*?/\* 0x[0-9a-f]{16} \*/\n\s*/\* 0x([0-9a-f]{16}) \*/", text)
    found, flying, counted = list[int](), list[int](), dict[int, int]()
    for place, (instruction, upper) in enumerate(words):
        control = int(upper, 16) >> 41
        sets, waits = control >> 5 & 7, control >> 11 & 63
        for counter in [each for each in counted if waits >> each & 1]:
            last = counted.pop(counter)
            flying = [load for load in flying if load > last]
        if "LDSM" in instruction:
            flying.append(place)
            if sets < 6:
                counted[sets] = place
        elif sets < 6:
            counted.pop(sets, None)
        if "SYNCS.ARRIVE" in instruction and "A1T0" in instruction:
            found.append(len(flying))
    return found
