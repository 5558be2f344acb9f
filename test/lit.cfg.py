"""The lit suite: `lit test` in the source tree, or `check-mlir-gemm` in a CMake build.

lit defines `config` and `lit_config`. A site configuration may set `config.python_executable` and `test_exec_root`.
"""

# ruff: noqa: F821

import os
import re
import shutil
import sys

import lit.formats

config.name = "mlir-gemm"
config.test_format = lit.formats.ShTest(False)  # lit's own shell: the same on every system
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
if config.test_exec_root is None:
    config.test_exec_root = os.path.join(os.path.dirname(config.test_source_root), "build", "test")

python = getattr(config, "python_executable", None) or sys.executable
# LLVM's FileCheck where there is one, else PyPI's. Tests use only what both know: no numeric captures ([[#N:]]).
filecheck = shutil.which("FileCheck") or f"{python} -m filecheck"


def command(word):
    """Matches `word` where it stands as a command, not as part of a path or of another word."""
    return rf"(?<![\w./-]){re.escape(word)}(?![\w./-])"


config.substitutions += [
    (command("mlir-gemm"), f"{python} -m mlir_gemm.tools.main"),
    (command("FileCheck"), filecheck),
    ("%python", python),
    ("%examples", os.path.join(os.path.dirname(config.test_source_root), "examples")),
]
