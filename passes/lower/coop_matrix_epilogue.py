"""coop-matrix-epilogue: what is done to accumulators after the k loop is done to tiles in shared memory.

Expects a kernel function with warp tiles, in which the k loop's result goes through elementwise arithmetic to
tile.store, or to a tile.store that no fragment can do: of a tile that may reach over the edge of its memory
(`in_bounds`), is transposed, has another type, or rows that do not begin at multiples of 128 bits. Cooperative matrices
are opaque (which invocation holds which element is the driver's secret), so the result is handed over in chunks of
`rows` rows: a tile.store of a chunk to the warp's own part of a scratch buffer, a barrier of the whole block, since
nobody promises which invocations run in step, and a tile.load of it; the arithmetic and the stores follow on tiles of
that size, which `tiles-to-lanes` lowers. What fragments can store stays, and so does arithmetic that whole matrices can
do, between what fragments can load and store. A second run changes nothing. Refuses what `wmma-epilogue` refuses of
arithmetic: in or before the k loop, and accesses to the same memory whose order would change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, memory, tile
from mlir_gemm.dialect.accumulator_flow import flow_of
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import has_rows, subview
from mlir_gemm.dialect.walk import in_block, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.opaque_fragments import ELEMENTWISE
from mlir_gemm.lowering.products import is_plain
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.launch.launch_blocks import threads_of
from mlir_gemm.passes.lower.wmma_epilogue import arithmetic_of, check_order
from mlir_gemm.spec.attributes import SCOPE
from mlir_gemm.spec.threads import LANES

ROW_BITS = 128
"""Rows that fragments store begin at multiples of this."""


@dataclass(frozen=True)
class CoopMatrixEpilogue(Pass):
    """Hand accumulators over through shared memory."""

    name: ClassVar[str] = "coop-matrix-epilogue"
    rows: int = 16
    """Rows of a chunk: those of the mma's instruction."""
    half: bool = True
    """Whether whole matrices of sums may be of f16, as chips have them that add up in f16; else of f32 and i32 only."""

    def run(self, module: Any) -> None:
        if self.rows < 1:
            raise PassError(f"pass 'coop-matrix-epilogue': rows={self.rows}; expected at least 1")
        for kernel in named(module, "gpu.func"):
            products = named(kernel, "tile.mma")
            if products:
                _stage(kernel, products, self)


def _stage(kernel: Any, products: list[Any], options: CoopMatrixEpilogue) -> None:
    flow = flow_of(products)
    arithmetic = [each.operation for each in arithmetic_of(kernel, flow)]
    stores = [each.operation for each in named(kernel, "tile.store") if each.operands[0] in flow]
    stores = [each for each in stores if _maker(each.operands[0]) != "arith.constant"]
    if _on_fragments(arithmetic, stores, ("f32", "i32", "f16") if options.half else ("f32", "i32")):
        return
    stores = [each for each in stores if not (_is_accumulator(each.operands[0]) and _moves_fragments(each))]
    top = kernel.operation.regions[0].blocks[0]
    for operation in [*arithmetic, *stores]:
        if operation.block != top:
            raise pass_error(operation, f"'{operation.name}' on the accumulator inside a loop; expected it after the k "
                             "loop")  # fmt: skip
    own = {*arithmetic, *stores}
    for operation in arithmetic:
        for user in users(operation.results[0]):
            if user not in own:
                raise pass_error(user, f"'{user.name}' uses arithmetic on the accumulator; expected tile.store")
    inputs = _inputs(arithmetic, stores)
    order = {operation.operation: number for number, operation in enumerate(in_block(top))}
    stores.sort(key=order.__getitem__)
    loads = [value.owner.operation for value in inputs if _maker(value) == "tile.load"]
    check_order(kernel, top, loads, stores)
    with ir.InsertionPoint(stores[-1]), stores[-1].location:
        _emit(kernel, arithmetic, inputs, stores, options.rows)
    for operation in [*stores, *reversed(arithmetic)]:
        operation.erase()
    for load in loads:
        if not users(load.results[0]):
            load.erase()


def _maker(value: Any) -> str:
    """The name of the operation that makes a value; empty for a block argument."""
    return "" if hasattr(value.owner, "operations") else value.owner.operation.name


def _is_accumulator(value: Any) -> bool:
    return _maker(value) in ("scf.for", "tile.mma")


def _moves_fragments(access: Any) -> bool:
    """Whether fragments can do a tile.load or a tile.store: whole, in rows that begin where theirs do."""
    stores = access.name == "tile.store"
    value, target = (access.operands[0] if stores else access.results[0]), access.operands[1 if stores else 0]
    alike = value.type.element_type == target.type.element_type
    return alike and is_plain(access) and has_rows(target.type, ROW_BITS)


def _on_fragments(arithmetic: list[Any], stores: list[Any], types: tuple[str, ...]) -> bool:
    """Whether everything after the k loop can be done to whole fragments of these elements."""
    values = [*_inputs(arithmetic, stores), *(result for operation in arithmetic for result in operation.results)]
    return all(
        [
            all(str(value.type.element_type) in types for value in values),
            all(operation.name in ELEMENTWISE for operation in arithmetic),
            all(map(_moves_fragments, stores)),
            all(map(_is_fragment, _inputs(arithmetic, stores))),
        ]
    )


def _is_fragment(value: Any) -> bool:
    """Whether a tile that arithmetic starts from can be a grid of fragments."""
    made = _maker(value)
    if made == "tile.load":
        return _moves_fragments(value.owner.operation)
    return _is_accumulator(value) or (made == "arith.constant" and constants.splat_of(value) is not None)


def _inputs(arithmetic: list[Any], stores: list[Any]) -> list[Any]:
    """The tiles that arithmetic and stores take from outside: accumulators, loaded tiles and constants, each once."""
    made = {result for operation in arithmetic for result in operation.results}
    operands = [value for operation in arithmetic for value in operation.operands]
    operands += [store.operands[0] for store in stores]
    return [v for v in dict.fromkeys(operands) if v not in made and isinstance(v.type, ir.VectorType)]


def _emit(kernel: Any, arithmetic: list[Any], inputs: list[Any], stores: list[Any], rows: int) -> None:
    gpu = dialect("gpu")
    registers = [v for v in inputs if _maker(v) not in ("tile.load", "arith.constant", "vector.broadcast")]
    m, n = inputs[0].type.shape
    if m % rows:
        raise pass_error(stores[0], f"a warp tile of {m} rows in chunks of {rows}; expected a multiple")
    parts = {value: _scratch(kernel, value, rows, n) for value in registers}
    gpu.BarrierOp()  # operand buffers, whose memory the scratch may share, are no longer read
    for first in range(0, m, rows):
        if first:
            gpu.BarrierOp()  # the chunk before has been read
        for value, part in parts.items():
            _spill(value, part, first, rows, n)
        gpu.BarrierOp()
        _chunk(arithmetic, inputs, parts, stores, (first, rows, n))


def _scratch(kernel: Any, value: Any, rows: int, n: int) -> Any:
    """This warp's part of a scratch buffer for one chunk. Rows are 16 bytes apart beyond their length, against bank
    conflicts."""
    element = value.type.element_type
    width = n + ROW_BITS // element.width
    buffer = memory.shared_buffer([threads_of(kernel) // LANES * rows, width], element)
    return subview(buffer, [indexing.mul(tile.unit_id(), rows), constants.index(0)], [rows, n])


def _spill(value: Any, part: Any, first: int, rows: int, n: int) -> None:
    """Stores the rows from `first` on of a warp's accumulator to its scratch."""
    chunk = value
    if value.type.shape[0] != rows:
        type_ = ir.VectorType.get([rows, n], value.type.element_type)
        chunk = dialect("vector").ExtractStridedSliceOp(type_, value, [first, 0], [rows, n], [1, 1]).result
    origin = constants.index(0)
    store = tile.store(chunk, part, tile.Place.at([origin, origin], 2, in_bounds=True))
    store.attributes[SCOPE] = ir.StringAttr.get("warp")


def _chunk(
    arithmetic: list[Any], inputs: list[Any], parts: dict[Any, Any], stores: list[Any], at: tuple[int, int, int]
) -> None:
    """The arithmetic and the stores of one chunk: its first row, its rows and its columns are `at`."""
    first, rows, n = at
    values = {value: _input(value, parts, at) for value in inputs}
    for operation in arithmetic:
        types = [ir.VectorType.get([rows, n], result.type.element_type) for result in operation.results]
        operands = [values.get(value, value) for value in operation.operands]
        made = ir.Operation.create(operation.name, types, operands, attributes_of(operation), loc=operation.location)
        values.update(zip(operation.results, made.results, strict=True))
    for store in stores:
        made = store.clone()
        made.operands[0] = values[store.operands[0]]
        _move(made, first)


def _input(value: Any, parts: dict[Any, Any], at: tuple[int, int, int]) -> Any:
    first, rows, n = at
    type_ = ir.VectorType.get([rows, n], value.type.element_type)
    if value in parts:
        origin = constants.index(0)
        loaded = tile.load(parts[value], tile.Place.at([origin, origin], 2, in_bounds=True), type_)
        loaded.owner.attributes[SCOPE] = ir.StringAttr.get("warp")
        return loaded
    if _maker(value) == "arith.constant":
        element = constants.splat_of(value)
        if element is None:
            raise pass_error(value, "a constant matrix that is not the same everywhere is not supported here")
        return constants.splat(type_, element)
    if _maker(value) == "vector.broadcast":
        source = value.owner.operands[0]
        if isinstance(source.type, ir.VectorType):
            raise pass_error(value, "a broadcast of a vector is not supported here; expected one of a number")
        return dialect("vector").BroadcastOp(type_, source).result
    made = value.owner.operation.clone()
    made.results[0].set_type(type_)
    _move(made, first)
    return made.results[0]


def _move(access: Any, first: int) -> None:
    """Moves a tile.load or tile.store down by rows of its tile."""
    place = tile.place_of(access)
    start = len(access.operands) - len(place.offsets)
    with ir.InsertionPoint(access), access.location:
        for position, dim in enumerate(place.dims, start):
            if dim == 0 and first:
                access.operands[position] = indexing.add(access.operands[position], first)
