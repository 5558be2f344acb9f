"""wmma-epilogue: arithmetic on the accumulator goes through shared memory, where each lane knows its elements.

Expects a kernel function with warp tiles, in which the k loop's result is used by elementwise arithmetic whose results
are stored by tile.store. Fragments are opaque (which lane holds which element is not known), so the result is handed
over in chunks of `rows` rows: the warp stores a chunk to its own part of a scratch buffer, every lane reads vectors of
consecutive elements of it, applies the arithmetic and stores them to global memory, 128 bits at a time where the type
allows. Memory of rank 0 is read as one number. Accumulators that are stored without arithmetic stay: WMMA stores its
fragments itself. Where a block walks tiles (`tile.tiles`), the scratch lies before the loop over them. A second run
changes nothing. Refuses arithmetic on the accumulator inside or before the k loop, results that are used for anything
but tile.store, accesses to the same memory whose order would change, and tiles that are not known to lie within their
memory (`in_bounds`), or do not run along both dimensions of a matrix in order; memory of rank 1 may have a number for
each column, dense, or for each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect import constants, indexing, memory, tile
from mlir_gemm.dialect.accumulator_flow import flow_of
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.memory import subview
from mlir_gemm.dialect.walk import ancestor_in, in_block, named, users
from mlir_gemm.errors import PassError
from mlir_gemm.lowering.named_barriers import sync_warp
from mlir_gemm.lowering.products import is_plain
from mlir_gemm.passes.base import Pass
from mlir_gemm.passes.launch.launch_blocks import threads_of
from mlir_gemm.spec.attributes import SCOPE, TILES
from mlir_gemm.spec.threads import LANES


@dataclass(frozen=True)
class WmmaEpilogue(Pass):
    """Hand accumulators to lanes through shared memory."""

    name: ClassVar[str] = "wmma-epilogue"
    rows: int = 16
    """Rows of a chunk: those of the mma's instruction."""
    pad: int = 4
    """Elements added to each row of the scratch buffer, against bank conflicts."""

    def run(self, module: Any) -> None:
        if self.rows < 1 or self.pad < 0:
            raise PassError(f"pass 'wmma-epilogue': rows={self.rows} pad={self.pad}; expected at least 1 and 0")
        for kernel in named(module, "gpu.func"):
            products = named(kernel, "tile.mma")
            if products:
                _read_numbers(kernel)
                _stage(kernel, products, self)


def _read_numbers(kernel: Any) -> None:
    """What is loaded from memory of rank 0 is one number for all elements."""
    for load in named(kernel, "tile.load"):
        source, result = load.operation.operands[0], load.operation.results[0]
        if source.type.rank or result.type.rank == 0:
            continue
        with ir.InsertionPoint(load), load.operation.location:
            number = dialect("memref").LoadOp(source, []).result
            result.replace_all_uses_with(dialect("vector").BroadcastOp(result.type, number).result)
        load.operation.erase()


def _stage(kernel: Any, products: list[Any], options: WmmaEpilogue) -> None:
    arithmetic = arithmetic_of(kernel, flow_of(products))
    if not arithmetic:
        return
    block = arithmetic[0].operation.block
    owner = block.owner.operation
    if any(op.operation.block != block for op in arithmetic) or not _is_of_tiles(owner, kernel):
        raise pass_error(arithmetic[0], "arithmetic on the accumulator inside a loop is not supported by this mma")
    inputs = _accumulators(arithmetic)
    made = [user for op in arithmetic for result in op.results for user in users(result)]
    stores = [op.operation for op in in_block(block) if op.operation.name == "tile.store" and op.operation in made]
    loads = [value.owner.operation for value in inputs if _maker(value) == "tile.load"]
    _check_uses(arithmetic, made, inputs)
    if not stores:
        return
    check_order(kernel, block, loads, stores)
    with ir.InsertionPoint(stores[-1]), arithmetic[0].location:
        _emit(kernel, arithmetic, inputs, stores, options)
    for operation in [*stores, *reversed(arithmetic)]:
        operation.operation.erase()
    for load in loads:
        if not users(load.results[0]):
            load.erase()


def _is_of_tiles(owner: Any, kernel: Any) -> bool:
    """Whether an operation's body is what a block does for a tile: the kernel, or a loop over the block's tiles."""
    return owner == kernel.operation or (TILES in owner.attributes and owner.parent == kernel.operation)


def _maker(value: Any) -> str:
    """The name of the operation that makes a value; empty for a block argument."""
    return "" if hasattr(value.owner, "operations") else value.owner.operation.name


def _check_uses(arithmetic: list[Any], made: list[Any], inputs: list[Any]) -> None:
    own = {op.operation for op in arithmetic}
    for user in made:
        if user not in own and (user.name != "tile.store" or user.block != arithmetic[0].operation.block):
            raise pass_error(
                user,
                f"'{user.name}' uses arithmetic on the accumulator; this mma supports arithmetic only between the "
                "last product and tile.store",
            )
    for value in inputs:
        if _maker(value) == "arith.constant" and constants.splat_of(value) is None:
            raise pass_error(value, "a constant matrix that is not the same everywhere is not supported here")
        if _maker(value) == "vector.broadcast" and isinstance(value.owner.operands[0].type, ir.VectorType):
            raise pass_error(value, "a broadcast of a vector is not supported here; expected one of a number")


def check_order(kernel: Any, block: Any, loads: list[Any], stores: list[Any]) -> None:
    """Refuses to delay loads and stores, up to the last of the stores, past others of the same memory."""
    order = {op.operation: number for number, op in enumerate(in_block(block))}
    delayed: list[tuple[Any, list[Any], bool]] = []
    for access in [op.operation for op in named(kernel, "tile.load", "tile.store")]:
        if order[ancestor_in(block, access)] > order[stores[-1]]:
            return
        writes = access.name == "tile.store"
        target, *offsets = list(access.operands)[writes:]
        moves = access in loads or access in stores
        for earlier, at, wrote in delayed:
            kept = moves and at == offsets and (writes or not wrote)
            if earlier == target and (writes or wrote) and not kept:
                raise pass_error(
                    access, "this accesses memory that the arithmetic on the accumulator also reads or writes"
                )
        if moves:
            delayed.append((target, offsets, writes))


def arithmetic_of(kernel: Any, flow: dict[Any, None]) -> list[Any]:
    """The elementwise operations that the accumulator flows through, in order."""
    found: list[Any] = []
    for operation in named(kernel, *{value.owner.name for value in flow if not hasattr(value.owner, "operations")}):
        results = list(operation.operation.results)
        if not results or results[0] not in flow:
            continue
        name = operation.operation.name
        if name.startswith(("arith.", "math.")) and name != "arith.constant":
            found.append(operation)
    return found


def _accumulators(arithmetic: list[Any]) -> list[Any]:
    """The vectors that the arithmetic takes from outside: the accumulator, loaded tiles and constants, each once."""
    made = {result for op in arithmetic for result in op.operation.results}
    operands = [value for op in arithmetic for value in op.operation.operands]
    return [v for v in dict.fromkeys(operands) if v not in made and isinstance(v.type, ir.VectorType)]


def _emit(kernel: Any, arithmetic: list[Any], inputs: list[Any], stores: list[Any], options: WmmaEpilogue) -> None:
    gpu = dialect("gpu")
    registers = [value for value in inputs if _maker(value) not in ("tile.load", "arith.constant", "vector.broadcast")]
    m, n = registers[0].type.shape if registers else inputs[0].type.shape
    width = _lane_width([*inputs, *(store.operands[0] for store in stores)], options.rows, n)
    if not width or m % options.rows:
        raise pass_error(arithmetic[0], f"a warp tile of {m}x{n} in chunks of {options.rows} rows for {LANES} lanes")
    _check_rows(inputs, stores, width)
    owner = stores[0].block.owner.operation
    with ir.InsertionPoint.current if owner == kernel.operation else ir.InsertionPoint(owner):
        buffers = [_buffer(kernel, value, n, options) for value in registers]
    scratch = [_own_part(buffer, n, options) for buffer in buffers]
    gpu.BarrierOp()  # operand buffers, whose memory the scratch may share, are no longer read
    lane = indexing.rem(indexing.thread(), LANES)
    positions = _lane_positions(lane, options.rows, n, width)
    for first in range(0, m, options.rows):
        for value, part in zip(registers, scratch, strict=True):
            _spill(value, part, first, options.rows, n)
        sync_warp()
        for row, column in positions:
            _lane_work(
                arithmetic, inputs, dict(zip(registers, scratch, strict=True)), stores, (first, row, column), width
            )
        sync_warp()


def _lane_width(values: list[Any], rows: int, n: int) -> int:
    """Elements that a lane takes at once: 128 bits of the narrowest type, fewer if the chunk has too few elements; 0 if
    it does not divide at all."""
    narrowest = min(value.type.element_type.width for value in values)
    width = 128 // narrowest
    while width and (n % width or rows * n % (width * LANES)):
        width //= 2
    return width


def _check_rows(inputs: list[Any], stores: list[Any], width: int) -> None:
    """Refuses memory that cannot be accessed in the vectors that a lane takes."""
    loads = [
        (value.owner.operation, value, value.owner.operands[0])
        for value in inputs
        if _maker(value) == "tile.load" and not _is_along_one(value.owner.operation)
    ]
    for access, value, target in [*loads, *((store, store.operands[0], store.operands[1]) for store in stores)]:
        bits = 8 * memory.vector_bytes(ir.VectorType.get([width], value.type.element_type))
        if not is_plain(access):
            raise pass_error(
                access,
                "expected a tile along both dimensions of a matrix, in order, and surely within it (in_bounds): this "
                "mma moves whole vectors of rows",
            )
        if value.type.element_type != target.type.element_type or not memory.has_rows(target.type, bits):
            raise pass_error(
                access,
                f"a {value.type} in a {target.type}; expected the same elements, in rows a constant multiple of {bits} "
                "bits apart",
            )


def _is_along_one(load: Any) -> bool:
    """Whether a load takes one number for each column, or each row: a bias."""
    place, type_ = tile.place_of(load), load.operands[0].type
    same = type_.element_type == load.results[0].type.element_type
    return same and all(place.in_bounds) and (place.dims == (0,) or (place.dims == (1,) and _is_dense(type_)))


def _is_dense(type_: Any) -> bool:
    return type_.get_strides_and_offset()[0] == [1]


def _buffer(kernel: Any, value: Any, n: int, options: WmmaEpilogue) -> Any:
    """A scratch buffer with room for a chunk of `value` of each warp, at the insertion point."""
    threads = threads_of(kernel)
    rows, width = options.rows, n + options.pad
    buffer = memory.shared_buffer([threads // LANES * rows, width], value.type.element_type)
    if not memory.has_rows(buffer.type, 128):
        raise PassError(
            f"pass 'wmma-epilogue': pad={options.pad} leaves rows of {width} elements of {buffer.type.element_type} "
            "in the scratch buffer; expected a multiple of 128 bits"
        )
    return buffer


def _own_part(buffer: Any, n: int, options: WmmaEpilogue) -> Any:
    """This warp's part of a scratch buffer."""
    start = indexing.mul(tile.unit_id(), options.rows)
    return subview(buffer, [start, constants.index(0)], [options.rows, n])


def _lane_positions(lane: Any, rows: int, n: int, width: int) -> list[tuple[Any, Any]]:
    """Row and column, in a chunk, of each vector that a lane takes; neighbours in a row go to neighbouring lanes."""
    across = n // width
    positions: list[tuple[Any, Any]] = []
    for first in range(0, rows * across, LANES):
        number = indexing.add(lane, first)
        if LANES % across == 0:  # the column does not depend on `first`
            row = indexing.add(indexing.div(lane, across), first // across)
            number = lane
        else:
            row = indexing.div(number, across)
        column = indexing.rem(number, across)
        positions.append((row, indexing.mul(column, width)))
    return positions


def _spill(value: Any, part: Any, first: int, rows: int, n: int) -> None:
    """Stores rows `first` .. `first + rows` of a warp's vector to its scratch."""
    chunk = dialect("vector").ExtractStridedSliceOp(
        ir.VectorType.get([rows, n], value.type.element_type), value, [first, 0], [rows, n], [1, 1]
    )
    origin = constants.index(0)
    store = tile.store(chunk.result, part, tile.Place.at([origin, origin], 2, in_bounds=True))
    store.attributes[SCOPE] = ir.StringAttr.get("warp")


def _lane_work(
    arithmetic: list[Any],
    inputs: list[Any],
    scratch: dict[Any, Any],
    stores: list[Any],
    at: tuple[int, Any, Any],
    width: int,
) -> None:
    """The arithmetic on one vector of one lane, from its loads to its stores."""
    values: dict[Any, Any] = {}
    for value in inputs:
        values[value] = _lane_input(value, scratch, at, width)
    for operation in arithmetic:
        old = operation.operation
        types = [ir.VectorType.get([width], result.type.element_type) for result in old.results]
        attributes = attributes_of(old)
        operands = [values.get(value, value) for value in old.operands]
        new = ir.Operation.create(old.name, results=types, operands=operands, attributes=attributes, loc=old.location)
        values.update(zip(old.results, new.results, strict=True))
    for store in stores:
        value, target, *offsets = store.operands
        _vector_store(values[value], target, _in_global(offsets, at))


def _lane_input(value: Any, scratch: dict[Any, Any], at: tuple[int, Any, Any], width: int) -> Any:
    _, row, column = at
    type_ = ir.VectorType.get([width], value.type.element_type)
    if value in scratch:
        return _vector_load(type_, scratch[value], [row, column])
    if _maker(value) == "arith.constant":
        return constants.splat(type_, constants.splat_of(value))
    if _maker(value) == "vector.broadcast":
        return dialect("vector").BroadcastOp(type_, value.owner.operands[0]).result
    source, *offsets = value.owner.operands
    dims = tile.place_of(value.owner).dims
    if dims == (1,):  # one for each column, of which nothing is known but that elements are aligned
        item = memory.vector_bytes(ir.VectorType.get([1], type_.element_type))
        return dialect("vector").LoadOp(type_, source, [indexing.add(offsets[0], column)], alignment=item).result
    if dims == (0,):
        place = indexing.add(offsets[0], indexing.add(row, at[0]))
        return dialect("vector").BroadcastOp(type_, dialect("memref").LoadOp(source, [place]).result).result
    return _vector_load(type_, source, _in_global(offsets, at))


def _in_global(offsets: list[Any], at: tuple[int, Any, Any]) -> list[Any]:
    first, row, column = at
    down = indexing.add(row, first)
    return [indexing.add(offsets[0], down), indexing.add(offsets[1], column)]


def _vector_load(type_: Any, source: Any, indices: list[Any]) -> Any:
    return dialect("vector").LoadOp(type_, source, indices, alignment=memory.vector_bytes(type_)).result


def _vector_store(value: Any, target: Any, indices: list[Any]) -> None:
    dialect("vector").StoreOp(value, target, indices, alignment=memory.vector_bytes(value.type))
