"""launch-reduction: sums of products become a gpu.launch, a warp for each sum.

Expects a function marked `tile.kind = "reduction"`: one linalg.generic on memrefs of constant sizes with a single loop
of a reduction, along which its two operands lie as neighbours, and whose body adds a product to the sum; in front of it
a linalg.fill with zero. Leaves a gpu.launch of warps. Lanes take vectors beside each other. A lane has several under
way at a time, and adds the products of each to sums of its own; then it adds up these sums, and a butterfly of
gpu.shuffle those of all lanes. The order depends on the sizes alone. The first lane stores the sum. Refuses anything
else in such a function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.structured import Generic
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.access import load
from mlir_gemm.passes.base import Pass
from mlir_gemm.spec.attributes import KIND
from mlir_gemm.spec.kernel_record import REDUCTION
from mlir_gemm.spec.threads import LANES

WIDEST = 16
"""Bytes of one access."""


@dataclass(frozen=True)
class LaunchReduction(Pass):
    """Give each sum of products a warp."""

    name: ClassVar[str] = "launch-reduction"
    warps: int = 4
    """Warps in a block."""
    ahead: int = 8
    """Vectors of each operand that a lane has in flight at a time."""

    def run(self, module: Any) -> None:
        if not 1 <= self.warps <= 32 or self.ahead < 1:
            raise PassError(f"pass '{self}': expected 1 to 32 warps, and at least 1 vector ahead")
        for function in named(module, "func.func"):
            attributes = function.attributes
            if KIND not in attributes or ir.StringAttr(attributes[KIND]).value != REDUCTION:
                continue
            fills = {fill.operation.operands[-1]: fill for fill in named(function, "linalg.fill")}
            for operation in [each for each in in_block(body(function)) if structured.is_generic(each)]:
                sums = _Sums(operation, self)
                fill = fills.get(sums.sums)
                if fill is None or not _is_zero(fill.operation.operands[0]):
                    raise pass_error(operation, "expected sums that start from zero: a linalg.fill with that in front")
                sums.launch()
                fill.operation.erase()


class _Sums:
    """The sums of one linalg.generic."""

    def __init__(self, operation: Any, options: LaunchReduction):
        self.operation, self.options = operation.operation, options
        generic: Generic = structured.read(self.operation)
        self.loops = [loop for loop, parallel in enumerate(generic.parallel) if not parallel]
        sizes = structured.sizes_of(generic)
        if len(self.loops) != 1 or len(generic.inputs) != 2 or len(generic.outputs) != 1:
            raise pass_error(self.operation, "expected sums of products of two operands along one loop")
        self.sums, self.maps = generic.outputs[0], generic.maps
        self.inputs, self.k = list(generic.inputs), self.loops[0]
        self.sizes: list[int] = list(sizes)
        self.term = self._term(generic)
        self.width = min(map(self._width, range(2)))

    def _term(self, generic: Generic) -> Any:
        """What is added to the sum: a product of the operands, extended or not."""
        *given, total = list(generic.body.arguments)
        add = in_block(generic.body)[-1].operands[0].owner
        if getattr(add, "name", "") not in ("arith.addf", "arith.addi") or total not in list(add.operands):
            raise pass_error(self.operation, "expected a body that adds to the sum")
        for value in add.operands:
            maker = value.owner
            if value != total and getattr(maker, "name", "") in ("arith.mulf", "arith.muli"):
                sides = [_unextended(side) for side in maker.operands]
                if sorted(given.index(side) for side in sides if side in given) == [0, 1]:
                    return maker
        raise pass_error(self.operation, "expected a sum of products of two operands, extended or not")

    def _width(self, number: int) -> int:
        """Neighbours of an operand that one access takes."""
        memory, map_ = self.inputs[number], self.maps[number]
        places = [result.position for result in map_.results]
        strides, offset = memory.type.get_strides_and_offset()
        if places.count(self.k) != 1 or strides[places.index(self.k)] != 1 or places[-1] != self.k:
            raise pass_error(self.operation, f"an operand {memory.type}, whose neighbours do not lie along the sum")
        others = [
            step for step, place in zip(strides, places, strict=True) if place != self.k and self.sizes[place] > 1
        ]
        width = max(1, WIDEST * 8 // memory.type.element_type.width)
        while width > 1 and any(number % width for number in (*others, offset, self.sizes[self.k])):
            width //= 2
        return width

    def launch(self) -> None:
        """Writes the launch in place of the operation."""
        points = [loop for loop in range(len(self.sizes)) if loop != self.k]
        count = 1
        for loop in points:
            count *= self.sizes[loop]
        warps = min(self.options.warps, count)
        gpu, scf, arith = dialect("gpu"), dialect("scf"), dialect("arith")
        with ir.InsertionPoint(self.operation), self.operation.location:
            launch = gpu.LaunchOp((indexing.ceildiv(count, warps), 1, 1), (LANES * warps, 1, 1))
            block = body(launch)
            with ir.InsertionPoint(block):
                thread = block.arguments[3]
                number = indexing.add(indexing.mul(block.arguments[0], warps), indexing.div(thread, LANES))
                lane = indexing.rem(thread, LANES)
                inside = block
                if count % warps:
                    known = arith.CmpIOp(arith.CmpIPredicate.ult, number, constants.index(count)).result
                    branch = scf.IfOp(known)
                    inside = branch.then_block
            with ir.InsertionPoint(inside):
                place = dict(zip(points, _positions(number, [self.sizes[loop] for loop in points]), strict=True))
                total = self._butterfly(self._lane_sum(place, lane))
                first = arith.CmpIOp(arith.CmpIPredicate.eq, lane, constants.index(0)).result
                store = scf.IfOp(first)
                with ir.InsertionPoint(store.then_block):
                    at = [place[result.position] for result in self.maps[2].results]
                    dialect("memref").StoreOp(total, self.sums, at)
                    scf.YieldOp([])
                if inside != block:
                    scf.YieldOp([])
            with ir.InsertionPoint(block):
                gpu.TerminatorOp()
        self.operation.erase()

    def _lane_sum(self, place: dict[int, Any], lane: Any) -> Any:
        """The sum of a lane's vectors, as a number."""
        scf, arith, vector = dialect("scf"), dialect("arith"), dialect("vector")
        depth, ahead = self.sizes[self.k], self.options.ahead
        type_ = ir.VectorType.get([self.width], self.sums.type.element_type)
        zero = arith.ConstantOp(type_, constants.zero_of(type_)).result
        span = LANES * self.width
        whole = depth // (span * ahead) * span * ahead
        mine, sums = indexing.mul(lane, self.width), [zero] * ahead
        if whole:
            loop = scf.ForOp(constants.index(0), constants.index(whole), constants.index(span * ahead), sums)
            with ir.InsertionPoint(loop.body):
                start, *carried = list(loop.body.arguments)
                here = indexing.add(start, mine)
                loaded = [self._load(place, indexing.add(here, number * span)) for number in range(ahead)]
                scf.YieldOp([self._add(pair, total) for pair, total in zip(loaded, carried, strict=True)])
            sums = list(loop.results)
        spans, left = divmod(depth - whole, span)
        for number in range(spans):
            here = indexing.add(mine, whole + number * span)
            sums[number] = self._add(self._load(place, here), sums[number])
        if left:
            known = arith.CmpIOp(arith.CmpIPredicate.ult, mine, constants.index(left)).result
            branch = scf.IfOp(known, [type_], has_else=True)
            with ir.InsertionPoint(branch.then_block):
                pair = self._load(place, indexing.add(mine, whole + spans * span))
                scf.YieldOp([self._add(pair, sums[spans])])
            with ir.InsertionPoint(branch.else_block):
                scf.YieldOp([sums[spans]])
            sums[spans] = branch.results[0]
        while len(sums) > 1:
            pairs = [(sums[number], sums[number + 1]) for number in range(0, len(sums) - 1, 2)]
            sums = [*(_sum(*pair) for pair in pairs), *sums[2 * len(pairs) :]]
        numbers = [vector.ExtractOp(sums[0], [], [number]).result for number in range(self.width)]
        while len(numbers) > 1:
            half = len(numbers) // 2
            numbers = [_sum(numbers[number], numbers[number + half]) for number in range(half)]
        return numbers[0]

    def _load(self, place: dict[int, Any], at: Any) -> tuple[Any, Any]:
        """Vectors of both operands at a position of the sum, extended to its type."""
        where = {**place, self.k: at}
        found: list[Any] = []
        for number, memory in enumerate(self.inputs):
            element = memory.type.element_type
            part = element if self.width == 1 else ir.VectorType.get([self.width], element)
            value = load(part, memory, [where[result.position] for result in self.maps[number].results])
            if self.width == 1:
                value = dialect("vector").BroadcastOp(ir.VectorType.get([1], element), value).result
            found.append(self._extended(value, number))
        return found[0], found[1]

    def _extended(self, value: Any, number: int) -> Any:
        argument = structured.read(self.operation).body.arguments[number]
        makers = [
            operand.owner for operand in self.term.operands if operand != argument and _unextended(operand) == argument
        ]
        into = ir.VectorType.get([self.width], self.sums.type.element_type)
        if not makers:
            return value
        return ir.Operation.create(makers[0].operation.name, results=[into], operands=[value]).results[0]

    def _add(self, pair: tuple[Any, Any], total: Any) -> Any:
        if isinstance(self.sums.type.element_type, ir.FloatType):
            return dialect("vector").FMAOp(*pair, total).result
        return _sum(dialect("arith").MulIOp(*pair).result, total)

    def _butterfly(self, value: Any) -> Any:
        """The sum of all lanes' numbers, in every lane."""
        gpu, i32 = dialect("gpu"), ir.IntegerType.get_signless(32)
        width = dialect("arith").ConstantOp(i32, LANES).result
        by = LANES // 2
        while by:
            offset = dialect("arith").ConstantOp(i32, by).result
            value = _sum(value, gpu.ShuffleOp(value, offset, width, gpu.ShuffleMode.XOR).shuffleResult)
            by //= 2
        return value


def _is_zero(value: Any) -> bool:
    owner = value.owner
    return getattr(owner, "name", "") == "arith.constant" and owner.operation.attributes["value"].value == 0


def _unextended(value: Any) -> Any:
    """What an operation of one operand extends, or the value itself."""
    maker = value.owner
    return maker.operands[0] if getattr(maker, "name", "") in ("arith.extf", "arith.extsi", "arith.extui") else value


def _sum(left: Any, right: Any) -> Any:
    type_ = getattr(left.type, "element_type", left.type)
    add = dialect("arith").AddFOp if isinstance(type_, ir.FloatType) else dialect("arith").AddIOp
    return add(left, right).result


def _positions(number: Any, sizes: list[int]) -> list[Any]:
    """The position in each loop of a point by its number, the last loop being the fastest."""
    found: list[Any] = []
    for place in reversed(range(len(sizes))):
        if sizes[place] == 1:
            found.append(constants.index(0))
            continue
        rest = any(size > 1 for size in sizes[:place])
        found.append(indexing.rem(number, sizes[place]) if rest else number)
        number = indexing.div(number, sizes[place]) if rest else number
    return found[::-1]
