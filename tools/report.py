"""The report of one compilation, as text."""

from __future__ import annotations

from mlir_gemm.parts.fields import summary
from mlir_gemm.pipeline.assembler import Usage
from mlir_gemm.pipeline.codes import usages
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.spec.backends import BACKENDS
from mlir_gemm.spec.kernel_record import REDUCTION, KernelRecord
from mlir_gemm.spec.launch import Argument, Launch, Step
from mlir_gemm.spec.sizes import Size, shown
from mlir_gemm.spec.tensor_map import TensorMap
from mlir_gemm.tile_model.rows import explain_rows


def report(compilation: Compilation) -> str:
    """Problem, schedule, launch, resources and the time of each stage, one `name: value` a line; of a program, a
    section for each kernel."""
    kernels, launch = compilation.kernels, compilation.launch
    found = usages(compilation.target, compilation.code)
    if len(kernels) == 1 and not (launch is not None and launch.is_program):
        (kernel,) = kernels
        rows = [("problem", _problem(kernel)), ("chip", chip_in_words(compilation))]
        rows += _schedule_rows(kernel)
        rows += _more(kernel)
        rows += launch_rows(launch) if launch else []
        rows += _code_row(compilation)
        rows += resource_rows(found, launch.entry) if isinstance(compilation.code, str) and launch else []
        return table([*rows, *_times(compilation)])
    rows = [("kernels", str(len(kernels))), ("chip", chip_in_words(compilation))]
    parts = [table([*rows, *([("note", compilation.note)] if compilation.note else [])])]
    for kernel in kernels:
        entry = None if launch is None or kernel.step is None else launch.steps[kernel.step].entry
        rows = kernel_rows(kernel, launch)
        parts.append(
            table([*rows, *(resource_rows(found, entry) if isinstance(compilation.code, str) and entry else [])])
        )
    rows = launch_rows(launch) if launch else []
    parts.append(table([*rows, *_code_row(compilation), *_times(compilation)]))
    return "\n\n".join(parts)


def kernel_rows(kernel: KernelRecord, launch: Launch | None) -> list[tuple[str, str]]:
    """What is known of one kernel of a program, as rows of a table."""
    rows = [("kernel", kernel.name), ("problem", _problem(kernel))]
    rows += _schedule_rows(kernel)
    rows += _more(kernel)
    rows += [(f"after {name}", why) for name, why in kernel.cuts]
    if launch is not None and kernel.step is not None:
        rows += _step_rows(launch.steps[kernel.step], launch)
    return rows


def _more(kernel: KernelRecord) -> list[tuple[str, str]]:
    """The products that are launched with it, and what there is to say of it."""
    beside = [(f"beside {name}", str(problem)) for name, problem in kernel.beside]
    return [*beside, *([("note", kernel.note)] if kernel.note else [])]


def _problem(kernel: KernelRecord) -> str:
    """What a kernel computes; of one that is not a product, its kind."""
    if kernel.problem is not None:
        return str(kernel.problem)
    if kernel.kind == REDUCTION:
        return f"sums of products ({kernel.kind})"
    return f"{kernel.kind}: {kernel.row_problem}" if kernel.row_problem else kernel.kind


def _schedule_rows(kernel: KernelRecord) -> list[tuple[str, str]]:
    """A schedule in one line for people, and in full, as `--schedule` takes it; of rows, how they are divided."""
    if kernel.rows is not None:
        why = [("because", explain_rows(kernel.row_problem, kernel.rows))] if kernel.row_problem else []
        return [("schedule", str(kernel.rows)), *why]
    if kernel.schedule is None:
        return []
    return [("made of", summary(kernel.schedule)), ("schedule", str(kernel.schedule))]


def launch_rows(launch: Launch) -> list[tuple[str, str]]:
    """How what was compiled is launched, as rows of a table: all of one kernel, and of a program what its kernels do
    not say themselves."""
    arguments = ("arguments", ", ".join(map(_argument, launch.arguments)))
    if not launch.is_program:
        return [*_step_rows(launch.steps[0], launch), arguments]
    rows = [("steps", " -> ".join(step.entry for step in launch.steps) or "none"), arguments]
    if launch.symbols:
        buffers = ", ".join(shown(buffer.bytes) for buffer in launch.buffers) or "none"
        rows.append(("buffers", f"{buffers} (bytes; placed at each call)"))
    else:
        buffers = sum(buffer.bytes for buffer in launch.buffers)
        rows.append(("workspace", f"{launch.workspace_bytes} bytes for {len(launch.buffers)} buffers of {buffers}"))
    if launch.constants:
        rows.append(("constants", ", ".join(f"{c.name}: {_shape(c.shape)}x{c.dtype}" for c in launch.constants)))
    return rows


def _step_rows(step: Step, launch: Launch) -> list[tuple[str, str]]:
    shape = f"grid {_shape(step.grid)}, block {_shape(step.block)}, cluster {_shape(step.cluster)}"
    shape += ", dependent launch" if step.dependent_launch else ""
    shape += ", all blocks at once" if step.cooperative else ""
    rows = [("entry", step.entry), ("launch", shape), ("dynamic shared", f"{step.shared_bytes} bytes")]
    if step.tensor_maps:
        rows.append(("tensor maps", ", ".join(_map(each, launch) for each in step.tensor_maps)))
    return rows


def _map(map_: TensorMap, launch: Launch) -> str:
    """The memory that a tensor map describes, the boxes that it moves, and their layout in shared memory."""
    names = [
        *(argument.name for argument in launch.arguments),
        *(f"buffer {number}" for number in range(len(launch.buffers))),
        *(constant.name for constant in launch.constants),
    ]
    return f"{names[map_.memory]} (boxes {_shape(map_.box)} of {map_.dtype}, swizzle {map_.swizzle})"


def _argument(argument: Argument) -> str:
    layout = "" if argument.strides is None else f", strides {_shape(argument.strides)}"
    layout += f", offset {argument.offset}" if argument.offset else ""
    return f"{argument.name}: {_shape(argument.shape)}x{argument.dtype} ({argument.role}{layout})"


def table(rows: list[tuple[str, str]]) -> str:
    """Rows of name and value with the values aligned."""
    width = max(len(name) for name, _ in rows) + 1
    return "\n".join(f"{name + ':':<{width}} {value}" for name, value in rows)


def chip_in_words(compilation: Compilation) -> str:
    return f"{compilation.target.chip} ({compilation.target.name})"


def _code_row(compilation: Compilation) -> list[tuple[str, str]]:
    code, name = compilation.code, BACKENDS[compilation.target.backend].last
    return [(name, f"{len(code.splitlines())} lines")] if code and isinstance(code, str) else []


def _times(compilation: Compilation) -> list[tuple[str, str]]:
    rows = [(f"time {name}", f"{1e3 * seconds:.1f} ms") for name, seconds in compilation.timings.items()]
    return [*rows, ("time in all", f"{1e3 * sum(compilation.timings.values()):.1f} ms")]


def resource_rows(found: dict[str, Usage] | None, entry: str) -> list[tuple[str, str]]:
    if found is None or entry not in found:
        return [("registers", "unknown: no ptxas for this chip (pip install nvidia-cuda-nvcc)")]
    return [
        ("registers", f"{found[entry].registers} a thread, {found[entry].spill_bytes} bytes spilled"),
        ("static shared", f"{found[entry].shared_bytes} bytes"),
    ]


def _shape(sizes: tuple[Size, ...]) -> str:
    return "x".join(f"[{shown(size)}]" if isinstance(size, tuple) else str(size) for size in sizes)
