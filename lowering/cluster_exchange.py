"""What the blocks of a cluster hand to each other: numbers, each stored in the shared memory of every block, where an
mbarrier counts the bytes that came (`st.async`).

A barrier of the cluster would order all memory that a thread has touched: a fence for the whole GPU (MEMBAR.ALL.GPU in
the machine code) for every thread, while other blocks of the SM load and store. A store that an mbarrier counts orders
itself alone. Of an mbarrier's own initialisation the blocks learn when they meet once at the start, with nothing else
to order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlir_gemm.dialect import guards, indexing
from mlir_gemm.dialect.bindings import dialect, ir
from mlir_gemm.dialect.memory import shared_buffer
from mlir_gemm.dialect.rings import BARRIERS, i32_constant
from mlir_gemm.dialect.walk import body, in_block, named
from mlir_gemm.lowering import assembly, shared_address

FEATURES = "+ptx81"
"""LLVM's features for `st.async`, of PTX 8.1."""
MEETING = "nvvm.cluster.arrive.relaxed"
STORE = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b"
"""The beginning of a store's text, before its bits."""
WORD, LONG = 32, 64
"""Bits that a store takes."""
_TICKS = 10_000_000
_BYTE = 8


def word_type(element: Any) -> Any:
    """The integer type in which numbers of a type are handed over."""
    return ir.IntegerType.get_signless(LONG if element.width > WORD else WORD)


def as_word(value: Any) -> Any:
    """A number as the integer that is handed over."""
    arith, type_ = dialect("arith"), word_type(value.type)
    bits = ir.IntegerType.get_signless(value.type.width)
    plain = value if value.type == bits else arith.BitcastOp(bits, value).result
    return plain if bits == type_ else arith.ExtUIOp(type_, plain).result


def from_word(word: Any, type_: Any) -> Any:
    """The number of a type that was handed over as an integer."""
    arith, bits = dialect("arith"), ir.IntegerType.get_signless(type_.width)
    plain = word if word.type == bits else arith.TruncIOp(bits, word).result
    return plain if bits == type_ else arith.BitcastOp(type_, plain).result


def meet_first(kernel: Any) -> None:
    """Before a block writes to the memory of others, these must have started, which each signals at its start; nothing
    later than the insertion point is handed over before."""
    if not named(kernel, MEETING):
        with ir.InsertionPoint(in_block(body(kernel))[0]), kernel.location:
            dialect("nvvm").ClusterArriveRelaxedOp()
        dialect("nvvm").ClusterWaitOp()


def mbarrier(kernel: Any) -> Any:
    """A pointer to a new mbarrier of this block, initialised at the kernel's start, whose first phase is complete once
    bytes are announced and came."""
    nvvm = dialect("nvvm")
    with ir.InsertionPoint(named(kernel, MEETING)[0]), kernel.location:
        buffer = shared_buffer([1, 1], ir.IntegerType.get_signless(LONG), BARRIERS)
        pointer = shared_address.pointer(shared_address.base(buffer))
        first = indexing.equal(indexing.thread(), 0)

        def initialise() -> None:
            nvvm.MBarrierInitOp(pointer, i32_constant(1))
            nvvm.FenceMbarrierInitOp()

        guards.do(first, initialise)
    return pointer


def announce(counted: Any, bytes_: int) -> None:
    """Lets an mbarrier wait for so many bytes, at the insertion point: some may have come, which it then knows.

    It stands after the blocks' meeting. Beside the initialisation ptxas makes no branch of both but one instruction of
    the warp and one of a lane, which racecheck takes for a race."""
    states = [ir.IntegerType.get_signless(LONG)]
    first = indexing.equal(indexing.thread(), 0)
    guards.do(first, lambda: dialect("nvvm").MBarrierArriveExpectTxOp(counted, i32_constant(bytes_), results=states))


def to_all(blocks: int, number: Any, threads: int, store: Callable[[Any], None]) -> None:
    """Lets each of `threads` threads side by side, of which the running one has a `number`, store to some of the
    `blocks` blocks of the cluster. `store` is given the number of a block, an i32. Both counts are powers of two."""
    for first in range(0, blocks, threads):
        block = indexing.as_i32(indexing.add(number, first))
        guards.do(guards.less(number, blocks) if threads > blocks else None, lambda block=block: store(block))


def hand_over(words: Sequence[Any], places: Sequence[Any], counted: Any, block: Any) -> None:
    """Stores integers to places in a block's shared memory (pointers to the same places in this block's), where an
    mbarrier counts them."""
    there = _mapped(counted, block)
    for word, place in zip(words, places, strict=True):
        bits = word.type.width
        letter = "l" if bits == LONG else "r"
        text = f"{STORE}{bits} [$0], $1, [$2];"
        assembly.inline(text, ["l", letter, "l"], [_mapped(place, block), word, there])


def wait(counted: Any) -> None:
    """Waits until all has come."""
    dialect("nvvm").MBarrierTryWaitParityOp(counted, i32_constant(0), i32_constant(_TICKS))


def _mapped(pointer: Any, block: Any) -> Any:
    """The same place in another block, as a number."""
    there = dialect("nvvm").MapaOp(ir.Type.parse("!llvm.ptr<7>"), pointer, block).operation.results[0]
    i64 = ir.IntegerType.get_signless(LONG)
    return dialect("llvm").PtrToIntOp(i64, there).operation.results[0]
