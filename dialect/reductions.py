"""Reductions of tiles, and how a linalg.generic's body combines."""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants, rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.body_combination import body_of
from mlir_gemm.dialect.body_cuts import Body
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.on_vectors import build_on, one_type
from mlir_gemm.dialect.positions import is_position
from mlir_gemm.dialect.running import Running, running_of
from mlir_gemm.dialect.tile import Tile
from mlir_gemm.dialect.verifier import at_least, counted, verifier
from mlir_gemm.dialect.walk import body, in_block
from mlir_gemm.spec.algebra import NEUTRAL, neutral_number

ext: Any = dialect("ext")

BLOCKS = "cluster"
"""On a tile.reduce how many blocks, those of a cluster, have parts of what is reduced."""


def _reduced(op: Any) -> str:
    """What is wrong with a tile.reduce: its values, results, dimension and body belong together."""
    values, results = [value.type for value in op.operands], [value.type for value in op.results]
    dim = op.attributes["dim"].value
    if not values or len(values) != len(results):
        return f"has {counted(len(values), 'value')} and {counted(len(results), 'result')}; expected as many, 1 or more"
    if not all(isinstance(type_, ir.VectorType) for type_ in (*values, *results)):
        return f"values are {', '.join(map(str, values))}; expected vectors, and vectors as results"
    shape = list(values[0].shape)
    if dim >= len(shape):
        return f"dim = {dim} of {values[0]}; expected 0 to {len(shape) - 1}"
    kept = [1 if axis == dim else size for axis, size in enumerate(shape)]
    for value, result in zip(values, results, strict=True):
        if list(value.shape) != shape:
            return f"values are {values[0]} and {value}; expected one shape"
        if list(result.shape) != kept or result.element_type != value.element_type:
            wanted = f"{'x'.join(map(str, kept))}x{value.element_type}"
            return f"result is {result} of {value} along dimension {dim}; expected vector<{wanted}>"
    return combining(op, [type_.element_type for type_ in values])


def combining(op: Any, elements: list[Any]) -> str:
    """What is wrong with the block of a reduction, which combines numbers of these types."""
    blocks = list(op.regions[0].blocks)
    if len(blocks) != 1:
        return f"has {counted(len(blocks), 'block')}; expected one"
    given = [argument.type for argument in blocks[0].arguments]
    if given != [*elements, *elements]:
        wanted = ", ".join(map(str, [*elements, *elements]))
        return f"its block takes {', '.join(map(str, given)) or 'nothing'}; expected {wanted}"
    operations = list(blocks[0].operations)
    if not operations or operations[-1].operation.name != "tile.yield":
        ends = f"ends in '{operations[-1].operation.name}'" if operations else "is empty"
        return f"its block {ends}; expected tile.yield at its end"
    yielded = [value.type for value in operations[-1].operation.operands]
    if yielded != elements:
        return f"its block yields {', '.join(map(str, yielded)) or 'nothing'}; expected {', '.join(map(str, elements))}"
    for inner in operations[:-1]:
        if not inner.operation.name.startswith(("arith.", "math.")):
            return f"'{inner.operation.name}' in its block; expected operations of arith and math"
    return ""


class Reduce(Tile.Operation, name="reduce"):
    """Combines the elements of `values`, and of `places` beside them, along the dimension `dim`, which stays, with size
    1.

    Values are of one type, and places are of one, which is what IRDL can say of operands of any number: the greatest
    element and where it is are a value and a place.

    Its block combines two elements of each value, those of one side first, into one; it must be associative and
    commutative, since the order in which elements meet is the machine's (but the same in every run). With `cluster`,
    what the blocks of a cluster of this size have is combined, in the order of their ranks, and each block gets the
    result.
    """

    values: Sequence[ext.Operand[Any]]
    places: Sequence[ext.Operand[Any]]
    reduced: Sequence[ext.Result[Any]]
    reduced_places: Sequence[ext.Result[Any]]
    combine: ext.Region
    dim: ir.IntegerAttr
    verify_invariants = verifier(_reduced, dim=at_least(0), cluster=rules.BLOCKS)


def _yields(op: Any) -> str:
    """What is wrong with where a tile.yield stands."""
    parent = op.parent
    return "" if parent.name in _REDUCTIONS else f"stands in '{parent.name}'; expected it in {' or '.join(_REDUCTIONS)}"


_REDUCTIONS = "tile.reduce", "tile.grid_reduce"


class Yield(Tile.Operation, name="yield", traits=[ir.IsTerminatorTrait]):
    """What the block of a tile.reduce, or of a tile.grid_reduce, gives."""

    values: Sequence[ext.Operand[Any]]
    places: Sequence[ext.Operand[Any]]
    verify_invariants = verifier(_yields)


Combine = Callable[[Sequence[Any], Sequence[Any]], list[Any]]
"""Builds, at the insertion point, what two elements of each value become."""


def reduce(values: Sequence[Any], dim: int, combine: Combine, cluster: int = 1) -> list[Any]:
    """A tile.reduce at the insertion point, by the blocks of a cluster; its results."""
    types: list[Any] = []
    for value in values:
        shape = [1 if axis == dim else size for axis, size in enumerate(value.type.shape)]
        types.append(ir.VectorType.get(shape, value.type.element_type))
    split = one_type(types)
    groups = [list(values)[:split], list(values)[split:], types[:split], types[split:]]
    operation = Reduce(*groups, constants.integer(dim)).operation
    if cluster > 1:
        operation.attributes[BLOCKS] = constants.integer(cluster)
    yield_combined(operation, [type_.element_type for type_ in types], combine)
    return list(operation.results)


def yield_combined(operation: Any, elements: list[Any], combine: Combine) -> None:
    """Gives a reduction its block, which combines two numbers of each of these types."""
    split, block = one_type(elements), operation.regions[0].blocks.append(*elements, *elements)
    with ir.InsertionPoint(block):
        given = list(block.arguments)
        made = combine(given[: len(elements)], given[len(elements) :])
        Yield(made[:split], made[split:])


def combine_of(operation: Any) -> Combine:
    """How a tile.reduce combines, for numbers and for vectors of them alike."""
    block = body(operation)
    *inner, last = in_block(block)

    def combine(left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        known: dict[Any, Any] = dict(zip(block.arguments, [*left, *right], strict=True))
        for each in inner:
            build_on(each, known)
        return [known[value] for value in last.operation.operands]

    return combine


@dataclass(frozen=True)
class Combination:
    """What a reduction's body does with one of its outputs: `combiner(output, value)`."""

    combiner: Any
    """The operation of the body that combines."""
    value: Any
    """What it combines the output with, computed in the body from inputs alone."""
    output: int
    """The number of the output."""

    @property
    def outputs(self) -> tuple[int, ...]:
        """The numbers of the outputs that are combined together."""
        return (self.output,)

    @property
    def values(self) -> tuple[Any, ...]:
        """What each of them is combined with."""
        return (self.value,)

    @property
    def neutrals(self) -> tuple[Any, ...]:
        """The attributes of what changes nothing in them."""
        return (self.neutral,)

    def join(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """The combination of two sides, a number or vector for each output, at the insertion point."""
        return [self.build(left[0], right[0])]

    @property
    def neutral(self) -> Any:
        """The attribute of the element that changes nothing."""
        return neutral_of(self.combiner.name, self.value.type)

    def build(self, left: Any, right: Any) -> Any:
        """The combination of two values, numbers or vectors, at the insertion point."""
        known = dict(zip(self.combiner.operands, (left, right), strict=True))
        build_on(self.combiner, known)
        return known[self.combiner.results[0]]


@dataclass(frozen=True)
class Choice:
    """The greatest, or least, of the values, and its place: argmax. As eager PyTorch has it, NaN is both greatest and
    least, and of equal values the first is taken."""

    outputs: tuple[int, int]
    """The numbers of the outputs that hold the value and the place."""
    values: tuple[Any, Any]
    """The value and the place of an element, computed in the body from inputs alone."""
    combiner: str
    """The operation by which values alone would be combined."""

    @property
    def neutrals(self) -> tuple[Any, ...]:
        """The attributes of what changes nothing: the least value, at a place after all others."""
        return neutral_of(self.combiner, self.values[0].type), neutral_of("arith.minsi", self.values[1].type)

    def join(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """The better of two values with their places, numbers or vectors, at the insertion point."""
        better, select = self._better(left, right), dialect("arith").SelectOp
        return [select(better, one, other).result for one, other in zip(left, right, strict=True)]

    def join_further(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """The same where all places on the right come after those on the left: equal elements need no test."""
        arith, least = dialect("arith"), "min" in self.combiner
        one, other = right[0], left[0]
        if self.combiner.endswith("f"):
            test = arith.CmpFPredicate
            better = arith.CmpFOp(test.ULT if least else test.UGT, one, other).result
            better = arith.AndIOp(better, arith.CmpFOp(test.ORD, other, other).result).result
        else:
            order = ("u" if self.combiner.endswith("ui") else "s") + ("lt" if least else "gt")
            better = arith.CmpIOp(getattr(arith.CmpIPredicate, order), one, other).result
        return [arith.SelectOp(better, new, old).result for new, old in zip(right, left, strict=True)]

    def _better(self, left: Sequence[Any], right: Sequence[Any]) -> Any:
        arith = dialect("arith")
        (one, place), (other, further) = left, right
        least = "min" in self.combiner
        ahead = arith.CmpIOp(arith.CmpIPredicate.slt, place, further).result
        if not self.combiner.endswith("f"):
            order = ("u" if self.combiner.endswith("ui") else "s") + ("lt" if least else "gt")
            before = arith.CmpIOp(getattr(arith.CmpIPredicate, order), one, other).result
            tie = arith.CmpIOp(arith.CmpIPredicate.eq, one, other).result
        else:
            test = arith.CmpFPredicate
            nan, number = arith.CmpFOp(test.UNO, one, one).result, arith.CmpFOp(test.ORD, other, other).result
            before = arith.CmpFOp(test.OLT if least else test.OGT, one, other).result
            before = arith.OrIOp(before, arith.AndIOp(nan, number).result).result
            other_nan = arith.CmpFOp(test.UNO, other, other).result
            tie = arith.CmpFOp(test.OEQ, one, other).result
            tie = arith.OrIOp(tie, arith.AndIOp(nan, other_nan).result).result
        return arith.OrIOp(before, arith.AndIOp(tie, ahead).result).result


AnyCombination = Combination | Choice | Running | Body


def combinations_of(generic: Generic) -> list[AnyCombination] | None:
    """For each output of a reduction, or several of them, how they are combined; None where an output is not
    `combiner(output, value)` with a combiner that has a neutral element, nor a value chosen with its place, nor a
    maximum with its running sum, nor combined by a body that gives the same in any order, or is used otherwise."""
    found = _combinations(generic)
    return None if isinstance(found, str) else found


def why_uncombined(generic: Generic) -> str:
    """Why a reduction's body cannot be done in any order; empty where it can."""
    found = _combinations(generic)
    return found if isinstance(found, str) else ""


def _combinations(generic: Generic) -> list[AnyCombination] | str:
    found: list[AnyCombination] = []
    numbers = list(range(len(generic.outputs)))
    while numbers:
        number = numbers.pop(0)
        one = _combination(generic, number) or next(filter(None, (_pair(generic, number, n) for n in numbers)), None)
        one = one or body_of(generic, number)
        if isinstance(one, str):
            return one
        found.append(one)
        numbers = [each for each in numbers if each not in one.outputs]
    return found


def _pair(generic: Generic, number: int, other: int) -> Choice | Running | None:
    outputs = list(generic.body.arguments)[len(generic.inputs) :]
    return _choice(generic, number, other) or running_of(outputs, generic.yielded, number, other)


def _output(generic: Generic, number: int) -> Any:
    """The argument of the body that holds what an output has so far."""
    return generic.body.arguments[len(generic.inputs) + number]


def _combination(generic: Generic, number: int) -> Combination | None:
    argument, yielded = _output(generic, number), generic.yielded[number]
    combiner = getattr(yielded, "owner", None)
    if combiner is None or hasattr(combiner, "operations"):
        return None
    combiner = combiner.operation
    operands = list(combiner.operands)
    uses = [use.owner.operation for use in argument.uses]
    if combiner.name not in NEUTRAL or uses != [combiner] or len(list(yielded.uses)) != 1:
        return None
    value = operands[1] if operands[0] == argument else operands[0]
    if value == argument or argument not in operands:
        return None
    return Combination(combiner, value, number)


def _choice(generic: Generic, number: int, other: int) -> Choice | None:
    """A value and its place: the better of `value` and the output, and `select(value is better, place, output)`."""
    value_out, place_out = _output(generic, number), _output(generic, other)
    best, chosen = (getattr(generic.yielded[each].owner, "operation", None) for each in (number, other))
    if best is None or chosen is None or chosen.name != "arith.select" or chosen.operands[2] != place_out:
        return None
    test, place = getattr(chosen.operands[0].owner, "operation", None), chosen.operands[1]
    if test is None or test.name not in ("arith.cmpf", "arith.cmpi") or test.operands[1] != value_out:
        return None
    value = test.operands[0]
    combiner = _BY_ORDER.get((test.name, ir.IntegerAttr(test.attributes["predicate"]).value))
    if best.name == "arith.select":
        same = list(best.operands) == [chosen.operands[0], value, value_out]
    else:
        same = best.name in (combiner, "arith.maxnumf", "arith.minnumf") and set(best.operands) == {value, value_out}
    users = {use.owner.operation for use in value_out.uses}
    kept = users == {best, test} and [use.owner.operation for use in place_out.uses] == [chosen]
    if combiner is None or not same or not kept or not _is_place(generic, place):
        return None
    return Choice((number, other), (value, place), combiner)


def _is_place(generic: Generic, value: Any) -> bool:
    """Whether a value of a body is a position, which grows from element to element."""
    while getattr(value.owner, "name", "") in ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast"):
        value = value.owner.operation.operands[0]
    if getattr(value.owner, "name", "") == "linalg.index":
        return True
    inputs = list(generic.body.arguments)[: len(generic.inputs)]
    return value in inputs and is_position(generic.inputs[inputs.index(value)])


_BY_ORDER = {
    ("arith.cmpf", 2): "arith.maximumf", ("arith.cmpf", 4): "arith.minimumf", ("arith.cmpf", 9): "arith.maximumf",
    ("arith.cmpf", 11): "arith.minimumf", ("arith.cmpi", 4): "arith.maxsi", ("arith.cmpi", 2): "arith.minsi",
    ("arith.cmpi", 8): "arith.maxui", ("arith.cmpi", 6): "arith.minui",
}  # fmt: skip
"""By a comparison and its predicate (ogt, olt, ugt, ult; sgt, slt, ugt, ult), the operation that takes the better of
two values."""


def neutral_of(name: str, type_: Any) -> Any:
    """The attribute of the element that changes nothing, for a combining operation by its name and an element type.
    -0.0 for sums, which keeps the sign of a sum of -0.0."""
    return constants.number(type_, neutral_number(name, str(type_)))
