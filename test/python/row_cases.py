"""Kernels of rows of all sorts: element types, layouts, several results, several reduced dimensions, odd values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from row_kernels import DTYPES, NUMPY, Array, Case, Rows, measured, nothing, numbers, softmax

COMBINERS: dict[str, tuple[str, Callable[..., Array]]] = {
    "arith.maximumf": ("0xFF800000", np.max), "arith.minimumf": ("0x7F800000", np.min),
    "arith.addf": ("0.0", np.sum), "arith.mulf": ("1.0", np.prod),
    "arith.maxsi": ("-128", np.max), "arith.minsi": ("127", np.min),
    "arith.addi": ("0", np.sum), "arith.muli": ("1", np.prod),
}  # fmt: skip
"""Operations that combine, with what they start from and NumPy's name."""


def reduced(combiner: str, m: int, n: int, element: str, layout: str = "", kept: str = "m", seed: int = 0) -> Case:
    """Rows, or columns, combined by one operation. Layouts: `strided` rows, `transposed` memory."""
    start, numpy = COMBINERS[combiner]
    if element == "f64" and start.startswith("0x"):
        start = {"0xFF800000": "0xFFF0000000000000", "0x7F800000": "0x7FF0000000000000"}[start]
    out = element if element in ("f64", "i32", "i8") else "f32"
    rows = Rows({"m": m, "n": n})
    strides = {"": "", "strided": f"strided<[{n + 5}, 1]>", "transposed": f"strided<[1, {m}]>"}[layout]
    rows.argument("A", "mn", element, strides)
    rows.argument("R", kept, out)
    rows.reduce("R", "A", start, f"%r = {combiner} %x0, %a : {out}", kept=kept, element=out)
    rng = np.random.default_rng([seed, m, n])
    shape = {"": (m, n), "strided": (m, n + 5), "transposed": (n, m)}[layout]
    memory = numbers(rng, shape, element)
    if "mul" in combiner:
        memory = np.where(memory > 0, DTYPES[element](1), DTYPES[element](-1)) if element.startswith("i") else memory
        memory = memory if element.startswith("i") else (1 + memory / n).astype(DTYPES[element])
    a = {"": memory, "strided": memory[:, :n], "transposed": memory.T}[layout]
    wide = a.astype(np.float64)
    wanted = numpy(wide, axis=1 if kept == "m" else 0)
    scale = np.sqrt(max(m, n)) * float(np.linalg.norm(wide)) / max(float(np.linalg.norm(wanted)), 1e-30)
    result = nothing((m,) if kept == "m" else (n,), out)
    tolerance = 2**-20 * max(1.0, scale) if out == "f32" else 2**-48 * max(1.0, scale)
    return Case(rows.text(), [a, result], [wanted.astype(np.float64)], tolerance)


def several_dims(kept: str, element: str = "f16", seed: int = 0) -> Case:
    """A tensor of four dimensions, summed up along those that are not kept."""
    sizes = {"b": 3, "m": 5, "p": 7, "n": 10}
    rows = Rows(sizes)
    rows.argument("A", "bmpn", element)
    rows.argument("R", kept, "f32")
    rows.reduce("R", "A", "0.0", "%r = arith.addf %x0, %a : f32", kept=kept)
    a = numbers(np.random.default_rng(seed), tuple(sizes.values()), element)
    wanted = np.einsum(a.astype(np.float64), [0, 1, 2, 3], ["bmpn".index(loop) for loop in kept])
    return Case(rows.text(), [a, nothing(wanted.shape, "f32")], [wanted], 2**-17)


def softmax_of_planes(seed: int = 0) -> Case:
    """A softmax over two dimensions of three, each element of a plane beside all others."""
    sizes = {"m": 4, "p": 3, "n": 10}
    rows = Rows(sizes)
    rows.argument("A", "mpn", "f32")
    rows.argument("R", "mpn", "f32")
    rows.reduce("most", "A", "0xFF800000", "%r = arith.maximumf %x0, %a : f32")
    rows.map("e", "A most", "%d = arith.subf %x0, %x1 : f32", "%r = math.exp %d : f32", kept="mpn")
    rows.reduce("sum", "e", "0.0", "%r = arith.addf %x0, %a : f32")
    rows.map("R", "e sum", "%r = arith.divf %x0, %x1 : f32", kept="mpn")
    a = numbers(np.random.default_rng(seed), (4, 3, 10), "f32")
    wanted = softmax(a.astype(np.float64).reshape(4, 30)).reshape(4, 3, 10)
    return Case(rows.text(), [a, nothing((4, 3, 10), "f32")], [wanted])


def quantised(m: int, n: int, element: str = "f16", seed: int = 0) -> Case:
    """Rows as int8, and their scales."""
    rows = Rows({"m": m, "n": n})
    rows.argument("A", "mn", element)
    rows.argument("Q", "mn", "i8")
    rows.argument("S", "m", "f32")
    rows.reduce("most", "A", "0.0", "%v = math.absf %x0 : f32", "%r = arith.maximumf %v, %a : f32")
    rows.map("S", "most", "%c = arith.constant 127.0 : f32", "%r = arith.divf %x0, %c : f32", kept="m")
    rows.map("Q", "A S", "%q = arith.divf %x0, %x1 : f32", "%e = math.roundeven %q : f32",
             "%r = arith.fptosi %e : f32 to i8", element="i8")  # fmt: skip
    a = numbers(np.random.default_rng([seed, m, n]), (m, n), element)
    scale = np.abs(a.astype(np.float32)).max(1) / np.float32(127)
    quotients = np.rint(a.astype(np.float32) / scale[:, None])
    return Case(rows.text(), [a, nothing((m, n), "i8"), nothing((m,), "f32")],
                [quotients.astype(np.float64), scale.astype(np.float64)])  # fmt: skip


def residual_norm(m: int, n: int, element: str = "f16", seed: int = 0) -> Case:
    """A sum of two matrices, and its RMS norm."""
    rows = Rows({"m": m, "n": n})
    for name, loops in (("A", "mn"), ("B", "mn"), ("W", "n"), ("S", "mn"), ("R", "mn")):
        rows.argument(name, loops, element)
    rows.map("S", "A B", "%r = arith.addf %x0, %x1 : f32", element=element)
    rows.reduce("squares", "S", "0.0", "%s = arith.mulf %x0, %x0 : f32", "%r = arith.addf %s, %a : f32")
    rows.map("R", "S squares W", f"%c = arith.constant {float(n)} : f32", "%v = arith.divf %x1, %c : f32",
             "%t = arith.constant 1.0e-06 : f32", "%w = arith.addf %v, %t : f32", "%f = math.rsqrt %w : f32",
             "%g = arith.mulf %x0, %f : f32", "%r = arith.mulf %g, %x2 : f32", element=element)  # fmt: skip
    rng = np.random.default_rng([seed, m, n])
    a, b, w = (numbers(rng, shape, element) for shape in ((m, n), (m, n), (n,)))
    total = (a.astype(np.float32) + b.astype(np.float32)).astype(DTYPES[element]).astype(np.float64)
    wanted = NUMPY["rms_norm"](total, w.astype(np.float64))
    return Case(rows.text(), [a, b, w, *(nothing((m, n), element) for _ in range(2))], [total, wanted])


def two_sums(m: int, n: int, wide: bool = False, seed: int = 0) -> Case:
    """Rows less their mean, and times their largest element: two reductions that do not need one another, of which the
    sum is one of f64 if `wide`."""
    rows, element = Rows({"m": m, "n": n}), "f64" if wide else "f32"
    rows.argument("A", "mn", "f32")
    rows.argument("R", "mn", "f32")
    rows.reduce("most", "A", "0xFF800000", "%r = arith.maximumf %x0, %a : f32")
    if wide:
        rows.reduce(
            "sum", "A", "0.0", "%y = arith.extf %x0 : f32 to f64", "%r = arith.addf %y, %a : f64", element=element
        )
        mean = ("%c = arith.constant {n} : f64", "%q = arith.divf %x1, %c : f64", "%m = arith.truncf %q : f64 to f32")
    else:
        rows.reduce("sum", "A", "0.0", "%r = arith.addf %x0, %a : f32")
        mean = ("%c = arith.constant {n} : f32", "%m = arith.divf %x1, %c : f32")
    rows.map("R", "A sum most", mean[0].format(n=float(n)), *mean[1:], "%d = arith.subf %x0, %m : f32",
             "%r = arith.mulf %d, %x2 : f32")  # fmt: skip
    a = numbers(np.random.default_rng([seed, m, n]), (m, n), "f32")
    exact = a.astype(np.float64)
    wanted = (exact - exact.mean(-1, keepdims=True)) * exact.max(-1, keepdims=True)
    return Case(rows.text(), [a, nothing((m, n), "f32")], [wanted])


def odd_softmax(m: int, n: int, element: str = "f32") -> Case:
    """A softmax of rows with NaN, infinities of both signs, nothing but -inf, and very large numbers."""
    case = measured("softmax", m, n, element)
    a = case.arrays[0]
    large = {"f16": 6e4, "bf16": 3e38, "f32": 3e38}[element]
    odd = (np.nan, np.inf, -np.inf, large, -large)
    for row in range(min(m, len(odd))):
        a[row, (7 * row + 3) % n] = odd[row]
    if m > len(odd):
        a[len(odd)] = -np.inf
    return Case(case.text, case.arrays, [softmax(a.astype(np.float64))], case.tolerance)


def odd_norm(m: int, n: int, element: str = "f32") -> Case:
    """A layer norm of rows with NaN, infinities of both signs, a large mean, halves far apart, very large numbers, and
    the same number everywhere."""
    case = measured("layer_norm", m, n, element)
    a, w, b = case.arrays[:3]
    for row, odd in enumerate((np.nan, np.inf, -np.inf)[:m]):
        a[row, (7 * row + 3) % n] = odd
    apart = np.where(np.arange(n) < n // 2, 50.0, -50.0)
    for row, (factor, more) in zip(range(3, m), ((1, 100), (1, apart), (1e15, 0), (0, 3)), strict=False):
        a[row] = (factor * a[row].astype(np.float64) + more).astype(a.dtype)
    with np.errstate(all="ignore"):
        wanted = NUMPY["layer_norm"](*(each.astype(np.float64) for each in (a, w, b)))
    return Case(case.text, case.arrays, [wanted], 2**-17)


def wide_norm(m: int, n: int, seed: int = 0) -> Case:
    """A layer norm in f64."""
    rows = Rows({"m": m, "n": n})
    rows.argument("A", "mn", "f64")
    rows.argument("R", "mn", "f64")
    size = f"%c = arith.constant {float(n)} : f64"
    rows.reduce("sum", "A", "0.0", "%r = arith.addf %x0, %a : f64", element="f64")
    rows.map("d", "A sum", size, "%m = arith.divf %x1, %c : f64", "%r = arith.subf %x0, %m : f64", element="f64")
    rows.reduce("squares", "d", "0.0", "%s = arith.mulf %x0, %x0 : f64", "%r = arith.addf %s, %a : f64", element="f64")
    rows.map("R", "d squares", size, "%v = arith.divf %x1, %c : f64", "%e = arith.constant 1.0e-05 : f64",
             "%w = arith.addf %v, %e : f64", "%s = math.sqrt %w : f64", "%r = arith.divf %x0, %s : f64",
             element="f64")  # fmt: skip
    a = numbers(np.random.default_rng(seed), (m, n), "f64")
    wanted = NUMPY["layer_norm"](a, np.ones(n), np.zeros(n))
    return Case(rows.text(), [a, nothing((m, n), "f64")], [wanted], 2**-46)


def chosen(m: int, n: int, element: str, least: bool, schedule: str = "", kept: str = "m", seed: int = 0) -> Case:
    """The greatest or least elements of rows, or columns, and their places, as torch-mlir writes them."""
    float_ = not element.startswith("i")
    out = "f32" if float_ else element
    bits = np.dtype(DTYPES[element]).itemsize * 8
    start = (
        ("0x7F800000" if least else "0xFF800000") if float_ else str((1 << bits - 1) - 1 if least else -(1 << bits - 1))
    )
    best = ("minimumf" if least else "maximumf") if float_ else ("minsi" if least else "maxsi")
    test = ("cmpf o" if float_ else "cmpi s") + ("lt" if least else "gt")
    size, loop = (m, 1) if kept == "m" else (n, 0)
    kinds = '"parallel", "reduction"' if kept == "m" else '"reduction", "parallel"'
    tile = f" attributes {{tile.rows = {{{schedule}}}}}" if schedule else ""
    wide = [f"  %x = arith.extf %n : {element} to f32"] if element in ("f16", "bf16") else []
    name = "%n" if wide else "%x"
    text = "\n".join([
        f"func.func @rows(%A: memref<{m}x{n}x{element}>, %V: memref<{size}x{out}>, %P: memref<{size}xi64>){tile} {{",
        f"  %start = arith.constant {start} : {out}",
        "  %first = arith.constant 0 : i64",
        f"  linalg.fill ins(%start : {out}) outs(%V : memref<{size}x{out}>)",
        f"  linalg.fill ins(%first : i64) outs(%P : memref<{size}xi64>)",
        "  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, "
        f"affine_map<(m, n) -> ({kept})>, affine_map<(m, n) -> ({kept})>], iterator_types = [{kinds}]}}",
        f"    ins(%A : memref<{m}x{n}x{element}>) outs(%V, %P : memref<{size}x{out}>, memref<{size}xi64>) {{",
        f"  ^bb0({name}: {element}, %v: {out}, %q: i64):", *wide,
        f"    %index = linalg.index {loop} : index",
        "    %place = arith.index_cast %index : index to i64",
        f"    %best = arith.{best} %x, %v : {out}",
        f"    %better = arith.{test}, %x, %v : {out}",
        "    %chosen = arith.select %better, %place, %q : i64",
        f"    linalg.yield %best, %chosen : {out}, i64",
        "  }", "  return", "}", "",
    ])  # fmt: skip
    a = numbers(np.random.default_rng([seed, m, n]), (m, n), element)
    axis = 1 if kept == "m" else 0
    wide_a = a.astype(np.float64)
    values, places = ((wide_a.min(axis), wide_a.argmin(axis)) if least else
                      (wide_a.max(axis), wide_a.argmax(axis)))  # fmt: skip
    arrays = [a, nothing((size,), out), np.full(size, -77, np.int64)]
    return Case(text, arrays, [values, places.astype(np.float64)])


CASES: dict[str, Callable[[], Case]] = {
    **{f"{kind} {m}x{n} {element}": lambda k=kind, m=m, n=n, e=element: measured(k, m, n, e)
       for kind, m, n, element in (
           ("softmax", 6, 20, "f16"), ("softmax", 3, 5000, "f32"), ("softmax", 1, 70001, "bf16"),
           ("log_softmax", 5, 300, "f32"), ("log_softmax", 2, 9001, "f16"),
           ("layer_norm", 33, 100, "f16"), ("layer_norm", 2, 8192, "bf16"), ("rms_norm", 7, 513, "f32"),
           ("row_sum", 70, 3, "f16"), ("column_sum", 300, 17, "f16"), ("column_sum", 4, 2000, "f32"),
       )},
    **{f"{combiner} {element}": lambda c=combiner, e=element: reduced(c, 9, 77, e)
       for combiner, element in (
           ("arith.maximumf", "f16"), ("arith.minimumf", "f64"), ("arith.addf", "f64"), ("arith.mulf", "f32"),
           ("arith.mulf", "f64"), ("arith.addi", "i32"), ("arith.maxsi", "i32"), ("arith.minsi", "i8"),
           ("arith.muli", "i32"), ("arith.addi", "i8"),
       )},
    **{f"{layout or 'contiguous'}, {kept} kept": lambda la=layout, k=kept: reduced("arith.addf", 21, 50, "f16", la, k)
       for layout in ("", "strided", "transposed") for kept in "mn"},
    **{f"{kept or 'nothing'} of bmpn kept": lambda k=kept: several_dims(k)
       for kept in ("bm", "bp", "mn", "n", "b", "")},
    "softmax of planes": softmax_of_planes,
    "quantised": lambda: quantised(9, 140),
    "quantised, long": lambda: quantised(2, 9000, "f32"),
    "residual and norm": lambda: residual_norm(5, 130),
    "residual and norm, long": lambda: residual_norm(2, 6001, "bf16"),
    "odd values": lambda: odd_softmax(8, 200),
    "odd values, f16": lambda: odd_softmax(6, 31, "f16"),
    "odd values, long": lambda: odd_softmax(6, 20000, "bf16"),
    "layer norm, f64": lambda: wide_norm(4, 300),
}  # fmt: skip
