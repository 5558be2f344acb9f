"""nvvm: wgmma by the four warps of a warpgroup, which multiply together.

The product is computed when the last of the four warps gets there. Shared memory counts as read until a wait covers the
group, and the accumulator must not be read before that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator import wgmma_sparse
from mlir_gemm.simulator.access import Access
from mlir_gemm.simulator.agents import GROUP_WARPS
from mlir_gemm.simulator.decode import Blocking, Decoder, Info, Step, handles
from mlir_gemm.simulator.elements import ELEMENTS, LANES
from mlir_gemm.simulator.errors import unsupported
from mlir_gemm.simulator.mbarriers import buffer_at
from mlir_gemm.simulator.ops_gpu import uniform
from mlir_gemm.simulator.ops_wgmma_registers import take_words, words_in
from mlir_gemm.simulator.shadow import ANY_LANE
from mlir_gemm.simulator.warps import Run, Wait, Warp
from mlir_gemm.simulator.wgmma import (
    CHUNK,
    KINDS,
    ROWS,
    STEP_BYTES,
    Descriptor,
    Registers,
    Sums,
    matrix,
    may_be_transposed,
    numbers,
    whole,
)
from mlir_gemm.simulator.wgmma_registers import form_of, matrix_of, only_carried, struct_of


@dataclass
class _Meeting:
    """The warps of a warpgroup that are at one product, and what they bring."""

    operation: Any
    warps: list[Warp] = field(default_factory=list[Warp])
    parts: list[Registers] = field(default_factory=list[Registers])
    descriptors: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    words: list[Any] = field(default_factory=list[Any])
    """Those of A, where it comes in registers."""
    done: bool = False


class _Together:
    """The four warps as the one that reads shared memory: it knows what each of them knows."""

    def __init__(self, warps: list[Warp]):
        first = warps[0]
        self.block, self.number, self.index, self.code, self.clock = (
            first.block, first.number, first.index, first.code, first.clock
        )  # fmt: skip
        self.seen = np.min([warp.seen for warp in warps], axis=0)
        self.seen_least = int(self.seen.min())
        self.mask = None


@dataclass(frozen=True)
class _Operand:
    """How one of the two operands of a product is stored."""

    name: str
    kind: str
    outer: int
    along_k: bool
    negated: bool

    def read(self, together: Any, bits: int, access: Access, tick: int) -> Any:
        """The operand (outer, K), as numbers."""
        info, element = access.info, KINDS[self.kind][0]
        found = Descriptor.of(bits)
        if (found.rest or found.base) and access.checks:
            message = f"the descriptor of {self.name} has bits set beside address, distances and swizzle: {bits:#x}"
            info.find("undefined", together, -1, "", message)
        places = found.addresses(self.outer, element.bytes, self.along_k)
        at = buffer_at(together.block, found.start)
        starts = places.ravel() - (at[0].address if at else 0)
        if at is None or starts.min() < 0 or starts.max() + CHUNK > at[0].size:
            message = f"{self.name} lies at {places.min()} to {places.max() + CHUNK}, beyond shared memory"
            info.find("out-of-bounds", together, -1, "", message)
            return np.zeros((self.outer, STEP_BYTES // element.bytes), np.float32)
        view = at[0].view
        assert view is not None
        if access.checks:
            agent = together.block.cluster.agents.products(together.index)
            access.watch_later(together, view, starts, CHUNK, ANY_LANE, agent, tick, "read")
        if access.counters is not None:
            access.counters.bytes["shared_load"] += starts.size * CHUNK
        chunks = at[0].gather(starts, CHUNK, np.uint8).reshape(*places.shape, CHUNK)
        values = numbers(matrix(chunks, element.bytes, self.along_k), self.kind)
        return -values if self.negated else values


def _name(attribute: Any) -> str:
    return str(attribute).partition("<")[2].rstrip(">")


@dataclass(frozen=True)
class _Product:
    """What a product says of itself."""

    operation: Any
    kinds: list[str]
    rows: int
    columns: int
    depth: int
    fresh: bool
    operands: list[_Operand]
    """Of A and B those that lie in shared memory."""
    packed: bool
    selector: int = -1
    """Which lanes have the metadata of a sparse A; -1 where A is not sparse."""


@handles("nvvm.wgmma.mma_async")
def _multiply(decoder: Decoder, operation: Any) -> Blocking:
    op = operation.operation
    attributes = op.attributes
    sums, left, right = decoder.all_slots(op.operands)
    rows, columns, depth = (int(number) for number in re.findall(r"= (\d+)", str(attributes["shape"])))
    kinds = [_name(attributes[f"type{side}"]) for side in "ABD"]
    if any(kind not in KINDS for kind in kinds[:2]) or kinds[2] not in ("f32", "f16", "s32"):
        raise unsupported(operation, f"of {kinds} is not simulated")
    if rows != ROWS or columns % 8 or not 8 <= columns <= 256 or depth != KINDS[kinds[0]][1]:
        raise unsupported(operation, f"m{rows}n{columns}k{depth} of {kinds[0]} is not what the machine has")
    along_k = _name(attributes["layoutA"]) == "row", _name(attributes["layoutB"]) == "col"
    operands = [
        _Operand(side, kind, outer, straight, _name(attributes[f"scale{side}"]) == "neg")
        for side, kind, outer, straight in zip("AB", kinds, (rows, columns), along_k, strict=False)
    ]
    for operand in operands:
        if not operand.along_k and not may_be_transposed(operand.kind):
            raise unsupported(operation, f"of {operand.kind} takes {operand.name} with K along its rows only")
    fresh = _name(attributes["scaleD"]) == "zero"
    product = _Product(operation, kinds, rows, columns, depth, fresh, operands, kinds[2] == "f16")
    return _together(decoder, product, lambda warp: warp.slots[sums], (left, right))


def multiply_by_registers(decoder: Decoder, operation: Any) -> Blocking:
    """llvm.inline_asm of a wgmma with A in registers."""
    form = form_of(operation)
    struct = struct_of(form.sums)
    if struct is None and any(only_carried(value) for value in form.sums):
        raise unsupported(operation, "a product of members of several accumulators is not simulated")
    slots = [] if struct is not None else decoder.all_slots(form.sums)
    whole_slot = decoder.slot(struct) if struct is not None else -1
    words, right = decoder.all_slots(form.words), decoder.slot(form.b)
    info = decoder.info(operation, collective=True)
    numbers_type = np.int32 if form.kinds[2] == "s32" else np.float32

    def sums(warp: Warp) -> Any:
        take_words(info, warp, words)
        if form.fresh:
            return Registers.of(np.zeros((LANES, form.columns // 2), numbers_type), -1)
        if whole_slot >= 0:
            return warp.slots[whole_slot]
        lanes = [np.broadcast_to(np.asarray(warp.slots[slot], numbers_type), LANES) for slot in slots]
        return Registers.of(np.stack(lanes, axis=1), warp.accesses)

    operands = [_Operand("B", form.kinds[1], form.columns, True, False)]
    product = _Product(
        operation, list(form.kinds), ROWS, form.columns, form.depth, form.fresh, operands, packed=False
    )  # fmt: skip
    return _together(decoder, product, sums, (right,), words)


def multiply_sparse(decoder: Decoder, operation: Any) -> Blocking:
    """llvm.inline_asm of a wgmma with a 2:4 sparse A."""
    form = wgmma_sparse.form_of(operation)
    struct = struct_of(form.sums)
    if struct is None and not form.fresh:
        raise unsupported(operation, "a sparse product of members of several accumulators is not simulated")
    whole_slot = decoder.slot(struct) if struct is not None else -1
    left, right, metadata = decoder.all_slots(form.places)
    info = decoder.info(operation, collective=True)

    def sums(warp: Warp) -> Any:
        take_words(info, warp, (metadata,))
        if form.fresh:
            return Registers.of(np.zeros((LANES, form.columns // 2), np.float32), -1)
        return warp.slots[whole_slot]

    operands = [
        _Operand("A", form.kind, ROWS, True, False),
        _Operand("B", form.kind, form.columns, form.b_along_k, False),
    ]
    product = _Product(
        operation, [form.kind, form.kind, "f32"], ROWS, form.columns, wgmma_sparse.DEPTH, form.fresh, operands,
        packed=False, selector=form.selector,
    )  # fmt: skip
    return _together(decoder, product, sums, (left, right), (metadata,))


def _together(
    decoder: Decoder,
    product: _Product,
    sums_of: Callable[[Warp], Any],
    places: tuple[int, ...],
    words: Sequence[int] = (),
) -> Blocking:
    """A product by four warps, with operands in shared memory whose descriptors are in `places`, and the words of A in
    other slots where it comes in registers."""
    op = product.operation.operation
    out = decoder.slot(op.results[0])
    rows, columns, depth, kinds, packed = (
        product.rows, product.columns, product.depth, product.kinds, product.packed
    )  # fmt: skip
    info = decoder.info(product.operation, collective=True)
    access = Access(decoder, info, ELEMENTS["i32"], CHUNK // 4)
    counters, checks = decoder.report.counters, decoder.options.checks

    def multiply(meeting: _Meeting) -> None:
        warps = meeting.warps
        order = sorted(range(GROUP_WARPS), key=lambda place: warps[place].number)
        warps = [warps[place] for place in order]
        group = max(warp.committed for warp in warps) + 1
        if checks and len(set(meeting.descriptors)) > 1:
            info.find("divergent-collective", warps[0], -1, "", "the warps of the warpgroup have other descriptors")
        if checks and len({warp.committed for warp in warps}) > 1:
            info.find("divergent-collective", warps[0], -1, "", "the warps of the warpgroup committed other groups")
        together = _Together(warps) if checks else warps[0]
        tick = warps[0].block.cluster.start + group
        read = [
            operand.read(together, bits, access, tick)
            for operand, bits in zip(product.operands, meeting.descriptors[0], strict=True)
        ]
        own = [meeting.words[place] for place in order] if words else []
        b = read[-1]
        if product.selector >= 0:
            a, ordered = wgmma_sparse.whole_of(read[0], np.stack(own)[:, :, 0], product.selector)
            if checks and not ordered:
                info.find("undefined", warps[0], -1, "", "metadata names places that are not in order, or twice one")
            further = Descriptor.of(meeting.descriptors[0][1])
            moved = STEP_BYTES if product.operands[1].along_k else 2 * further.stride
            behind = meeting.descriptors[0][1] + (moved // CHUNK)
            b = np.concatenate([b, product.operands[1].read(together, behind, access, tick)], axis=1)
        else:
            a = matrix_of(own, kinds[0]) if words else read[0]
        result = a @ b.T
        if kinds[2] == "s32":
            result = result.astype(np.int32)
        if not product.fresh:
            result = result + whole([meeting.parts[place] for place in order], packed)
        made = Sums(result.astype(np.float16) if packed else result, group, packed, depth)
        for quarter, warp in enumerate(warps):
            warp.multiplied = group
            warp.slots[out] = Registers(None, made, quarter, -1, warp.fences)
            for slot in words:
                warp.reading[slot] = warp.slots[slot], group
        counters.tensor_operations += 1
        counters.flops += 2 * rows * columns * depth

    def run(warp: Warp) -> Run:
        values = warp.slots
        part = sums_of(warp)
        if checks:
            _check_registers(info, warp, part, depth)
        meetings = warp.block.products
        place = warp.number // GROUP_WARPS
        meeting = meetings.setdefault(place, _Meeting(op))
        if meeting.operation != op:
            message = "the warps of the warpgroup are at different products"
            info.find("divergent-collective", warp, -1, "", message)
        meeting.warps.append(warp)
        meeting.parts.append(part if isinstance(part, Registers) else Registers.of(part))
        meeting.descriptors.append(tuple(uniform(info, warp, values[slot], "a descriptor") for slot in places))
        if words:
            meeting.words.append(words_in(warp, words))
        if len(meeting.warps) == GROUP_WARPS:
            del meetings[place]
            multiply(meeting)
            meeting.done = True
        else:
            yield Wait(info, lambda: meeting.done, lambda: f"the other warps of warpgroup {place}")

    return Blocking(run)


def _check_registers(info: Info, warp: Warp, part: Any, depth: int) -> None:
    """Reports registers that were touched with no wgmma.fence after it, by the warp's own instructions or by a product
    of another shape. Products of one shape are in order by themselves (PTX ISA, wgmma.fence)."""
    if warp.diverged:
        info.find("divergent-collective", warp, -1, "", "not all lanes of the warp reach it")
    stamp = max(part.stamp, -1 if part.sums is not None else warp.accesses) if isinstance(part, Registers) else -1
    if stamp >= warp.fences or not warp.fences:
        message = "the accumulator's registers were touched with no wgmma.fence between that and the product"
        info.find("wgmma-fence", warp, -1, "", message)
    elif isinstance(part, Registers) and part.fences >= warp.fences and part.depth not in (0, depth):
        message = f"a product of another shape, k{part.depth}, made the accumulator with no wgmma.fence after it"
        info.find("wgmma-fence", warp, -1, "", message)


@handles("nvvm.wgmma.fence.aligned")
def _fence(decoder: Decoder, operation: Any) -> Step:
    def step(warp: Warp) -> None:
        warp.fences += 1

    return step


@handles("nvvm.wgmma.commit.group.sync.aligned")
def _commit(decoder: Decoder, operation: Any) -> Step:
    def step(warp: Warp) -> None:
        warp.committed += 1

    return step


@handles("nvvm.wgmma.wait.group.sync.aligned")
def _wait(decoder: Decoder, operation: Any) -> Step:
    pending = ir.IntegerAttr(operation.operation.attributes["group"]).value

    def step(warp: Warp) -> None:
        warp.waited = max(warp.waited, warp.committed - pending)
        warp.learn_done(warp.block.cluster.agents.products(warp.index), warp.waited)

    return step
