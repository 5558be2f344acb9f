"""What a kernel of rows computes, read from its function: sizes, bytes and how its memory lies."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd, prod
from typing import Any

from mlir_gemm.dialect import symbols
from mlir_gemm.dialect.arguments import argument_attributes
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.memory import stride_divisors
from mlir_gemm.dialect.paired_reductions import pair_of
from mlir_gemm.dialect.reductions import Choice, combinations_of
from mlir_gemm.dialect.row_loops import of_results, statements_of
from mlir_gemm.dialect.walk import body
from mlir_gemm.spec.attributes import SYMBOLS
from mlir_gemm.spec.rows import EXPONENTIALS, SQUARES, RowProblem

TYPICAL = 1024
"""A size that is known at run time only and that nobody gave a typical value of."""


def row_problem_of(function: Any, hints: Mapping[str, int], divisors: Mapping[str, int] | None = None) -> RowProblem:
    """The problem of a kernel of rows. `hints` are typical values of symbols, `divisors` what always divides them."""
    generics = [structured.read(op) for op in statements_of(function) if op.name != "linalg.fill"]
    first = next(generic for generic in generics if not generic.elementwise)
    outer, loops = sum(first.parallel), len(first.parallel)
    parts = of_results(generics)
    sizes, constant, divided = _sizes(function, parts or generics, hints, divisors or {})
    wide = [
        (operand, map_)
        for generic in parts or generics
        for operand, map_ in zip(generic.operands, generic.maps, strict=True)
        if operand in list(body(function).arguments) and _along(map_, outer)
    ]
    element = loops - 1
    transposed = sum(_neighbour(operand, map_) == outer - 1 for operand, map_ in wide) > sum(
        _neighbour(operand, map_) == element for operand, map_ in wide
    )
    contiguous = outer - 1 if transposed else element
    numbers = [0, divided.get(contiguous, 1)]
    for operand, map_ in wide:
        if _neighbour(operand, map_) == contiguous:
            numbers += [*stride_divisors(operand)[:-1], operand.type.get_strides_and_offset()[1]]
    inputs = {operand for generic in generics for operand in generic.inputs}
    whole = [(operand, map_) for operand, map_ in wide if _rows(map_, outer)]
    single = all(sizes[loop] == 1 and loop in constant for loop in range(outer))
    kept = [each for each in wide if each[0] in _before(generics)] if single and not parts else whole
    bits = {operand: operand.type.element_type.width for operand, _ in kept if operand in inputs}
    ways = {_way(operand, map_, outer) for operand, map_ in whole}
    reductions = sum(not generic.elementwise for generic in generics)
    places = [value.type.width // 32 for generic in generics for value in _places(generic)]
    return RowProblem(
        rows=prod(sizes[loop] for loop in range(outer)),
        length=structured.sizes_of(first)[element] if parts else sizes[element],
        results=sizes[element] if parts else 0,
        narrowest=max(1, min((operand.type.element_type.width // 8 for operand, _ in wide), default=4)),
        aligned=gcd(*[abs(number) for number in numbers if number >= 0]) or 1,
        transposed=transposed,
        held=max(1, max((operand.type.element_type.width // 32 for operand, _ in wide), default=1)),
        places=sum(places),
        even=not transposed and len(ways) == 1 and None not in ways,
        read=sum(bits.values()) // 8,
        again=reductions > 1 or any(generic.elementwise and len(generic.parallel) > outer for generic in generics),
        fixed=element in constant and loops == outer + 1,
        open_rows=not constant.issuperset(range(outer)),
        updated=_updates(function, generics, outer),
        side=sizes[outer - 1],
        lines=prod(sizes[loop] for loop in range(outer, element)),
        dense=outer == 1 and loops == 2 and all(_is_dense(operand, map_) for operand, map_ in whole),
        beside=0 if single else len({operand for operand, _ in wide if operand in inputs} - {o for o, _ in whole}),
        pair=_pair(function),
        element=next((str(operand.type.element_type) for operand, _ in wide), "f32"),
    )


def _before(generics: list[Generic]) -> set[Any]:
    """What reductions are computed from: of a single row, whose weights are not told from its elements by their loops,
    what is needed only after them is not kept."""
    found: set[Any] = set()
    for generic in reversed(generics):
        if not generic.elementwise or found & set(generic.outputs):
            found |= set(generic.inputs)
    return found


def _pair(function: Any) -> str:
    found = pair_of(statements_of(function))
    return "" if found is None else SQUARES if found.squares else EXPONENTIALS


def _updates(function: Any, generics: list[Generic], outer: int) -> bool:
    """Whether an argument with an element for each row is both read and written."""
    arguments = list(body(function).arguments)
    filled = {op.operands[1] for op in statements_of(function) if op.name == "linalg.fill"}
    read = {operand for generic in generics for operand in generic.inputs}
    read |= {output for generic in generics if not generic.elementwise for output in generic.outputs} - filled
    narrow = {
        output
        for generic in generics
        for output, map_ in zip(generic.outputs, generic.maps[len(generic.inputs) :], strict=True)
        if output in arguments and not _along(map_, outer)
    }
    return bool(narrow & read)


def _places(generic: Generic) -> list[Any]:
    """What a reduction keeps of where elements are."""
    found = [] if generic.elementwise else combinations_of(generic) or []
    return [each.values[1] for each in found if isinstance(each, Choice)]


def _rows(map_: Any, outer: int) -> bool:
    """Whether an operand has an element of its own for each element of each row."""
    loops = {e.position for e in map_.results if isinstance(e, ir.AffineDimExpr)}
    return outer - 1 in loops and any(loop >= outer for loop in loops)


def _way(operand: Any, map_: Any, outer: int) -> tuple[tuple[int, int], ...] | None:
    """How far rows of an operand move with each loop; None where its elements are not neighbours, or do not begin at an
    aligned address, or that is known at run time only."""
    strides, offset = operand.type.get_strides_and_offset()
    moves: dict[int, int] = {}
    for expression, stride in zip(map_.results, strides, strict=True):
        if isinstance(expression, ir.AffineDimExpr):
            moves[expression.position] = stride
    neighbours = [loop for loop, stride in moves.items() if stride == 1 and loop >= outer]
    if not neighbours or offset or min(moves.values()) < 0:
        return None
    return tuple(sorted((loop, stride) for loop, stride in moves.items() if loop < outer))


def _is_dense(operand: Any, map_: Any) -> bool:
    """Whether an operand is a matrix whose rows lie one after another."""
    type_ = operand.type
    if not type_.has_static_shape or [e.position for e in map_.results if isinstance(e, ir.AffineDimExpr)] != [0, 1]:
        return False
    strides, offset = type_.get_strides_and_offset()
    return list(strides) == [type_.shape[1], 1] and offset == 0


def _along(map_: Any, outer: int) -> bool:
    return any(isinstance(e, ir.AffineDimExpr) and e.position >= outer for e in map_.results)


def _neighbour(operand: Any, map_: Any) -> int:
    """The loop along which an operand's elements are neighbours in memory; -1 for none."""
    strides, _ = operand.type.get_strides_and_offset()
    for expression, stride in zip(map_.results, strides, strict=True):
        if stride == 1 and isinstance(expression, ir.AffineDimExpr):
            return expression.position
    return -1


def _sizes(
    function: Any, generics: list[Generic], hints: Mapping[str, int], divisors: Mapping[str, int]
) -> tuple[dict[int, int], set[int], dict[int, int]]:
    """A size, perhaps a typical one, for each loop, the loops whose sizes are constants, and what divides each size."""
    arguments = list(body(function).arguments)
    attributes = argument_attributes(function)
    sizes: dict[int, int] = {}
    divided: dict[int, int] = {}
    constant: set[int] = set()
    for generic in generics:
        for operand, map_ in zip(generic.operands, generic.maps, strict=True):
            names: list[Any] = []
            if operand in arguments:
                names = symbols.read(attributes[arguments.index(operand)], SYMBOLS, len(operand.type.shape))
            for axis, expression in enumerate(map_.results):
                if not isinstance(expression, ir.AffineDimExpr):
                    continue
                if not operand.type.is_dynamic_dim(axis):
                    sizes[expression.position] = divided[expression.position] = operand.type.shape[axis]
                    constant.add(expression.position)
                elif names and names[axis] is not None:
                    size = names[axis]
                    known = size.number * prod(hints.get(symbol, TYPICAL) for symbol in size.symbols)
                    sizes.setdefault(expression.position, known)
                    known = size.number * prod(divisors.get(symbol, 1) for symbol in size.symbols)
                    divided.setdefault(expression.position, known)
    return {loop: sizes.get(loop, TYPICAL) for loop in range(max(sizes, default=0) + 1)}, constant, divided
