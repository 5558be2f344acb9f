"""Elementwise kernels that add up the partial sums of slices of a product's k: one for each level of a tree, of which
the last one also does what followed the product."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.outlining import kernel_modules
from mlir_gemm.dialect.outlining.kernel_functions import new_function
from mlir_gemm.spec.sum_tree import IN_ORDER, Level


@dataclass(frozen=True)
class Term:
    """What is added: in the buffer of this number the sums at a place, or all of it where there is no place."""

    buffer: int
    place: int | None


@dataclass(frozen=True)
class Partial:
    """The same, by the buffer itself."""

    memory: Any
    place: int | None

    def seen(self, map_: Any) -> Any:
        """Its map, from that of the sums."""
        if self.place is None:
            return map_
        return ir.AffineMap.get(map_.n_dims, 0, [ir.AffineExpr.get_constant(self.place), *map_.results])


def write_level(module: Any, sums: Any, level: Level) -> Any:
    """The function of a kernel, in a module of its own, that adds up groups of neighbours of sums of this type."""
    points = prod(sums.shape)
    source = ir.MemRefType.get([level.groups, level.fan, points], sums.element_type)
    target = ir.MemRefType.get([level.groups, points], sums.element_type)
    where = ir.InsertionPoint(module.regions[0].blocks[0])
    function, block = new_function(kernel_modules.name_of(module), [source, target], where)
    group, point = ir.AffineExpr.get_dim(0), ir.AffineExpr.get_dim(1)
    maps = [ir.AffineMap.get(2, 0, [group, ir.AffineExpr.get_constant(each), point]) for each in range(level.fan)]
    with ir.InsertionPoint(block):
        given, result = block.arguments
        identity = ir.AffineMap.get_identity(2)
        _, inside = structured.make([given] * level.fan, [result], [*maps, identity], [True, True])
        with ir.InsertionPoint(inside):
            structured.yield_([_total(list(inside.arguments)[: level.fan])])
        dialect("func").ReturnOp([])
    return function


def write_total(terms: list[Partial], sums: Any, behind: Generic | None, memory: dict[Any, Any]) -> None:
    """The elementwise operation that adds up all terms in order, in place of `sums`, at the insertion point: `behind`,
    on `memory` in place of its operands, or none but the sum."""
    if behind is None:
        target = memory[sums]
        identity = ir.AffineMap.get_identity(len(target.type.shape))
        maps = [term.seen(identity) for term in terms]
        inputs = [term.memory for term in terms]
        _, block = structured.make(inputs, [target], [*maps, identity], [True] * identity.n_dims)
        with ir.InsertionPoint(block):
            structured.yield_([_total(list(block.arguments)[: len(terms)])])
        return
    first = behind.operands.index(sums)
    inputs, maps = list[Any](), list[Any]()
    for number, operand in enumerate(behind.inputs):
        if operand == sums:
            inputs += [term.memory for term in terms]
            maps += [term.seen(behind.maps[number]) for term in terms]
        else:
            inputs.append(memory[operand])
            maps.append(behind.maps[number])
    outputs = [memory[operand] for operand in behind.outputs]
    maps += behind.maps[len(behind.inputs) :]
    _, block = structured.make(inputs, outputs, maps, behind.parallel)
    arguments = list(block.arguments)
    with ir.InsertionPoint(block):
        total = _total(arguments[first : first + len(terms)])
    rest = [*arguments[:first], total, *arguments[first + len(terms) :]]
    structured.clone_body(block, behind, dict(zip(behind.body.arguments, rest, strict=True)))


def _total(values: list[Any]) -> Any:
    """The sum of numbers in order; of many neighbours first, then of their sums, which rounds less often."""
    is_float = isinstance(values[0].type, ir.FloatType)
    add = dialect("arith").AddFOp if is_float else dialect("arith").AddIOp
    while len(values) > IN_ORDER:
        pairs = [add(*values[number : number + 2]).result for number in range(0, len(values) - 1, 2)]
        values = [*pairs, *values[2 * len(pairs) :]]
    total = values[0]
    for value in values[1:]:
        total = add(total, value).result
    return total
