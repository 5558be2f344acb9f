"""The report of one compilation, as text."""

from __future__ import annotations

from mlir_gemm.pipeline.assembler import usage
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.launch import Launch


def report(compilation: Compilation) -> str:
    """Problem, schedule, launch, resources and the time of each stage, one `name: value` a line."""
    rows = [("problem", str(compilation.problem)), ("chip", _chip(compilation))]
    if compilation.schedule:
        rows.append(("schedule", str(compilation.schedule)))
    if compilation.launch:
        rows += launch_rows(compilation.launch)
    if compilation.ptx:
        rows += [("ptx", f"{len(compilation.ptx.splitlines())} lines"), *_resources(compilation)]
    total = sum(compilation.timings.values())
    rows += [(f"time {name}", f"{1e3 * seconds:.1f} ms") for name, seconds in compilation.timings.items()]
    rows.append(("time in all", f"{1e3 * total:.1f} ms"))
    return table(rows)


def launch_rows(launch: Launch) -> list[tuple[str, str]]:
    """How a kernel is launched, as rows of a table."""
    shape = f"grid {_triple(launch.grid)}, block {_triple(launch.block)}, cluster {_triple(launch.cluster)}"
    return [
        ("entry", launch.entry),
        ("launch", shape),
        ("dynamic shared", f"{launch.shared_bytes} bytes"),
        ("arguments", ", ".join(f"{a.name}: {_shape(a.shape)}x{a.dtype} ({a.role})" for a in launch.arguments)),
    ]


def table(rows: list[tuple[str, str]]) -> str:
    """Rows of name and value with the values aligned."""
    width = max(len(name) for name, _ in rows) + 1
    return "\n".join(f"{name + ':':<{width}} {value}" for name, value in rows)


def _chip(compilation: Compilation) -> str:
    return f"{compilation.target.chip} ({compilation.target.name})"


def _resources(compilation: Compilation) -> list[tuple[str, str]]:
    found = usage(compilation.ptx or "", compilation.target.chip)
    if found is None:
        return [("registers", "unknown: no ptxas for this chip (pip install nvidia-cuda-nvcc)")]
    return [
        ("registers", f"{found.registers} a thread, {found.spill_bytes} bytes spilled"),
        ("static shared", f"{found.shared_bytes} bytes"),
    ]


def _triple(sizes: tuple[int, int, int]) -> str:
    return "x".join(map(str, sizes))


def _shape(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))
