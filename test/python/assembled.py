"""Kernels through ptxas, which the test extra installs: without it a test fails, instead of being passed over."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

from mlir_gemm.pipeline import assembler
from mlir_gemm.pipeline.assembler import Usage


def usage(ptx: str, chip: str) -> Usage:
    """The resources that the one kernel of `ptx` takes on `chip`."""
    found = assembler.usage(ptx, chip)
    assert found is not None, f"no ptxas that knows {chip}: the test extra's packages are not installed"
    return found


def machine_code(ptx: str, chip: str, folder: Path) -> str:
    """The machine code of `ptx` as text; `folder` is for what lies between."""
    program = _disassembler()
    assert program, "no nvdisasm: the test extra's packages are not installed"
    output = folder / "kernel.cubin"
    output.write_bytes(assembler.cubin(ptx, chip))
    return subprocess.run([program, "-c", str(output)], capture_output=True, text=True, check=True).stdout


def instructions(ptx: str, chip: str, folder: Path) -> list[str]:
    """The instructions of a kernel's machine code."""
    lines = machine_code(ptx, chip, folder).splitlines()
    return [line.split("*/", 1)[1].strip() for line in lines if re.match(r"\s+/\*[0-9a-f]+\*/ ", line)]


def _disassembler() -> str | None:
    """PyPI's nvidia-cuda-nvdisasm, or one on the PATH."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    packaged = [path for folder in folders for path in Path(folder).glob("*/bin/nvdisasm")]
    return str(packaged[0]) if packaged else shutil.which("nvdisasm")
