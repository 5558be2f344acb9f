"""`mlir-gemm completion`: what a shell needs to complete commands, options and file names."""

from __future__ import annotations

import argparse
import importlib


def run(arguments: argparse.Namespace) -> int:
    from mlir_gemm.tools.main import make_parser  # late: that module loads this one

    shtab = importlib.import_module("shtab")
    print(shtab.complete(make_parser(), shell=arguments.shell))
    return 0
