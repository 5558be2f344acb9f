"""nvvm: ldmatrix on addresses, and byte permutes and the words of A that products take from registers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.access import Access
from mlir_gemm.simulator.decode import Decoder, Info, Step, handles
from mlir_gemm.simulator.elements import ELEMENTS, LANES
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.mbarriers import buffer_at
from mlir_gemm.simulator.ops_gpu import check_collective
from mlir_gemm.simulator.shadow import ANY_LANE
from mlir_gemm.simulator.warps import Stop, Warp
from mlir_gemm.simulator.wgmma import Registers
from mlir_gemm.simulator.wgmma_registers import feeds_products

_ROWS, _ROW_BYTES = 8, 16
"""Rows of the matrices that ldmatrix loads, and bytes of a row."""


@handles("nvvm.ldmatrix")
def _ldmatrix(decoder: Decoder, operation: Any) -> Step:
    op = operation.operation
    count = ir.IntegerAttr(op.attributes["num"]).value
    transposed = "col" in str(op.attributes["layout"])
    if re.findall(r"= (\d+)", str(op.attributes["shape"])) != ["8", "8"] or "b16" not in str(op.attributes["eltType"]):
        raise unsupported(operation, "of other than 8x8 matrices of b16 is not simulated")
    info = decoder.info(operation, collective=True)
    access = Access(decoder, info, ELEMENTS["i16"], _ROW_BYTES // 2, _ROW_BYTES)
    access.awaited = feeds_products(op.results[0])
    source, out = decoder.slot(op.operands[0]), decoder.slot(op.results[0])

    def step(warp: Warp) -> None:
        check_collective(info, warp)
        starts = np.broadcast_to(np.asarray(warp.slots[source], np.int64), LANES)[: count * _ROWS]
        found = buffer_at(warp.block, int(starts[0]))
        if found is None:
            info.find("out-of-bounds", warp, 0, "", f"address {starts[0]}, where no shared memory is")
            raise Stop("an access to no shared memory")
        view = found[0].view
        assert view is not None
        rows = access.read(warp, view, starts - found[0].address, None, warp.code + ANY_LANE)
        rows = np.asarray(rows, np.int16).reshape(count, _ROWS, -1)
        if transposed:
            rows = rows.transpose(0, 2, 1)
        words = np.ascontiguousarray(rows).reshape(count, LANES, 2).view(np.int32)[:, :, 0]
        warp.slots[out] = Registers.of(np.ascontiguousarray(words.T), warp.fences)

    return step


def permuted(decoder: Decoder, operation: Any) -> Step:
    """llvm.inline_asm of prmt: each byte of a word is one of the eight of two others."""
    low, high, selector = decoder.all_slots(operation.operation.operands)
    out = decoder.slot(operation.operation.results[0])

    def step(warp: Warp) -> None:
        words = [np.broadcast_to(np.asarray(warp.slots[slot], np.int32), LANES) for slot in (low, high, selector)]
        if np.any(words[2] & 0x8888):
            raise unsupported(operation, "a permutation that spreads signs is not simulated")
        given = np.ascontiguousarray(np.stack(words[:2], axis=1)).view(np.uint8)
        places = words[2][:, None] >> np.arange(0, 16, 4) & 7
        warp.slots[out] = np.ascontiguousarray(np.take_along_axis(given, places, axis=1)).view(np.int32)[:, 0]

    return step


def take_words(info: Info, warp: Warp, slots: Sequence[int]) -> None:
    """A product takes words from registers: that they are there orders what was loaded to them before what comes after.
    Reports registers that were written while an earlier product may have read them, or after the last wgmma.fence."""
    for slot in slots:
        words, group = warp.reading.get(slot, (None, 0))
        if words is not None and words is not warp.slots[slot] and group > warp.waited:
            message = f"A's registers were written again while the product of group {group} may still read them"
            info.find("wgmma-registers", warp, -1, "", message)
            break
    if warp.accesses >= warp.fences:
        message = "registers with A were written with no wgmma.fence between that and the product"
        info.find("wgmma-fence", warp, -1, "", message)
    if not np.any(warp.unfenced):
        warp.seen[warp.block.cluster.agents.fence(warp.index)] = warp.clock
        warp.clock += 1


def words_in(warp: Warp, slots: Sequence[int]) -> Any:
    """The words of a warp's lanes: (lanes, words)."""
    words = [np.broadcast_to(np.asarray(warp.slots[slot], np.int32), LANES) for slot in slots]
    return np.stack(words, axis=1)
