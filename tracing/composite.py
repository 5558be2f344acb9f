"""Contractions of elements with several components, for `einsum(..., algebra=...)`: how they are written as MLIR."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlir_gemm.errors import InputError
from mlir_gemm.spec.bilinear import ALGORITHMS, AUTO, FEWEST, SCHOOLBOOK, Bilinear, terms_of
from mlir_gemm.spec.element_types import TYPES
from mlir_gemm.tracing.contraction import Operand, sum_type, tensor
from mlir_gemm.tracing.element_names import is_float, literal


def check_algorithm(algebra: Bilinear | None, algorithm: str, complex_: bool) -> None:
    """Raises InputError for an algorithm that there is not."""
    if algorithm not in ALGORITHMS:
        known = "', '".join(ALGORITHMS)
        raise InputError(f"algorithm='{algorithm}'; expected one of '{known}'")
    if algorithm == FEWEST and not complex_ and (algebra is None or algebra.steps is None):
        name = f"the algebra '{algebra.name}'" if algebra is not None else "numbers"
        raise InputError(f"algorithm='{FEWEST}' of {name}: there is no algorithm with fewer multiplications")


def attribute(algebra: Bilinear | None, algorithm: str, complex_: bool) -> str:
    """What stands in the source after `tile.algebra =`."""
    if algebra is None:
        return f'{{algorithm = "{algorithm}"}}' if algorithm != AUTO and complex_ else ""
    parts = {"constants": algebra.table}
    said = ""
    if algorithm != SCHOOLBOOK and algebra.algorithm is not None:
        parts |= dict(zip(("left", "right", "result"), algebra.algorithm, strict=True))  # type: ignore[arg-type]
        said = "" if algorithm == FEWEST else f', algorithm = "{algorithm}"'
    return f"{{{', '.join(f'{name} = {_dense(numbers)}' for name, numbers in parts.items())}{said}}}"


def _dense(numbers: Any) -> str:
    shape: list[int] = []
    inner = numbers
    while isinstance(inner, tuple):
        shape.append(len(inner))  # pyright: ignore[reportUnknownArgumentType]
        inner = inner[0]  # pyright: ignore[reportUnknownVariableType]
    return f"dense<{_nested(numbers)}> : tensor<{'x'.join(map(str, shape))}xf64>"


def _nested(numbers: Any) -> str:
    if isinstance(numbers, tuple):
        return f"[{', '.join(_nested(each) for each in numbers)}]"  # pyright: ignore[reportUnknownVariableType]
    return literal(float(numbers), "f64")


def component_letter(used: Iterable[str]) -> str:
    """A letter for the dimension of components."""
    taken = set("".join(used))
    return next(letter for letter in string.ascii_letters if letter not in taken)


def planes_module(
    algebra: Bilinear, sides: Sequence[Operand], output: str, acc: str, out: str, sizes: Mapping[str, int]
) -> str:
    """A module of a contraction whose operands have an array for each component, named `A0`, `A1`, ..., `B0`, ...: one
    operation with a result for each component."""
    count = algebra.components
    element = sides[0].element
    wide = acc or sum_type([element])
    narrow = out or (element if is_float(element) else wide)
    shape = [sizes[letter] for letter in output]
    loops = output + "".join(dict.fromkeys(
        letter for side in sides for letter in side.indices if letter not in output
    ))  # fmt: skip
    names = [f"{side.name}{number}" for side in sides for number in range(count)]
    arguments = ", ".join(f"%{name}: {sides[n // count].type}" for n, name in enumerate(names))
    type_, given = tensor(shape, wide), tensor(shape, narrow)
    zero = literal(0.0, wide) if is_float(wide) else "0"
    inputs = ", ".join(f"%{name}_: {element}" for name in names)
    maps = [side.indices for side in sides for _ in range(count)] + [output] * count
    text = [
        f"  %zero = arith.constant {zero} : {wide}", f"  %e = tensor.empty() : {type_}",
        f"  %start = linalg.fill ins(%zero : {wide}) outs(%e : {type_}) -> {type_}",
        f"  %sum:{count} = linalg.generic {{indexing_maps = [{', '.join(_map(each, loops) for each in maps)}],",
        f"      iterator_types = [{', '.join(_kind(letter in output) for letter in loops)}]}}",
        f"      ins({', '.join(f'%{name}' for name in names)} : "
        f"{', '.join(sides[n // count].type for n in range(len(names)))})",
        f"      outs({', '.join(['%start'] * count)} : {', '.join([type_] * count)}) {{",
        f"    ^bb0({inputs}, {', '.join(f'%c{n}: {wide}' for n in range(count))}):",
        *(f"      {line}" for line in _body(algebra, names, element, wide)),
        f"  }} -> ({', '.join([type_] * count)})",
    ]  # fmt: skip
    results = [f"%sum#{number}" for number in range(count)]
    if narrow != wide:
        same = f"affine_map<({_dims(output)}) -> ({_dims(output)})>"
        kinds = ", ".join([_kind(True)] * len(output))
        cut = "arith.truncf" if TYPES[narrow].bytes < TYPES[wide].bytes else "arith.extf"
        text.append(f"  %f = tensor.empty() : {given}")
        for number in range(count):
            text += [
                f"  %r{number} = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{kinds}]}}",
                f"      ins({results[number]} : {type_}) outs(%f : {given}) {{",
                f"    ^bb0(%x: {wide}, %o: {narrow}):",
                f"      %y = {cut} %x : {wide} to {narrow}", f"      linalg.yield %y : {narrow}", f"  }} -> {given}",
            ]  # fmt: skip
        results = [f"%r{number}" for number in range(count)]
    types = ", ".join([given] * count)
    inside = "\n".join(text)
    return f"func.func @einsum({arguments}) -> ({types}) {{\n{inside}\n  return {', '.join(results)} : {types}\n}}\n"


def _body(algebra: Bilinear, names: Sequence[str], element: str, wide: str) -> list[str]:
    count, letter = algebra.components, "f" if is_float(wide) else "i"
    lines: list[str] = []
    extend = "arith.extf" if is_float(wide) else "arith.extsi"
    if element != wide:
        lines += [f"%{name}x = {extend} %{name}_ : {element} to {wide}" for name in names]
    values = [f"%{name}{'x' if element != wide else '_'}" for name in names]
    found = [f"%c{number}" for number in range(count)]
    terms = terms_of(algebra.table)
    for (i, to), cells in terms.items():
        for j, number in cells:
            name = f"%t{i}_{j}_{to}"
            lines.append(f"{name}p = arith.mul{letter} {values[i]}, {values[count + j]} : {wide}")
            product = f"{name}p"
            if abs(number) != 1:
                value = literal(abs(float(number)), wide) if letter == "f" else str(abs(number))
                lines.append(f"{name}n = arith.constant {value} : {wide}")
                lines.append(f"{name}q = arith.mul{letter} {product}, {name}n : {wide}")
                product = f"{name}q"
            operation = "add" if number > 0 else "sub"
            lines.append(f"{name} = arith.{operation}{letter} {found[to]}, {product} : {wide}")
            found[to] = name
    return [*lines, f"linalg.yield {', '.join(found)} : {', '.join([wide] * count)}"]


def _dims(letters: str) -> str:
    return ", ".join(f"d{number}" for number in range(len(letters)))


def _map(indices: str, loops: str) -> str:
    return f"affine_map<({_dims(loops)}) -> ({', '.join(f'd{loops.index(letter)}' for letter in indices)})>"


def _kind(parallel: bool) -> str:
    return '"parallel"' if parallel else '"reduction"'
