"""Every operation of arith and math that the bindings know: compiled and right on the simulator, or refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.dialect.bindings import dialect
from mlir_gemm.simulator.expected import limits, reference, relative_error

COUNT = 32
FLOATS = {
    "arith": ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"),
    "math": ("atan2", "copysign"),
}
FUNCTIONS = ("absf", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc",
             "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "round", "roundeven", "rsqrt", "sin",
             "sinh", "sqrt", "tan", "tanh", "trunc")  # fmt: skip
TESTS = ("isfinite", "isinf", "isnan", "isnormal")
INTEGERS = ("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui", "andi",
            "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui")  # fmt: skip
COUNTS = ("absi", "ctlz", "cttz", "ctpop")
OTHERS = {
    "arith.constant", "arith.negf", "math.powf", "math.fma", "math.clampf", "math.fpowi", "math.ipowi", "math.sincos",
    "arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended", "arith.cmpf", "arith.cmpi", "arith.select",
    "arith.bitcast", "arith.convertf", "arith.extf", "arith.truncf", "arith.fptosi", "arith.fptoui", "arith.sitofp",
    "arith.uitofp", "arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci",
    "arith.flush_denormals",
}  # fmt: skip
REFUSED = {"arith.scaling_extf", "arith.scaling_truncf"}
"""Their scales are of f8E8M0FNU, which no tensor may hold."""


class Body:
    """The lines of a body that adds up, or combines by xor, what its operations give."""

    def __init__(self, element: str, zero: str, combine: str) -> None:
        self.element, self.combine = element, combine
        self.lines = [f"%r0 = arith.constant {zero} : {element}"]
        self.count = 0

    def add(self, operation: str, convert: str = "") -> None:
        """One whose result is %v, or what `convert` makes of it as %w."""
        number = self.count = self.count + 1
        text = operation.replace("%v", f"%v{number}").replace("%u", f"%u{number}")
        self.lines.append(text)
        result = f"%v{number}"
        if convert:
            self.lines.append(convert.replace("%v", f"%v{number}").replace("%w", f"%w{number}"))
            result = f"%w{number}"
        self.lines.append(f"%r{number} = arith.{self.combine} %r{number - 1}, {result} : {self.element}")

    def module(self) -> str:
        type_ = f"tensor<{COUNT}x{self.element}>"
        maps = ", ".join(["affine_map<(i) -> (i)>"] * 3)
        body = "\n    ".join([*self.lines, f"linalg.yield %r{self.count} : {self.element}"])
        return f"""func.func @f(%a: {type_}, %b: {type_}) -> {type_} {{
  %e = tensor.empty() : {type_}
  %0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins(%a, %b : {type_}, {type_}) outs(%e : {type_}) {{
  ^bb0(%x: {self.element}, %y: {self.element}, %o: {self.element}):
    {body}
  }} -> {type_}
  return %0 : {type_}
}}"""


def of_floats(element: str) -> Body:
    body, wide = Body(element, "0.0", "addf"), {"f16": "f32", "bf16": "f32", "f32": "f64"}.get(element, "")
    for name, operations in FLOATS.items():
        for each in operations:
            body.add(f"%v = {name}.{each} %x, %y : {element}")
    for each in FUNCTIONS:
        argument = "%y" if each == "acosh" else "%x"
        body.add(f"%v = math.{each} {argument} : {element}")
    bits = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}[element]
    for each in TESTS:
        body.add(f"%v = math.{each} %x : {element}", f"%w = arith.uitofp %v : i1 to {element}")
    body.add(f"%v = math.powf %x, %y : {element}")
    body.add(f"%v = math.fma %x, %y, %x : {element}")
    body.add(f"%v = math.clampf %x to [%x, %y] : {element}")
    body.add(f"%v, %u = math.sincos %x : {element}")
    body.add(f"%v = arith.negf %x : {element}")
    body.add(f"%v = arith.flush_denormals %x : {element}")
    body.add(f"%v = arith.cmpf ult, %x, %y : {element}", f"%w = arith.select %v, %x, %y : {element}")
    body.add(f"%v = arith.bitcast %x : {element} to {bits}", f"%w = arith.bitcast %v : {bits} to {element}")
    for to, back in (("fptosi", "sitofp"), ("fptoui", "uitofp")):
        body.add(f"%v = arith.{to} %y : {element} to i32", f"%w = arith.{back} %v : i32 to {element}")
    body.add(f"%v = arith.fptosi %y : {element} to i32", f"%w = math.fpowi %x, %v : {element}, i32")
    if wide:
        body.add(f"%v = arith.extf %x : {element} to {wide}", f"%w = arith.truncf %v : {wide} to {element}")
    return body


def of_integers(element: str) -> Body:
    body, wide = Body(element, "0", "xori"), "i64"
    for each in INTEGERS:
        body.add(f"%v = arith.{each} %x, %y : {element}")
    for each in COUNTS:
        body.add(f"%v = math.{each} %x : {element}")
    body.add(f"%v = math.ipowi %x, %y : {element}")
    body.add(f"%u, %v = arith.addui_extended %x, %y : {element}, i1", f"%w = arith.select %v, %x, %y : {element}")
    for each in ("mulsi_extended", "mului_extended"):
        body.add(f"%u, %v = arith.{each} %x, %y : {element}")
    body.add(f"%v = arith.cmpi ult, %x, %y : {element}", f"%w = arith.select %v, %x, %y : {element}")
    if element != wide:
        for each in ("extsi", "extui"):
            body.add(f"%v = arith.{each} %x : {element} to {wide}", f"%w = arith.trunci %v : {wide} to {element}")
    for each in ("index_cast", "index_castui"):
        body.add(f"%v = arith.{each} %x : {element} to index", f"%w = arith.{each} %v : index to {element}")
    return body


def test_every_operation_of_the_bindings_is_known_here() -> None:
    known = OTHERS | REFUSED | {f"arith.{each}" for each in (*FLOATS["arith"], *INTEGERS)}
    known |= {f"math.{each}" for each in (*FLOATS["math"], *FUNCTIONS, *TESTS, *COUNTS)}
    found = {
        name
        for module in (dialect("arith"), dialect("math"))
        for each in vars(module).values()
        if isinstance(name := getattr(each, "OPERATION_NAME", None), str)
    }
    assert found == known


@pytest.mark.parametrize("element", ["f16", "f32", "f64", "i8", "i64"])
def test_all_in_one_body(element: str) -> None:
    text = (of_floats if element.startswith("f") else of_integers)(element).module()
    kernel = mlir_gemm.compile(text, device="simulator")
    rng = np.random.default_rng(0)
    dtype: Any = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i64": np.int64}[element]
    x: Any = rng.uniform(0.05, 0.95, COUNT) if element.startswith("f") else rng.integers(-100, 100, COUNT)
    y: Any = rng.uniform(1.05, 3.5, COUNT) if element.startswith("f") else rng.integers(1, 7, COUNT)
    before = [x.astype(dtype), y.astype(dtype), np.zeros(COUNT, dtype)]
    expected = reference(text, before)
    allowed = limits(kernel.launch.arguments, kernel.kernels, text, before, expected)[-1]
    if element == "f16":
        allowed = 3e-3  # each of 60 sums is rounded
    assert relative_error(np.asarray(kernel(*before[:2])), expected[-1]) <= allowed


@pytest.mark.parametrize("type_", ["bf16", "f16"])
def test_conversion_of_types_of_16_bits(type_: str) -> None:
    other = "bf16" if type_ == "f16" else "f16"
    body = Body(type_, "0.0", "addf")
    body.add(f"%v = arith.convertf %x : {type_} to {other}", f"%w = arith.convertf %v : {other} to {type_}")
    kernel = mlir_gemm.compile(body.module(), device="simulator")
    assert kernel.ptx


def test_scales_of_eight_bits_are_refused_by_name() -> None:
    text = Body("f32", "0.0", "addf")
    text.add("%u = arith.truncf %x : f32 to f8E8M0FNU", "%w = arith.scaling_extf %v, %u1 : f8E4M3FN, f8E8M0FNU to f32")
    text.lines.insert(1, "%v1 = arith.truncf %x : f32 to f8E4M3FN")
    with pytest.raises(mlir_gemm.InputError, match="f8E8M0FNU; expected one of"):
        mlir_gemm.compile(text.module(), device="simulator")
