"""The MLIR of a problem, as a user would write it."""

from __future__ import annotations

from mlir_gemm.bench.problems import Problem

_HEADER = """#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>
"""
_MAPS = {"N": ("(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)"), "T": ("(m, n, k) -> (k, m)", "(m, n, k) -> (n, k)")}


def shapes(problem: Problem) -> list[tuple[str, tuple[int, ...], str]]:
    """Name, shape and MLIR element type of each input in the order of the arguments; the result comes after them."""
    m, n, k = problem.m, problem.n, problem.k
    found: list[tuple[str, tuple[int, ...], str]] = [
        ("A", (m, k) if problem.layout[0] == "N" else (k, m), problem.element),
        ("B", (k, n) if problem.layout[1] == "N" else (n, k), problem.element),
    ]
    if "bias" in problem.steps:
        found.append(("bias", (n,), problem.out))
    if "mul" in problem.steps:
        found.append(("S", (m, n), problem.out))
    return found


def module(problem: Problem) -> str:
    """A function on memrefs, whose last argument is the result. Memrefs, so that the caller can fill the result with
    NaN first, and so that no call allocates."""
    acc = problem.accumulator
    inputs = [(name, _memref(shape, dtype)) for name, shape, dtype in shapes(problem)]
    wide, result = _memref((problem.m, problem.n), acc), _memref((problem.m, problem.n), problem.out)
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in [*inputs, ("D", result)])
    alone = problem.epilogue == "none" and problem.out == acc
    product = "%D" if alone else "%P"
    a, b = (f"affine_map<{_MAPS[problem.layout[i]][i]}>" for i in range(2))
    lines = [
        f"func.func @product({arguments}) {{",
        f"  %zero = arith.constant {'0' if acc == 'i32' else '0.0'} : {acc}",
        *([] if alone else [f"  %P = memref.alloc() : {wide}"]),
        f"  linalg.fill ins(%zero : {acc}) outs({product} : {wide})",
        f"  linalg.contract indexing_maps = [{a}, {b}, affine_map<(m, n, k) -> (m, n)>]",
        f"    ins(%A, %B : {inputs[0][1]}, {inputs[1][1]}) outs({product} : {wide})",
    ]
    if not alone:
        lines += _behind(problem, inputs[2:], wide, result)
    return _HEADER + "\n".join([*lines, "  return", "}", ""])


def _memref(shape: tuple[int, ...], dtype: str) -> str:
    return f"memref<{'x'.join(map(str, shape))}x{dtype}>"


def _behind(problem: Problem, others: list[tuple[str, str]], wide: str, result: str) -> list[str]:
    """The elementwise operation that takes the product to the result."""
    names = ", ".join(["%P", *(f"%{name}" for name, _ in others)])
    types = ", ".join([wide, *(type_ for _, type_ in others)])
    maps = ", ".join(["#mn", *("#n" if name == "bias" else "#mn" for name, _ in others), "#mn"])
    values = ", ".join(
        [f"%x: {problem.accumulator}", *(f"%{name}_in: {problem.out}" for name, _ in others), f"%old: {problem.out}"]
    )
    return [
        f'  linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}',
        f"    ins({names} : {types}) outs(%D : {result}) {{",
        f"  ^bb0({values}):",
        *(f"    {line}" for line in _body(problem)),
        "  }",
    ]


def _body(problem: Problem) -> list[str]:
    """The steps of the epilogue on one element, in the accumulator's type."""
    acc, out = problem.accumulator, problem.out
    lines: list[str] = []
    value = "%x"
    for step in problem.steps:
        if step in ("bias", "mul"):
            name = "bias" if step == "bias" else "S"
            other = f"%{name}_in"
            if out != acc:
                lines.append(f"%{name}_wide = arith.extf %{name}_in : {out} to {acc}")
                other = f"%{name}_wide"
            lines.append(f"%{step}_done = {'arith.addf' if step == 'bias' else 'arith.mulf'} {value}, {other} : {acc}")
        else:
            lines += (_gelu if step == "gelu" else _silu)(value, acc)
        value = f"%{step}_done"
    if out != acc:
        lines.append(f"%narrow = arith.truncf {value} : {acc} to {out}")
        value = "%narrow"
    return [*lines, f"linalg.yield {value} : {out}"]


def _gelu(value: str, acc: str) -> list[str]:
    return [
        f"%root = arith.constant 0.70710678118654752 : {acc}", f"%half = arith.constant 0.5 : {acc}",
        f"%one = arith.constant 1.0 : {acc}", f"%g0 = arith.mulf {value}, %root : {acc}",
        f"%g1 = math.erf %g0 : {acc}", f"%g2 = arith.addf %g1, %one : {acc}",
        f"%g3 = arith.mulf {value}, %half : {acc}", f"%gelu_done = arith.mulf %g3, %g2 : {acc}",
    ]  # fmt: skip


def _silu(value: str, acc: str) -> list[str]:
    return [
        f"%one = arith.constant 1.0 : {acc}", f"%s0 = arith.negf {value} : {acc}", f"%s1 = math.exp %s0 : {acc}",
        f"%s2 = arith.addf %s1, %one : {acc}", f"%silu_done = arith.divf {value}, %s2 : {acc}",
    ]  # fmt: skip
