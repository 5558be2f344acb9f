"""linalg.generic operations on memrefs, made of the statements of loops.

A loop that tells which element is written is parallel: it stands alone in one index of the store, so that no two
iterations write the same. One that does not is a reduction, where what is written combines what was there with a value.
Loops that only together make indices, as tiled ones do, become one loop; those that a statement does not need go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.affine import Linear
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import clone
from mlir_gemm.dialect.linalg import structured
from mlir_gemm.dialect.linalg.fused_sums import add_last
from mlir_gemm.dialect.linalg.memory_parts import static_subview
from mlir_gemm.dialect.locations import input_error
from mlir_gemm.dialect.loop_nests.loops import Loop, limits
from mlir_gemm.dialect.loop_nests.order import loops_of
from mlir_gemm.dialect.loop_nests.statements import Access, Reader, Statement, index_of
from mlir_gemm.dialect.reductions import combinations_of
from mlir_gemm.dialect.walk import in_block


@dataclass
class _Shape:
    """The loops of a statement, and what each index is as a function of them."""

    loops: list[Loop]
    forms: dict[int, tuple[Linear, ...]]
    """The indices of each access, by `id`; of positions that are values, by that of their Linear."""

    def replace(self, change: Callable[[Linear], Linear]) -> None:
        """Puts other loops in the place of some."""
        self.forms = {key: tuple(change(each) for each in indices) for key, indices in self.forms.items()}

    @property
    def all(self) -> list[Linear]:
        """Every index."""
        return [each for indices in self.forms.values() for each in indices]


def build(reader: Reader, statement: Statement, at: Any) -> None:
    """The linalg.generic that a statement is, before the operation `at`. Raises InputError where it is none."""
    positions = _positions(reader, statement)
    shape = _Shape(list(statement.loops), {})
    for access in (*statement.targets, *statement.loads):
        shape.forms[id(access)] = access.indices
    for number, position in enumerate(positions.values()):
        shape.forms[-1 - number] = (position,)
    if any(loop.extent is None and loop.trips == 0 for loop in shape.loops):
        return
    _simplify(shape)
    _check_targets(statement, shape)
    with ir.InsertionPoint(at), statement.op.location:
        _Maker(reader, statement, shape, dict(zip(positions, range(len(positions)), strict=True))).make()


def _positions(reader: Reader, statement: Statement) -> dict[Any, Linear]:
    """Values that are computed with, and are positions of loops."""
    found: dict[Any, Linear] = {}
    pending = list(statement.values)
    while pending:
        value = pending.pop()
        if value in statement.carried or value in reader.accesses or value in found:
            continue
        position = index_of(reader.indices, value)
        if position is not None:
            found[value] = position
        elif not hasattr(value.owner, "operations"):
            pending += value.owner.operands
    return found


def _simplify(shape: _Shape) -> None:
    """Leaves out loops of one trip, joins loops that only stand together, and turns those that run backwards."""
    once = [loop for loop in shape.loops if loop.extent is None and loop.trips == 1]
    shape.replace(lambda index: index.without(once))
    shape.loops = [loop for loop in shape.loops if loop not in once]
    while pair := _joined(shape):
        _join(shape, *pair)
    for loop in [loop for loop in shape.loops if loop.extent is None]:
        steps = [index.coefficient(loop) for index in shape.all if index.coefficient(loop)]
        if steps and steps[0] < 0:
            turned = Linear({loop: -1}, loop.trips - 1)
            shape.replace(lambda index, loop=loop, turned=turned: index.without([loop])
                          + turned.scaled(index.coefficient(loop)))  # fmt: skip


def _joined(shape: _Shape) -> tuple[Loop, Loop] | None:
    for outer in shape.loops:
        for inner in shape.loops:
            if outer is inner or inner.extent is not None or outer.extent is not None:
                continue
            pairs = [(index.coefficient(outer), index.coefficient(inner)) for index in shape.all]
            if any(step for _, step in pairs) and all(left == right * inner.trips for left, right in pairs):
                return outer, inner
    return None


def _join(shape: _Shape, outer: Loop, inner: Loop) -> None:
    one = Loop(inner.op, outer.trips * inner.trips, None, outer.parallel and inner.parallel)
    shape.replace(lambda index: index.without([outer, inner]) + Linear({one: index.coefficient(inner)}))
    place = min(shape.loops.index(outer), shape.loops.index(inner))
    shape.loops = [loop for loop in shape.loops if loop not in (outer, inner)]
    shape.loops.insert(place, one)


def _check_targets(statement: Statement, shape: _Shape) -> None:
    """Each loop writes elements of its own, or combines what it computes with one element."""
    used = loops_of(shape.all)
    combines = bool(statement.carried) or statement.combine is not None or any(
        load.same_element(target) for load in statement.loads for target in statement.targets
    )  # fmt: skip
    for target in statement.targets:
        indices = shape.forms[id(target)]
        seen: list[Loop] = []
        for index in indices:
            if len(index.terms) > 1 or any(loop in seen for loop in index.terms):
                raise input_error(
                    statement.op,
                    f"'{statement.op.name}' writes at an index that is a sum of loops, or uses a loop twice; expected "
                    "each dimension to be indexed by one loop of its own",
                )
            seen += index.terms
        for loop in shape.loops:
            if loop in used and loop not in seen and not combines:
                raise input_error(
                    statement.op,
                    f"'{statement.op.name}' writes the same element in every iteration of {loop.name}, and the last "
                    "one stays: a loop-carried dependence; expected it to combine the element with a value, or an "
                    "index that the loop changes",
                )
    if not combines:
        shape.loops = [loop for loop in shape.loops if loop in used]


class _Maker:
    """Makes the operation at the insertion point."""

    def __init__(self, reader: Reader, statement: Statement, shape: _Shape, positions: dict[Any, int]) -> None:
        self.reader = reader
        self.statement = statement
        self.shape = shape
        self.positions = positions
        self.loops = shape.loops
        self.values: dict[Any, Any] = {}
        self.seen = {loop for target in statement.targets for loop in loops_of(self._form(target))}
        self.reduces = any(loop not in self.seen for loop in self.loops) or bool(statement.carried)

    def make(self) -> None:
        """The operation, its views and its body."""
        inputs = [load for load in self.statement.loads if self._target_of(load) is None]
        kept: list[Access] = []
        for load in inputs:
            if not any(load.memory == other.memory and self._form(load) == self._form(other) for other in kept):
                kept.append(load)
        viewed = [self._viewed(access, target=False) for access in kept]
        written = [self._viewed(access, target=True) for access in self.statement.targets]
        fillers = self._fillers([map_ for _, map_ in (*viewed, *written)])
        operands = [*viewed, *fillers]
        parallel = [loop in self.seen for loop in self.loops]
        op, block = structured.make(
            [value for value, _ in operands], [value for value, _ in written],
            [map_ for _, map_ in (*operands, *written)], parallel,
        )  # fmt: skip
        arguments = list(block.arguments)
        for load in self.statement.loads:
            target = self._target_of(load)
            place = len(operands) + target if target is not None else self._place(kept, load)
            for value in [v for v, access in self.reader.accesses.items() if access is load]:
                self.values[value] = arguments[place]
        for value, number in self.statement.carried.items():
            self.values[value] = arguments[len(operands) + number]
        with ir.InsertionPoint(block):
            made = [self._value(value) for value in self.statement.values]
            if self.statement.combine is not None:
                made = [self._combined(arguments[len(operands)], made[0])]
            structured.yield_(made)
        if not all(parallel):
            add_last(structured.read(op))
            self._check_reduction(op)

    def _form(self, access: Access) -> tuple[Linear, ...]:
        return self.shape.forms[id(access)]

    def _place(self, kept: Sequence[Access], load: Access) -> int:
        return next(
            number for number, other in enumerate(kept)
            if other.memory == load.memory and self._form(other) == self._form(load)
        )  # fmt: skip

    def _target_of(self, load: Access) -> int | None:
        """The number of the target that a load reads the element of; in a reduction that is what it has so far, and
        otherwise an input like others."""
        if not self.reduces:
            return None
        same = (number for number, target in enumerate(self.statement.targets) if load.same_element(target))
        return next(same, None)

    def _check_reduction(self, op: Any) -> None:
        if combinations_of(structured.read(op)) is None:
            raise input_error(
                self.statement.op,
                f"'{self.statement.op.name}': what an iteration computes depends on the one before it in a way that is "
                "no sum, product, maximum, minimum, and, or, xor: a loop-carried dependence (for a maximum write "
                "arith.maximumf)",
            )

    def _viewed(self, access: Access, *, target: bool) -> tuple[Any, Any]:
        """The part of memory that an access reaches, and the map from loops to its elements."""
        indices, type_ = self._form(access), access.memory.type
        offsets: list[int] = []
        sizes: list[int] = []
        strides: list[int] = []
        expressions: list[Any] = []
        plain = target or _is_plain(indices)
        for axis, index in enumerate(indices):
            whole = self._open(access, axis, index)
            low, high = (0, 0) if whole else self._limits(access, axis, index)
            expressions.append(self._expression(index, low, alone=plain))
            offsets.append(low)
            step = next(iter(index.terms.values()), 1) if plain else 1
            strides.append(step)
            sizes.append(type_.shape[axis] if whole else (high - low) // step + 1)
        map_ = ir.AffineMap.get(len(self.loops), 0, expressions)
        if list(type_.shape) == sizes and not any(offsets):
            return access.memory, map_
        if not type_.has_static_shape:
            raise input_error(access.op, f"'{access.op.name}' reaches a part of {type_}; expected all of it, or sizes")
        return static_subview(access.memory, offsets, sizes, strides), map_

    def _open(self, access: Access, axis: int, index: Linear) -> bool:
        """Whether an index runs along a whole dimension whose size is known at run time only. Refuses others there."""
        opened = access.memory.type.is_dynamic_dim(axis)
        loops = [loop for loop in index.terms if loop.extent is not None]
        if not opened and not loops:
            return False
        if len(loops) == 1 and opened and index == Linear({loops[0]: 1}):
            return True
        raise input_error(
            access.op, f"'{access.op.name}' along dimension {axis} of {access.memory.type}; where a size or the trips "
            "of a loop are known at run time only, the index is expected to be one loop over all of it",
        )  # fmt: skip

    def _limits(self, access: Access, axis: int, index: Linear) -> tuple[int, int]:
        found = limits(index)
        assert found is not None  # _open has refused those with open loops
        size = access.memory.type.shape[axis]
        if found[0] < 0 or found[1] >= size:
            raise input_error(
                access.op, f"'{access.op.name}' goes from {found[0]} to {found[1]} along dimension {axis} of "
                f"{access.memory.type}; expected indices from 0 to {size - 1}",
            )  # fmt: skip
        return found

    def _expression(self, index: Linear, low: int, *, alone: bool) -> Any:
        if alone:
            loop = next(iter(index.terms), None)
            return ir.AffineConstantExpr.get(0) if loop is None else ir.AffineDimExpr.get(self.loops.index(loop))
        expression: Any = ir.AffineConstantExpr.get(index.constant - low)
        for loop, step in index.terms.items():
            expression = expression + ir.AffineDimExpr.get(self.loops.index(loop)) * step
        return expression

    def _fillers(self, maps: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Operands that nobody reads, for loops whose sizes no other operand tells."""
        told = {each.position for map_ in maps for each in map_.results if isinstance(each, ir.AffineDimExpr)}
        found: list[tuple[Any, Any]] = []
        for number, loop in enumerate(self.loops):
            if number in told:
                continue
            if loop.extent is not None:
                raise input_error(
                    self.statement.op, f"'{self.statement.op.name}' uses no memory along {loop.name}, whose trips are "
                    "known at run time only; expected a load that the loop changes",
                )  # fmt: skip
            type_ = ir.MemRefType.get([loop.trips], ir.IntegerType.get_signless(8))
            segments = ir.DenseI32ArrayAttr.get([0, 0])
            memory = ir.Operation.create("memref.alloc", [type_], [], {"operandSegmentSizes": segments}).results[0]
            zero = dialect("arith").ConstantOp(ir.IntegerType.get_signless(8), 0).result
            structured.make_named("linalg.fill", zero, memory)
            found.append((memory, ir.AffineMap.get(len(self.loops), 0, [ir.AffineDimExpr.get(number)])))
        return found

    def _value(self, value: Any) -> Any:
        if value in self.values:
            return self.values[value]
        if value in self.positions:
            self.values[value] = self._position(value)
            return self.values[value]
        owner = value.owner
        if hasattr(owner, "operations"):
            return value  # an argument of the function
        for operand in owner.operands:
            self._value(operand)
        clone(owner, self.values)
        return self.values[value]

    def _position(self, value: Any) -> Any:
        """A sum of loops as a number of the value's type."""
        (index,) = self.shape.forms[-1 - self.positions[value]]
        terms: list[tuple[int, Any]] = []
        kind = ir.IndexType.get()
        for loop, step in index.terms.items():
            number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.loops.index(loop))
            terms.append((step, ir.Operation.create("linalg.index", [kind], [], {"dim": number}).results[0]))
        arith = dialect("arith")
        total: Any = arith.ConstantOp(kind, index.constant).result if index.constant or not terms else None
        for step, one in terms:
            scaled = one if step == 1 else arith.MulIOp(one, arith.ConstantOp(kind, step).result).result
            total = scaled if total is None else arith.AddIOp(total, scaled).result
        return total if value.type == kind else arith.IndexCastOp(value.type, total).result

    def _combined(self, held: Any, value: Any) -> Any:
        block = self.statement.combine
        known = dict(zip(block.arguments, (held, value), strict=True))
        for inner in in_block(block)[:-1]:
            clone(inner, known)
        (last,) = in_block(block)[-1].operation.operands
        return known.get(last, last)


def _is_plain(indices: Sequence[Linear]) -> bool:
    """Whether each index is one loop of its own, forwards, or none: a part of memory in even steps."""
    loops = [loop for index in indices for loop in index.terms]
    return (
        all(len(index.terms) <= 1 for index in indices)
        and len(set(loops)) == len(loops)
        and all(step > 0 for index in indices for step in index.terms.values())
    )
