"""What one iteration of an elementwise kernel does: all its linalg.generics on numbers, or on short vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mlir_gemm.dialect import constants, guards, indexing, memory, positions, tile
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of, clone
from mlir_gemm.dialect.elementwise import gathers, patches, pointwise
from mlir_gemm.dialect.elementwise.gathers import Spread, Spreads
from mlir_gemm.dialect.elementwise.interleaved import Interleaved
from mlir_gemm.dialect.elementwise.patches import Patch
from mlir_gemm.dialect.elementwise.pointwise import Pointwise
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.sizes import size_of
from mlir_gemm.dialect.walk import in_block


@dataclass
class Turned:
    """What a thread's patch of points reads along another loop than it writes: loaded once, transposed in registers."""

    patch: Patch
    positions: list[Any]
    """The parallel loops' values at the patch's first point."""
    loaded: dict[tuple[Any, str], list[Any]] = field(default_factory=dict[tuple[Any, str], list[Any]])
    """By operand and map, a vector along the output's neighbours for each position across them."""

    def row(self, points: Pointwise, operand: Any, map_: Any, across: int) -> Any | None:
        """The vector that belongs to one position across; None of an operand that is not turned."""
        if not patches.is_turned(operand, map_, points, self.patch):
            return None
        key = operand, str(map_)
        if key not in self.loaded:
            self.loaded[key] = self._load(points, operand, map_)
        return self.loaded[key][across]

    def _load(self, points: Pointwise, operand: Any, map_: Any) -> list[Any]:
        patch, vector = self.patch, dialect("vector")
        type_ = ir.VectorType.get([patch.depth], operand.type.element_type)
        found: list[list[Any]] = []
        for number in range(patch.width):
            loops = dict(zip(points.parallel, self.positions, strict=True))
            loops.update((loop, constants.index(0)) for loop in points.single)
            loop = points.parallel[patch.along]
            loops[loop] = indexing.add(loops[loop], number)
            indices = [_index(map_, each, loops) for each in map_.results]
            run = vector.LoadOp(type_, operand, indices, alignment=memory.vector_bytes(type_)).result
            found.append([vector.ExtractOp(run, [], [place]).result for place in range(patch.depth)])
        turned = ir.VectorType.get([patch.width], operand.type.element_type)
        return [vector.FromElementsOp(turned, list(each)).result for each in zip(*found, strict=True)]


@dataclass
class Emission:
    """Builds what one iteration does, at the insertion point: `point` for each operation, then `flush`."""

    positions: list[Any]
    """The parallel loops' values; the first of its points where an iteration takes several."""
    width: int
    fastest: int
    """The parallel loop, by place, along which an iteration takes `width` points."""
    pending: dict[Any, tuple[Any, list[Any]]] = field(default_factory=dict[Any, tuple[Any, list[Any]]])
    """What is in each buffer at this point, and where; written at the end."""
    turned: Turned | None = None
    across: int = 0
    """With `turned`, the position across that this is for."""
    interleaved: Interleaved | None = None
    place: tuple[int, ...] = ()
    """With `interleaved`, the point of the thread's that this is for."""

    def point(self, points: Pointwise) -> None:
        """One operation."""
        loops = dict(zip(points.parallel, self.positions, strict=True))
        loops.update((loop, constants.index(0)) for loop in points.single)
        if points.operation.operation.name == "tile.copy":
            at = [loops[loop] for loop in range(len(loops))]
            fastest = points.parallel[self.fastest] if points.parallel else 0
            value = self._row(points, *patches.inputs_of(points)[0])
            value = self._copied(points.operation, at, fastest) if value is None else value
            self.pending[points.outputs[0]] = (value, at)
            return
        starts = [self._initial(points, number, loops) for number in range(len(points.outputs))]
        results = self._reduced(points, list(points.reduced), loops, starts)
        for buffer, map_, result in zip(points.outputs, points.output_maps, results, strict=True):
            self.pending[buffer] = (result, [_index(map_, each, loops) for each in map_.results])

    def flush(self) -> None:
        """Writes what the operations left; temporaries vanish."""
        for buffer, (value, indices) in self.pending.items():
            if getattr(buffer.owner, "name", "") == "memref.alloc":
                continue
            if self.width > 1:
                alignment = memory.vector_bytes(value.type)
                dialect("vector").StoreOp(value, buffer, indices, alignment=alignment)
            else:
                dialect("memref").StoreOp(value, buffer, indices)

    def _initial(self, points: Pointwise, number: int, loops: dict[int, Any]) -> Any:
        """An output's value before the operation; None where the body does not ask for it."""
        block = points.operation.operation.regions[0].blocks[0]
        if not points.reduced and not list(block.arguments[len(points.inputs) + number].uses):
            return None
        return self._load(points, points.outputs[number], points.output_maps[number], loops)

    def _reduced(self, points: Pointwise, left: list[int], loops: dict[int, Any], carried: list[Any]) -> list[Any]:
        if not left:
            return self._body(points, loops, carried)
        size = points.sizes[left[0]]
        bounds = [constants.index(value) if isinstance(value, int) else value for value in (0, size, 1)]
        loop = dialect("scf").ForOp(*bounds, carried)
        with ir.InsertionPoint(loop.body):
            inner = {**loops, left[0]: loop.body.arguments[0]}
            dialect("scf").YieldOp(self._reduced(points, left[1:], inner, list(loop.body.arguments)[1:]))
        return list(loop.operation.results)

    def _body(self, points: Pointwise, loops: dict[int, Any], outputs: list[Any]) -> list[Any]:
        block = points.operation.operation.regions[0].blocks[0]
        spreads = self._spreads(points)
        inputs = [
            self._load(points, x, map_, loops, spreads) for x, map_ in zip(points.inputs, points.maps, strict=False)
        ]
        given = dict[Any, Any](zip(block.arguments, [*inputs, *outputs], strict=True))
        values = {argument: value for argument, value in given.items() if value is not None}
        *operations, result = in_block(block)
        for operation in operations:
            with operation.location:
                self._clone(operation, loops, values, spreads)
        return [self._wide(values.get(value, value)) for value in result.operands]

    def _spreads(self, points: Pointwise) -> Spreads | None:
        """How values differ among this iteration's points, where these read at computed places; else None."""
        if self.width == 1 or not gathers.has_loads(points):
            return None
        found = gathers.spreads(points, points.parallel[self.fastest], self.width)
        assert found is not None  # else an iteration would take one point
        return found

    def _clone(self, operation: Any, loops: dict[int, Any], values: dict[Any, Any], spreads: Spreads | None) -> None:
        op = operation.operation
        if op.name == "linalg.index":
            values[op.results[0]] = loops[ir.IntegerAttr(op.attributes["dim"]).value]
        elif op.name == gathers.LOAD and not op.operands[0].type.has_static_shape:
            self._load_guarded(op, values, spreads)
        elif self.width == 1 or (spreads is not None and spreads[op.results[0]] is not Spread.VECTOR):
            clone(operation, values)
        elif op.name == gathers.LOAD:
            memory_, *indices = [values.get(operand, operand) for operand in op.operands]
            type_ = self._vector(op.results[0].type)
            alignment = memory.vector_bytes(type_)
            values[op.results[0]] = dialect("vector").LoadOp(type_, memory_, indices, alignment=alignment).result
        elif op.name == "arith.select" and spreads is not None and spreads.get(op.operands[0]) is not Spread.VECTOR:
            condition, *either = [values.get(operand, operand) for operand in op.operands]
            chosen = dialect("arith").SelectOp(condition, *map(self._wide, either))
            values[op.results[0]] = chosen.result
        elif op.name == "arith.constant":
            values[op.results[0]] = constants.splat(self._vector(op.results[0].type), op.attributes["value"])
        else:
            types = [self._vector(result.type) for result in op.results]
            operands = [self._wide(values.get(operand, operand)) for operand in op.operands]
            new = ir.Operation.create(op.name, results=types, operands=operands, attributes=attributes_of(op))
            values.update(zip(op.results, new.results, strict=True))

    def _load_guarded(self, op: Any, values: dict[Any, Any], spreads: Spreads | None) -> None:
        """A read at a computed place of memory whose size is known at run time only, zero where that has no such
        place."""
        source, *indices = [values.get(operand, operand) for operand in op.operands]
        wide = self.width > 1 and (spreads is None or spreads[op.results[0]] is Spread.VECTOR)
        type_ = self._vector(op.results[0].type) if wide else op.results[0].type

        def made() -> Any:
            if not wide:
                return dialect("memref").LoadOp(source, indices).result
            return dialect("vector").LoadOp(type_, source, indices, alignment=memory.vector_bytes(type_)).result

        inside = [guards.less(index, size_of(source, axis)) for axis, index in enumerate(indices)
                  if source.type.is_dynamic_dim(axis)]  # fmt: skip
        values[op.results[0]] = guards.value_or_zero(guards.both(inside), type_, made)

    def _vector(self, element: Any) -> Any:
        return ir.VectorType.get([self.width], element)

    def _wide(self, value: Any) -> Any:
        """A number as the same number for each of the iteration's points."""
        if self.width == 1 or isinstance(value.type, ir.VectorType):
            return value
        if getattr(value.owner, "name", "") == "arith.constant":
            return constants.splat(self._vector(value.type), value.owner.attributes["value"])
        return dialect("vector").BroadcastOp(self._vector(value.type), value).result

    def _load(
        self, points: Pointwise, operand: Any, map_: Any, loops: dict[int, Any], spreads: Spreads | None = None
    ) -> Any:
        if not isinstance(operand.type, ir.MemRefType):
            return operand
        if operand in self.pending:
            return self.pending[operand][0]
        if positions.is_position(operand):
            return self._position(points, operand, map_, loops, spreads is not None)
        if getattr(operand.owner, "name", "") == "memref.alloc":
            raise pass_error(points.operation, f"a buffer of {operand.type} is read before it is written")
        row = self._row(points, operand, map_)
        if row is not None:
            return row
        indices = [_index(map_, each, loops) for each in map_.results]
        if self.width == 1 or not pointwise.mentions(map_, points.parallel[self.fastest]):
            return dialect("memref").LoadOp(operand, indices).result
        type_ = self._vector(operand.type.element_type)
        return dialect("vector").LoadOp(type_, operand, indices, alignment=memory.vector_bytes(type_)).result

    def _position(self, points: Pointwise, operand: Any, map_: Any, loops: dict[int, Any], first: bool) -> Any:
        """The element of positions at this point, or at its neighbours too unless the `first` is enough."""
        indices = [_index(map_, each, loops) for each in map_.results]
        loop = points.parallel[self.fastest] if self.width > 1 else -1
        along = [axis for axis, each in enumerate(map_.results) if getattr(each, "position", None) == loop]
        if self.width == 1 or first or not along:
            return positions.at(operand, indices)
        return positions.in_a_row(operand, indices, along[0], self.width)

    def _row(self, points: Pointwise, operand: Any, map_: Any) -> Any:
        """A vector of an operand that is turned, or taken apart, in registers; None for any other."""
        if self.interleaved is not None:
            return self.interleaved.row(points, operand, map_, self.place)
        return self.turned.row(points, operand, map_, self.across) if self.turned is not None else None

    def _copied(self, copy: Any, at: list[Any], fastest: int) -> Any:
        """The elements of a tile.copy's source, zeros beyond its end; one by one, because rows may start anywhere."""
        points = [
            [indexing.add(x, number) if loop == fastest else x for loop, x in enumerate(at)]
            for number in range(self.width)
        ]
        unguarded = [_Element.of(copy, point) for point in points]
        if self.width == 1:
            return unguarded[0].value()
        type_ = self._vector(copy.operands[1].type.element_type)

        def together(values: list[Any]) -> Any:
            return dialect("vector").FromElementsOp(type_, values).result

        return guards.either(
            unguarded[-1].inside(),
            type_,
            lambda: together([element.load() for element in unguarded]),
            lambda: together([element.value() for element in unguarded]),
        )


@dataclass(frozen=True)
class _Element:
    """One element of the source of a tile.copy."""

    source: Any
    indices: list[Any]
    guarded: list[int]
    """Dimensions of the source that may end before the index."""

    @staticmethod
    def of(copy: Any, at: list[Any]) -> _Element:
        """The element that goes to the index `at` of the target."""
        place, (target, source) = tile.place_of(copy), list(copy.operands)[:2]
        indices: list[Any] = []
        guarded: list[int] = []
        for axis, (offset, dim, known) in enumerate(zip(place.offsets, place.dims, place.in_bounds, strict=True)):
            start, extent = constants.integer_of(offset), 1 if dim < 0 else target.type.shape[dim]
            indices.append(offset if dim < 0 else at[dim] if start == 0 else indexing.add(offset, at[dim]))
            if not known and (start is None or not 0 <= start <= source.type.shape[axis] - extent):
                guarded.append(axis)
        return _Element(source, indices, guarded)

    def inside(self) -> Any | None:
        """Whether the source has this element; None where it is sure to."""
        arith, result = dialect("arith"), None
        for axis in self.guarded:
            size = constants.index(self.source.type.shape[axis])
            fits = arith.CmpIOp(arith.CmpIPredicate.ult, self.indices[axis], size).result
            result = fits if result is None else arith.AndIOp(result, fits).result
        return result

    def load(self) -> Any:
        return dialect("memref").LoadOp(self.source, self.indices).result

    def value(self) -> Any:
        """The element, or zero."""
        return guards.value_or_zero(self.inside(), self.source.type.element_type, self.load)


def _index(map_: Any, expression: Any, loops: dict[int, Any]) -> Any:
    """The value of one index of a map, at the insertion point."""
    if isinstance(expression, ir.AffineDimExpr):
        return loops[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return constants.index(expression.value)
    single = ir.AffineMapAttr.get(ir.AffineMap.get(map_.n_dims, 0, [expression]))
    values = [loops[loop] if loop in loops else constants.index(0) for loop in range(map_.n_dims)]
    return dialect("affine").AffineApplyOp(single, values).result
