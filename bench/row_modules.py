"""Kernels of rows to measure: their MLIR on memrefs, and what PyTorch calls them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_HEADER = """#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#one = affine_map<(m) -> (m)>
"""


@dataclass(frozen=True)
class RowKind:
    """One function of the rows of a matrix."""

    name: str
    operands: int
    """Vectors beside the matrix, an element for each column."""
    result: str
    """Of what the result has an element: `mn`, `m` or `n`."""
    steps: Callable[[int, int, str], list[str]]
    """The linalg of it, for rows, columns and the element type."""
    torch: Callable[[Any, Any, list[Any]], Any]
    """The same in PyTorch, from the library, the matrix and the vectors."""


def _buffer(name: str, type_: str) -> list[str]:
    """The memory for a value; that for the result is an argument."""
    return [] if name == "R" else [f"  %{name} = memref.alloc() : {type_}"]


def _reduce(
    name: str, m: int, n: int, source: tuple[str, str], start: str, lines: list[str], along: str = "m"
) -> list[str]:
    """A reduction along rows (`m` is left) or columns, of `%x` to `%r`; `lines` compute `%r` from `%x` and `%a`."""
    kinds = '"parallel", "reduction"' if along == "m" else '"reduction", "parallel"'
    shape = str(m if along == "m" else n)
    operand, element = source
    return [
        *_buffer(name, f"memref<{shape}xf32>"),
        f"  linalg.fill ins({start} : f32) outs(%{name} : memref<{shape}xf32>)",
        f"  linalg.generic {{indexing_maps = [#mn, #{along}], iterator_types = [{kinds}]}}",
        f"    ins({operand} : memref<{m}x{n}x{element}>) outs(%{name} : memref<{shape}xf32>) {{",
        f"  ^bb0({'%x' if element == 'f32' else '%x0'}: {element}, %a: f32):",
        *(["    %x = arith.extf %x0 : " + element + " to f32"] if element != "f32" else []),
        *(f"    {line}" for line in lines),
        "    linalg.yield %r : f32",
        "  }",
    ]  # fmt: skip


def _map(name: str, m: int, n: int, inputs: list[tuple[str, str, str]], out: str, lines: list[str]) -> list[str]:
    """An elementwise operation; `inputs` are (value, map, element); `lines` compute `%r` from `%i0`, `%i1`, ..., all
    of f32."""
    shapes = {"mn": f"{m}x{n}x", "m": f"{m}x", "n": f"{n}x"}
    types = ", ".join(f"memref<{shapes[map_]}{element}>" for _, map_, element in inputs)
    extended = [
        f"    %i{k} = arith.extf %q{k} : {element} to f32"
        for k, (_, _, element) in enumerate(inputs)
        if element != "f32"
    ]
    names = [f"%i{k}" if element == "f32" else f"%q{k}" for k, (_, _, element) in enumerate(inputs)]
    block = ", ".join(f"{name_}: {element}" for name_, (_, _, element) in zip(names, inputs, strict=True))
    rounded = [] if out == "f32" else [f"    %t = arith.truncf %r : f32 to {out}"]
    maps = ", ".join(f"#{map_}" for _, map_, _ in inputs)
    return [
        *_buffer(name, f"memref<{m}x{n}x{out}>"),
        f'  linalg.generic {{indexing_maps = [{maps}, #mn], iterator_types = ["parallel", "parallel"]}}',
        f"    ins({', '.join(value for value, _, _ in inputs)} : {types}) outs(%{name} : memref<{m}x{n}x{out}>) {{",
        f"  ^bb0({block}, %o: {out}):",
        *extended,
        *("    " + line for line in lines),
        *rounded,
        f"    linalg.yield {'%t' if rounded else '%r'} : {out}",
        "  }",
    ]


_SUM = ["%r = arith.addf %x , %a : f32"]


def _softmax(m: int, n: int, e: str, log: bool) -> list[str]:
    exponent = ["%d = arith.subf %i0, %i1 : f32", "%r = math.exp %d : f32"]
    last = ["%d = arith.subf %i0, %i1 : f32", "%l = math.log %i2 : f32", "%r = arith.subf %d, %l : f32"]
    shifted = [("%A", "mn", e), ("%most", "m", "f32")]
    return [
        "  %least = arith.constant 0xFF800000 : f32",
        *_reduce("most", m, n, ("%A", e), "%least", ["%r = arith.maximumf %x , %a : f32"]),
        *_map("e", m, n, shifted, "f32", exponent),
        *_reduce("sum", m, n, ("%e", "f32"), "%zero", _SUM),
        *(_map("R", m, n, [*shifted, ("%sum", "m", "f32")], e, last) if log else
          _map("R", m, n, [("%e", "mn", "f32"), ("%sum", "m", "f32")], e, ["%r = arith.divf %i0, %i1 : f32"])),
    ]  # fmt: skip


def _factor(n: int, tiny: float) -> list[str]:
    """From the sum of squares `%i1`, the factor of its row, and `%g`, the first input times that."""
    return [
        f"%c = arith.constant {float(n)} : f32",
        f"%tiny = arith.constant {tiny:.1e} : f32",
        "%v = arith.divf %i1, %c : f32",
        "%w = arith.addf %v, %tiny : f32",
        "%f = math.rsqrt %w : f32",
        "%g = arith.mulf %i0, %f : f32",
    ]


def _layer_norm(m: int, n: int, e: str) -> list[str]:
    size = float(n)
    centred = [
        f"%c = arith.constant {size} : f32",
        "%mean = arith.divf %i1, %c : f32",
        "%r = arith.subf %i0, %mean : f32",
    ]
    squares = ["%s = arith.mulf %x , %x  : f32", "%r = arith.addf %s, %a : f32"]
    last = [*_factor(n, 1e-5), "%h = arith.mulf %g, %i2 : f32", "%r = arith.addf %h, %i3 : f32"]
    return [
        *_reduce("sum", m, n, ("%A", e), "%zero", _SUM),
        *_map("d", m, n, [("%A", "mn", e), ("%sum", "m", "f32")], "f32", centred),
        *_reduce("squares", m, n, ("%d", "f32"), "%zero", squares),
        *_map("R", m, n, [("%d", "mn", "f32"), ("%squares", "m", "f32"), ("%V0", "n", e), ("%V1", "n", e)], e, last),
    ]


def _rms_norm(m: int, n: int, e: str) -> list[str]:
    squares = ["%s = arith.mulf %x , %x  : f32", "%r = arith.addf %s, %a : f32"]
    last = [*_factor(n, 1e-6), "%r = arith.mulf %g, %i2 : f32"]
    return [
        *_reduce("squares", m, n, ("%A", e), "%zero", squares),
        *_map("R", m, n, [("%A", "mn", e), ("%squares", "m", "f32"), ("%V0", "n", e)], e, last),
    ]


def _sums(m: int, n: int, e: str, along: str) -> list[str]:
    return _reduce("R", m, n, ("%A", e), "%zero", _SUM, along)


def _torch_layer_norm(torch: Any, a: Any, vectors: list[Any]) -> Any:
    return torch.nn.functional.layer_norm(a, a.shape[-1:], *vectors, 1e-5)


def _torch_rms_norm(torch: Any, a: Any, vectors: list[Any]) -> Any:
    return torch.nn.functional.rms_norm(a, a.shape[-1:], *vectors, 1e-6)


def _torch_sum(dim: int) -> Callable[[Any, Any, list[Any]], Any]:
    return lambda torch, a, _: torch.sum(a, dim, dtype=torch.float64 if a.dtype == torch.float64 else torch.float32)


_ALL = (
    RowKind("softmax", 0, "mn", lambda m, n, e: _softmax(m, n, e, False), lambda torch, a, _: torch.softmax(a, -1)),
    RowKind("log_softmax", 0, "mn", lambda m, n, e: _softmax(m, n, e, True),
            lambda torch, a, _: torch.log_softmax(a, -1)),
    RowKind("layer_norm", 2, "mn", _layer_norm, _torch_layer_norm),
    RowKind("rms_norm", 1, "mn", _rms_norm, _torch_rms_norm),
    RowKind("row_sum", 0, "m", lambda m, n, e: _sums(m, n, e, "m"), _torch_sum(-1)),
    RowKind("column_sum", 0, "n", lambda m, n, e: _sums(m, n, e, "n"), _torch_sum(0)),
)  # fmt: skip
KINDS = {each.name: each for each in _ALL}


def module(kind: str, m: int, n: int, element: str) -> str:
    """A function on memrefs: the matrix, the vectors, and the memory for the result."""
    row = KINDS[kind]
    arguments = [f"%A: memref<{m}x{n}x{element}>", *(f"%V{k}: memref<{n}x{element}>" for k in range(row.operands))]
    result = {"mn": f"memref<{m}x{n}x{element}>", "m": f"memref<{m}xf32>", "n": f"memref<{n}xf32>"}[row.result]
    return _HEADER + "\n".join([
        f"func.func @rows({', '.join([*arguments, f'%R: {result}'])}) {{",
        "  %zero = arith.constant 0.0 : f32",
        *row.steps(m, n, element),
        "  return", "}", "",
    ])  # fmt: skip
