"""Modules with one product that wgmma can multiply, in any layout, with an epilogue."""

from __future__ import annotations

from dataclasses import dataclass

_ROWS, _COLUMNS = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (j)>"
_STEPS = {
    "bias": "{r} = arith.addf {x}, {y} : f32",
    "residual": "{r} = arith.addf {x}, {y} : f32",
    "gate": "{r} = arith.mulf {x}, {y} : f32",
    "gelu": """{r}_scaled = arith.mulf {x}, %root : f32
        {r}_erf = math.erf {r}_scaled : f32
        {r}_more = arith.addf {r}_erf, %one : f32
        {r}_half = arith.mulf {x}, %half : f32
        {r} = arith.mulf {r}_half, {r}_more : f32""",
    "silu": """{r}_minus = arith.negf {x} : f32
        {r}_exp = math.exp {r}_minus : f32
        {r}_more = arith.addf {r}_exp, %one : f32
        {r} = arith.divf {x}, {r}_more : f32""",
    "relu": "{r} = arith.maximumf {x}, %zero : f32",
}
"""What a step of an epilogue makes of `x`, and of `y` where it has an argument of its own."""
_ARGUMENTS = ("bias", "residual", "gate")


@dataclass(frozen=True)
class GroupProduct:
    """D[m, n] = epilogue(A B), the sum in f32."""

    m: int
    n: int
    k: int
    element: str = "f16"
    out: str = "f16"
    a: str = "mk"
    """How A lies in memory."""
    b: str = "kn"
    epilogue: tuple[str, ...] = ()
    """Steps, in order: those of `_STEPS`."""

    def __str__(self) -> str:
        parts = (f"{self.m}x{self.n}x{self.k}", self.a, self.b, self.element, self.out, *self.epilogue)
        return "-".join(parts)

    def memref(self, axes: str, element: str) -> str:
        """The type of a matrix along some axes."""
        sizes = {"m": self.m, "n": self.n, "k": self.k}
        return f"memref<{'x'.join(str(sizes[axis]) for axis in axes)}x{element}>"

    def source(self) -> str:
        """The module, on memrefs."""
        a, b = self.memref(self.a, self.element), self.memref(self.b, self.element)
        sums, result = self.memref("mn", "f32"), self.memref("mn", self.out)
        extra = [(step, self.memref("n" if step == "bias" else "mn", self.out))
                 for step in self.epilogue if step in _ARGUMENTS]  # fmt: skip
        maps = ", ".join([_ROWS, *(_COLUMNS if step == "bias" else _ROWS for step, _ in extra), _ROWS])
        arguments = "".join(f", %{step}: {type_}" for step, type_ in extra)
        inputs = ", ".join(["%sums", *(f"%{step}" for step, _ in extra)])
        types = ", ".join([sums, *(type_ for _, type_ in extra)])
        elements = "".join(f", %{step}_in: {self.out}" for step, _ in extra)
        order = {letter: f"d{number}" for number, letter in enumerate("mnk")}
        loops = ", ".join(
            f"affine_map<(d0, d1, d2) -> ({', '.join(order[axis] for axis in axes)})>"
            for axes in (self.a, self.b, "mn")
        )
        return f"""func.func @product(%A: {a}, %B: {b}{arguments}, %D: {result}) {{
      %zero = arith.constant 0.0 : f32
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %root = arith.constant 0.70710678 : f32
      %sums = memref.alloc() : {sums}
      linalg.fill ins(%zero : f32) outs(%sums : {sums})
      linalg.generic {{indexing_maps = [{loops}], iterator_types = ["parallel", "parallel", "reduction"]}}
          ins(%A, %B : {a}, {b}) outs(%sums : {sums}) {{
      ^bb0(%x: {self.element}, %y: {self.element}, %sum: f32):
        {_widen("x", self.element)}
        {_widen("y", self.element)}
        %xy = arith.mulf {_wide("x", self.element)}, {_wide("y", self.element)} : f32
        %next = arith.addf %sum, %xy : f32
        linalg.yield %next : f32
      }}
      linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
          ins({inputs} : {types}) outs(%D : {result}) {{
      ^bb0(%e: f32{elements}, %old: {self.out}):
        {self._steps()}
      }}
      return
    }}"""

    def _steps(self) -> str:
        value, lines = "%e", list[str]()
        for number, step in enumerate(self.epilogue):
            if step in _ARGUMENTS:
                lines.append(_widen(f"{step}_in", self.out))
            new = f"%r{number}"
            lines.append(_STEPS[step].format(r=new, x=value, y=_wide(f"{step}_in", self.out)))
            value = new
        if self.out != "f32":
            lines.append(f"%narrow = arith.truncf {value} : f32 to {self.out}")
            value = "%narrow"
        return "\n        ".join([*lines, f"linalg.yield {value} : {self.out}"])


def _wide(name: str, element: str) -> str:
    """A number as f32."""
    return f"%{name}" if element == "f32" else f"%{name}_wide"


def _widen(name: str, element: str) -> str:
    """The line that makes it so, if need be."""
    return "" if element == "f32" else f"%{name}_wide = arith.extf %{name} : {element} to f32"
