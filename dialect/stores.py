"""The tile dialect's operations that store results through buffers in shared memory, and the tensor maps through which
the copy engine (TMA) reads and writes memory.
"""

# pyright: reportInvalidTypeForm=false, reportGeneralTypeIssues=false, reportCallIssue=false
# pyright: reportUnknownMemberType=false, reportUntypedBaseClass=false, reportUnknownVariableType=false
# The bindings build operations from annotations that no type checker knows.

from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.dialect import rules
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.clone import attributes_of
from mlir_gemm.dialect.tile import Place, Tile, offsets_of, place_of, placed
from mlir_gemm.dialect.verifier import FLAG, NUMBERS, verifier, word

ext: Any = dialect("ext")


_STAGED = (
    rules.tile(rules.operand(0), "value", 2),
    rules.source,
    rules.ranked(2, "staging", 3, space=rules.IN_SHARED),
    rules.dense(2, "staging"),
    rules.place(1, 3, rules.operand(0), whole=True),
    rules.same_elements(rules.operand(0), rules.operand(2), "value and staging"),
)


class TmaStore(Tile.Operation, name="tma_store"):
    """A tile.store by the copy engine, through a buffer in shared memory of its own. `memory` is a memref, or the
    tensor map of one."""

    value: ext.Operand[Any]
    memory: ext.Operand[Any]
    staging: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    verify_invariants = verifier(*_STAGED, **rules.PLACE, **rules.SCOPE, apart=FLAG)


class UnalignedStore(Tile.Operation, name="unaligned_store"):
    """A tile.store by lanes, of rows that do not start at aligned addresses, through a buffer in shared memory."""

    value: ext.Operand[Any]
    memory: ext.Operand[Any]
    staging: ext.Operand[Any]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    verify_invariants = verifier(
        rules.ranked(1, "memory", static=False, space=rules.GLOBAL), *_STAGED, **rules.PLACE, **rules.SCOPE, apart=FLAG
    )


class TmaStoreWait(Tile.Operation, name="tma_store_wait"):
    """Waits until the stores by the copy engine that this unit issued have read their buffers."""

    verify_invariants = verifier()


class TensorMap(Tile.Operation, name="tensor_map"):
    """On the host: what the copy engine needs to know of a memory to move tiles of `box` elements (one number for each
    dimension of the memory), which lie in shared memory as `swizzle` says (`128`, `64`, `32` or `none`)."""

    memory: ext.Operand[Any]
    map: ext.Result[Any]
    swizzle: ir.StringAttr
    verify_invariants = verifier(
        rules.ranked(0, "memory", static=False, space=rules.GLOBAL),
        rules.box,
        box=NUMBERS,
        swizzle=word("128", "64", "32", "none"),
        element=word("tf32"),
    )


STORES = ("tile.store", "tile.tma_store", "tile.unaligned_store")
"""Operations that write a tile to global memory."""


def is_transposed(store: Any) -> bool:
    """Whether rows of the memory that a store writes run down the tile."""
    return place_of(store).dims[-1] == 0


def mirrors(store: Any, other: Any) -> bool:
    """Whether two stores write the same tile to the same memory, one of them transposed."""
    one, two = place_of(store).dims, place_of(other).dims
    same = list(store.operands)[:2] == list(other.operands)[:2]
    return same and len(one) > 1 and one[:-2] == two[:-2] and one[-2:] == tuple(reversed(two[-2:]))


def staged(store: Any, make: Callable[..., Any], staging: Any) -> Any:
    """A tile.store as another operation of the same tile, `tma_store` or `unaligned_store`, through a buffer; that."""
    value, memory, *_ = store.operands
    with ir.InsertionPoint(store), store.location:
        new = make(value, memory, staging, place_of(store))
    for name, attribute in attributes_of(store).items():
        if name != "operandSegmentSizes":
            new.attributes[name] = attribute
    store.erase()
    return new


def tma_store(value: Any, memory: Any, staging: Any, place: Place | Sequence[Any]) -> Any:
    """A tile.tma_store at the insertion point; the operation."""
    return placed(TmaStore(value, memory, staging, offsets_of(place)), place)


def unaligned_store(value: Any, memory: Any, staging: Any, place: Place | Sequence[Any]) -> Any:
    """A tile.unaligned_store at the insertion point; the operation."""
    return placed(UnalignedStore(value, memory, staging, offsets_of(place)), place)


def tma_store_wait() -> Any:
    """A tile.tma_store_wait at the insertion point; the operation."""
    return TmaStoreWait().operation


def tensor_map(memory: Any, box: Sequence[int], swizzle: str) -> Any:
    """A tile.tensor_map at the insertion point; its value."""
    type_ = ir.Type.parse("!llvm.ptr")
    operation = TensorMap(memory, type_, ir.StringAttr.get(swizzle)).operation
    operation.attributes["box"] = ir.DenseI64ArrayAttr.get(list(box))
    return operation.results[0]
