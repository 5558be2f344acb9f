"""`mlir-gemm info`: what is installed, which devices there are, and what a chip multiplies, for a reader and for bug
reports."""

from __future__ import annotations

import argparse
import importlib.metadata
import io
import platform
from typing import Any

from mlir_gemm.dialect import bindings
from mlir_gemm.parts.base import Form
from mlir_gemm.parts.registry import mainloops_on, mmas_on
from mlir_gemm.runtime.cache import cache_directory
from mlir_gemm.runtime.info import describe_devices
from mlir_gemm.runtime.own_chip import own_chip
from mlir_gemm.spec.extensions import registered
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.chips import CHIPS, PRODUCTS, target
from mlir_gemm.tools.json_output import text_of
from mlir_gemm.tools.report import table
from mlir_gemm.version import __version__


def run(arguments: argparse.Namespace) -> int:
    chip = target(arguments.chip or own_chip().chip)
    if arguments.json:
        print(text_of(_data(chip)))
        return 0
    rows = [
        ("mlir-gemm", __version__),
        ("python", platform.python_version()),
        ("bindings", f"{bindings.PACKAGE} ({_bindings_version()})"),
        ("mlir", _mlir_version()),
        *((package, _version(package)) for package in ("numpy", "ml-dtypes", "cuda-bindings", "cuda-core")),
    ]
    devices = describe_devices()
    for number, device in enumerate(devices):
        rows.append((f"device {number}", ", ".join(f"{name} {value}" for name, value in device.items())))
    if not devices:
        rows.append(("devices", "no GPU found"))
    default = own_chip()
    rows += [("default chip", f"{default.chip} ({default.why})"), ("cache", str(cache_directory() or "off"))]
    rows += [("chips", ", ".join(f"{each} ({CHIPS[each].name})" for each in CHIPS))]
    rows += [("by product", ", ".join(f"{product} ({name})" for product, name in sorted(PRODUCTS.items())))]
    rows += [(f"{mma.name} on {chip.chip}", mma.shown_forms()) for mma in mmas_on(chip)]
    rows += [(f"main loops on {chip.chip}", ", ".join(each.name for each in mainloops_on(chip)))]
    rows += [(f"{each.kind} '{each.name}'", f"registered by {each.origin}") for each in registered()]
    print(table(rows))
    return 0


def _data(chip: Target) -> dict[str, Any]:
    return {
        "mlir_gemm": __version__,
        "python": platform.python_version(),
        "bindings": _bindings_version(),
        "mlir": _mlir_version(),
        "packages": {name: _version(name) for name in ("numpy", "ml-dtypes", "cuda-bindings", "cuda-core")},
        "devices": describe_devices(),
        "default_chip": own_chip().chip,
        "default_chip_because": own_chip().why,
        "cache": cache_directory(),
        "chips": {each: CHIPS[each].name for each in CHIPS},
        "products": dict(PRODUCTS),
        "chip": chip.chip,
        "mmas": {mma.name: [_form(each) for each in mma.forms] for mma in mmas_on(chip)},
        "mainloops": [each.name for each in mainloops_on(chip)],
        "registered": [{"kind": each.kind, "name": each.name, "origin": each.origin} for each in registered()],
    }


def _form(form: Form) -> dict[str, Any]:
    return {**form._asdict(), "needs": sorted(form.needs)}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _bindings_version() -> str:
    distribution = bindings.PACKAGE.partition(".")[0].replace("_", "-")
    return f"{distribution} {_version(distribution)}"


def _mlir_version() -> str:
    """The version that the bindings write into bytecode: they have no other way to tell it."""
    buffer = io.BytesIO()
    with bindings.ir.Context(), bindings.ir.Location.unknown():
        bindings.ir.Module.create().operation.write_bytecode(buffer)
    # Four bytes of magic, one with the bytecode's version, then the producer, ended by a zero byte.
    return buffer.getvalue()[5:].partition(b"\0")[0].decode(errors="replace").removeprefix("MLIR")
