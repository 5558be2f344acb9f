"""Kernels of rows as text on memrefs, with what NumPy says in float64: what the tests of rows compile and run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from mlir_gemm.bench.row_modules import KINDS, module
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.kernel import Options, Report
from mlir_gemm.simulator.program import simulate_launch
from mlir_gemm.simulator.stages import run_stage

Array = np.ndarray[Any, Any]
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32,
    "i64": np.int64,
}  # fmt: skip
ROUNDING = {"f16": 2**-11, "bf16": 2**-8, "f32": 2**-22, "f64": 2**-51}
"""Relative error by Frobenius norm that a result may have beside that of its sum's type."""
CHIP = "sm_90a"


@dataclass
class Rows:
    """A function on memrefs, one linalg.generic after another.

    Loops have letters, of which each operand has some: `mn` is a matrix, `m` an element for each of its rows. In a body
    `%x0`, `%x1`, ... are the inputs, floating-point ones in f32 or f64, `%a` is what stood in the output, and `%r` is
    what is computed.
    """

    sizes: dict[str, int]
    dynamic: str = ""
    """Loops whose sizes are known at run time only."""
    arguments: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])
    operands: dict[str, tuple[str, str, str]] = field(default_factory=dict[str, tuple[str, str, str]])
    """Letters, element type and type of each operand."""

    def shape(self, loops: str) -> tuple[int, ...]:
        return tuple(self.sizes[loop] for loop in loops)

    def argument(self, name: str, loops: str, element: str, layout: str = "") -> None:
        self.operands[name] = loops, element, self._type(loops, element, layout)
        self.arguments.append(name)

    def reduce(self, name: str, inputs: str, start: str, *body: str, kept: str = "m", element: str = "f32") -> None:
        """A reduction of operands, given by their names, into one of the loops `kept`."""
        self._made(name, kept, element)
        self._constant(name, start, element)
        type_ = self.operands[name][2]
        self.lines.append(f"linalg.fill ins(%start_{name} : {element}) outs(%{name} : {type_})")
        self._generic(name, inputs.split(), body, kept)

    def map(self, name: str, inputs: str, *body: str, kept: str = "mn", element: str = "f32") -> None:
        """An elementwise operation."""
        self._made(name, kept, element)
        self._generic(name, inputs.split(), body, "".join(self.sizes) if len(kept) > 1 else kept)

    def text(self) -> str:
        signature = ", ".join(f"%{name}: {self.operands[name][2]}" for name in self.arguments)
        return "\n  ".join([f"func.func @rows({signature}) {{", *self.lines, "return"]) + "\n}\n"

    def _type(self, loops: str, element: str, layout: str = "") -> str:
        shape = "".join("?x" if loop in self.dynamic else f"{self.sizes[loop]}x" for loop in loops)
        return f"memref<{shape}{element}{', ' if layout else ''}{layout}>"

    def _made(self, name: str, loops: str, element: str) -> None:
        if name not in self.operands:
            type_ = self._type(loops, element)
            sizes = ", ".join(f"%size_{loop}" for loop in loops if loop in self.dynamic)
            for axis, loop in enumerate(self.operands["A"][0]):
                if loop in self.dynamic and f"%size_{loop} =" not in "".join(self.lines):
                    self.lines.append(f"%at_{loop} = arith.constant {axis} : index")
                    self.lines.append(f"%size_{loop} = memref.dim %A, %at_{loop} : {self.operands['A'][2]}")
            self.lines.append(f"%{name} = memref.alloc({sizes}) : {type_}")
            self.operands[name] = loops, element, type_

    def _constant(self, name: str, value: str, element: str) -> None:
        self.lines.append(f"%start_{name} = arith.constant {value} : {element}")

    def _generic(self, name: str, inputs: Sequence[str], body: Sequence[str], kept: str) -> None:
        all_ = [loop for loop in self.sizes if any(loop in self.operands[each][0] for each in (*inputs, name))]
        maps = ", ".join(f"affine_map<({', '.join(all_)}) -> ({', '.join(self.operands[each][0])})>"
                         for each in (*inputs, name))  # fmt: skip
        kinds = ", ".join(
            '"parallel"' if loop in kept or loop in self.operands[name][0] else '"reduction"' for loop in all_
        )
        types = ", ".join(self.operands[each][2] for each in inputs)
        out = self.operands[name][1]
        arguments = [f"%{'x' if not _narrow(self.operands[each][1]) else 'n'}{place}: {self.operands[each][1]}"
                     for place, each in enumerate(inputs)]  # fmt: skip
        wide = [f"%x{place} = arith.extf %n{place} : {self.operands[each][1]} to f32"
                for place, each in enumerate(inputs) if _narrow(self.operands[each][1])]  # fmt: skip
        last = ["linalg.yield %r : " + out]
        if _narrow(out) and not any(line.startswith("%narrow") for line in body):
            last = [f"%narrow = arith.truncf %r : f32 to {out}", "linalg.yield %narrow : " + out]
        elif any(line.startswith("%narrow") for line in body):
            last = ["linalg.yield %narrow : " + out]
        self.lines += [
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
            f"  ins({', '.join('%' + each for each in inputs)} : {types}) outs(%{name} : {self.operands[name][2]}) {{",
            f"^bb0({', '.join(arguments)}, %a: {out}):", *wide, *body, *last, "}",
        ]  # fmt: skip


def _narrow(element: str) -> bool:
    return element in ("f16", "bf16")


@dataclass(frozen=True)
class Case:
    """A kernel, the arrays that it is called with, and what it is to leave in the last of them."""

    text: str
    arrays: list[Array]
    wanted: list[Array]
    """In float64, one for each result; the last arguments."""
    tolerance: float = 2**-20
    """The relative error by Frobenius norm that is allowed in f32, beside that of rounding the result."""

    def outputs(self, arrays: Sequence[Array]) -> list[Array]:
        return list(arrays[len(arrays) - len(self.wanted) :])

    def fresh(self) -> list[Array]:
        """Copies of the arrays, as they lie in memory."""
        return [same_layout(array) for array in self.arrays]

    def check(self, arrays: Sequence[Array]) -> None:
        for got, wanted in zip(self.outputs(arrays), self.wanted, strict=True):
            close(got, wanted, self.tolerance)


def same_layout(array: Array) -> Array:
    """A copy with the strides of an array."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    copied = base.copy()
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, copied, offset, array.strides)


def close(got: Array, wanted: Array, tolerance: float = 2**-20) -> None:
    """Asserts that what is infinite or NaN is so in both, and that the rest differs by no more than rounding does."""
    values = got.astype(np.float64)
    assert np.array_equal(np.isnan(values), np.isnan(wanted))
    assert np.array_equal(values[np.isinf(values)], wanted[np.isinf(values)])
    finite = np.isfinite(wanted)
    error, norm = np.linalg.norm((values - wanted)[finite]), np.linalg.norm(wanted[finite])
    if got.dtype.kind == "i":
        assert error == 0
    name = next(name for name, dtype in DTYPES.items() if np.dtype(dtype) == got.dtype)
    rounding = {"f16": 2.0**-11, "bf16": 2.0**-8, "f64": -tolerance + 2.0**-48}.get(name, 0.0)
    assert error <= (tolerance + rounding) * norm + 1e-30, f"relative error {error / norm:.1e}"


def numbers(rng: np.random.Generator, shape: tuple[int, ...], element: str) -> Array:
    values = rng.integers(-9, 10, shape) if element.startswith("i") else rng.standard_normal(shape)
    return values.astype(DTYPES[element])


def nothing(shape: tuple[int, ...], element: str) -> Array:
    """Memory for a result that would show if nobody wrote it."""
    return np.full(shape, -77 if element.startswith("i") else np.nan, DTYPES[element])


def softmax(x: Array) -> Array:
    with np.errstate(all="ignore"):
        powers = np.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)


def _centred(x: Array) -> Array:
    return x - x.mean(-1, keepdims=True)


NUMPY: dict[str, Callable[..., Array]] = {
    "softmax": softmax,
    "log_softmax": lambda x: (
        x - x.max(-1, keepdims=True) - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))
    ),
    "layer_norm": lambda x, w, b: _centred(x) / np.sqrt(np.square(_centred(x)).mean(-1, keepdims=True) + 1e-5) * w + b,
    "rms_norm": lambda x, w: x / np.sqrt(np.square(x).mean(-1, keepdims=True) + 1e-6) * w,
    "row_sum": lambda x: x.sum(-1),
    "column_sum": lambda x: x.sum(0),
}
"""What the kernels that are measured compute."""


def measured(kind: str, m: int, n: int, element: str, seed: int = 0) -> Case:
    """One of the kernels that are measured."""
    rng = np.random.default_rng([seed, m, n])
    given = [numbers(rng, (m, n), element), *(numbers(rng, (n,), element) for _ in range(KINDS[kind].operands))]
    result = KINDS[kind].result
    out = nothing({"mn": (m, n), "m": (m,), "n": (n,)}[result], element if result == "mn" else "f32")
    with np.errstate(all="ignore"):
        wanted = NUMPY[kind](*(each.astype(np.float64) for each in given))
    scale = np.linalg.norm(given[0].astype(np.float64)) if kind.endswith("sum") else 0.0
    cancelled = max(1.0, scale / max(float(np.linalg.norm(wanted)), 1e-30))  # a sum may be small beside its summands
    return Case(module(kind, m, n, element), [*given, out], [wanted], 2**-20 * cancelled)


def compiled(case: Case, *stages: str, until: str = "lower") -> Compilation:
    return compile_module(case.text, chip=CHIP, until=until, keep=stages or (until,))


def fields(threads: int, across: int, vector: int, tile: str, more: str = "") -> str:
    """A schedule of rows as text; `more` are further fields as MLIR has them."""
    given = f"threads = {threads} : i64, across = {across} : i64, vector = {vector} : i64"
    return f"{given}, tile = [{tile}]{', ' if more else ''}{more}"


def pinned(case: Case, schedule: str) -> Case:
    """A case whose source fixes how rows are divided."""
    text = case.text.replace(") {\n", f") attributes {{tile.rows = {{{schedule}}}}} {{\n", 1)
    return Case(text, case.arrays, case.wanted, case.tolerance)


def run(case: Case, kernel: Compilation | None = None) -> tuple[list[Array], Report]:
    """The arrays after a run of the lowered kernel in the simulator with all checks, and the report."""
    arrays, kernel = case.fresh(), kernel or compiled(case)
    return arrays, simulate_launch(kernel.ir("lower"), kernel.launch, arrays, Options(checks=True))


def check_stages(case: Case, kernel: Compilation, stages: Sequence[str]) -> None:
    """Runs the IR after each of these stages, but for those that did nothing to it, and checks what it gives."""
    before = ""
    for stage in stages:
        said = re.sub(r'tile\.(stage|reference) = "(\\.|[^"\\])*"', "", kernel.ir(stage))
        if said != before:  # many stages do nothing to rows
            arrays = case.fresh()
            run_stage(kernel.ir(stage), arrays)
            case.check(arrays)
        before = said
