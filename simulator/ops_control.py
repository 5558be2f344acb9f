"""scf: loops and conditions. Where lanes differ, the body runs with the lanes that take part; results are merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlir_gemm.dialect.bindings import ir
from mlir_gemm.simulator.decode import Blocking, Code, Decoded, Decoder, handles
from mlir_gemm.simulator.elements import LANES, choose, collapse, element_of, expand, is_array, per_lane
from mlir_gemm.simulator.errors import SimulationError, unsupported
from mlir_gemm.simulator.memory import View
from mlir_gemm.simulator.warps import Run, Stop, Warp

Merge = Callable[[Any, Any, Any], Any]


def _merger(operation: Any, type_: Any) -> Merge:
    """How two values of a type become one: the first in the lanes of a mask, the second elsewhere."""
    element = element_of(getattr(type_, "element_type", type_))

    def merge(mask: Any, new: Any, old: Any) -> Any:
        if new is old or old is None:
            return new
        if isinstance(new, View):
            if new.buffer is not old.buffer or new.sizes != old.sizes or new.strides != old.strides:
                raise unsupported(operation, "a memref that differs between lanes is not simulated")
            base = choose(mask, new.base, old.base)
            aligned = new.aligned if new.aligned is old.aligned else choose(mask, new.aligned, old.aligned)
            return View(new.buffer, base, new.sizes, new.strides, new.element, aligned)
        if element is None:  # a fragment belongs to the whole warp
            return new
        if isinstance(type_, ir.VectorType):
            return choose(expand(mask, new), new, old)
        return choose(mask, per_lane(new, element), per_lane(old, element))

    return merge


def _mergers(operation: Any) -> list[Merge]:
    return [_merger(operation, result.type) for result in operation.operation.results]


def _run(code: Code, warp: Warp) -> Run:
    if code.blocking:
        yield from code.resume(warp)
    else:
        code.plain(warp)


def _as_step(run: Callable[[Warp], Run], blocking: bool) -> Decoded:
    """The generator itself where something in it blocks; else a Step that runs it to its end."""
    if blocking:
        return Blocking(run)

    def step(warp: Warp) -> None:
        for _ in run(warp):
            pass

    return step


def _active(warp: Warp) -> Any:
    return np.ones(LANES, np.bool_) if warp.mask is None else warp.mask


@handles("cf.assert")
def _assert(decoder: Decoder, operation: Any) -> Decoded:
    condition = decoder.slot(operation.operation.operands[0])
    message = ir.StringAttr(operation.operation.attributes["msg"]).value

    def step(warp: Warp) -> None:
        holds = warp.slots[condition]
        if not np.all(holds if warp.mask is None or not is_array(holds) else holds | ~warp.mask):
            raise SimulationError(f"a check of the program fails: {message}")

    return step


@handles("scf.if")
def _if(decoder: Decoder, operation: Any) -> Decoded:
    condition = decoder.slot(operation.operation.operands[0])
    outs = decoder.all_slots(operation.operation.results)
    codes = [decoder.code(region.blocks[0]) if len(region.blocks) else None for region in operation.operation.regions]
    then, otherwise = codes
    merges = _mergers(operation)

    def run(warp: Warp) -> Run:
        values = warp.slots
        which, before = values[condition], warp.mask
        if is_array(which):
            active = _active(warp)
            taken, left = which & active, ~which & active
            if np.count_nonzero(taken) and np.count_nonzero(left):
                results: list[list[Any]] = []
                for code, mask in ((then, taken), (otherwise, left)):
                    if code is not None:
                        warp.mask = mask
                        yield from _run(code, warp)
                        results.append([values[slot] for slot in code.results])
                warp.mask = before
                for place, out in enumerate(outs):
                    values[out] = merges[place](taken, results[0][place], results[1][place])
                return
            which = bool(np.count_nonzero(taken))
        code = then if which else otherwise
        if code is None:
            return
        yield from _run(code, warp)
        for out, slot in zip(outs, code.results, strict=True):
            values[out] = values[slot]

    return _as_step(run, any(code is not None and code.blocking for code in codes))


@handles("scf.index_switch")
def _index_switch(decoder: Decoder, operation: Any) -> Decoded:
    chosen = decoder.slot(operation.operation.operands[0])
    outs = decoder.all_slots(operation.operation.results)
    codes = [decoder.code(region.blocks[0]) for region in operation.operation.regions]  # the default comes first
    cases = [*ir.DenseI64ArrayAttr(operation.operation.attributes["cases"])]
    merges = _mergers(operation)

    def run(warp: Warp) -> Run:
        values, before = warp.slots, warp.mask
        number = collapse(values[chosen])
        if not is_array(number):
            code = codes[cases.index(number) + 1 if number in cases else 0]
            yield from _run(code, warp)
            for out, slot in zip(outs, code.results, strict=True):
                values[out] = values[slot]
            return
        active = _active(warp)
        masks = [active & (number == case) for case in cases]
        masks.insert(0, active & ~np.isin(number, cases))
        results: list[Any] = [None] * len(outs)
        for code, mask in zip(codes, masks, strict=True):
            if np.count_nonzero(mask):
                warp.mask = mask
                yield from _run(code, warp)
                triples = zip(merges, code.results, results, strict=True)
                results = [merge(mask, values[slot], old) for merge, slot, old in triples]
        warp.mask = before
        for out, value in zip(outs, results, strict=True):
            values[out] = value

    return _as_step(run, any(code.blocking for code in codes))


@handles("scf.for")
def _for(decoder: Decoder, operation: Any) -> Decoded:
    lower, upper, step, *starts = decoder.all_slots(operation.operation.operands)
    block = operation.operation.regions[0].blocks[0]
    counter, *arguments = decoder.all_slots(block.arguments)
    code = decoder.code(block)
    outs = decoder.all_slots(operation.operation.results)
    merges = _mergers(operation)
    info = decoder.info(operation)

    def run(warp: Warp) -> Run:
        values = warp.slots
        first, last, by = (collapse(values[slot]) for slot in (lower, upper, step))
        carried = [values[slot] for slot in starts]
        if any(is_array(bound) for bound in (first, last, by)):
            yield from diverged(warp, np.asarray(first), np.asarray(last), np.asarray(by), carried)
            return
        if by <= 0 and first < last:
            info.find("endless", warp, -1, "", f"from {first} to {last} by {by}")
            raise Stop(f"the loop at {info.location} never ends: its step is {by}")
        at = first
        while at < last:
            values[counter] = at
            for slot, value in zip(arguments, carried, strict=True):
                values[slot] = value
            if code.blocking:
                yield from code.resume(warp)
            else:
                code.plain(warp)
            carried = [values[slot] for slot in code.results]
            at += by
        for slot, value in zip(outs, carried, strict=True):
            values[slot] = value

    def diverged(warp: Warp, first: Any, last: Any, by: Any, carried: list[Any]) -> Run:
        values, before = warp.slots, warp.mask
        at = np.broadcast_to(first, LANES)
        while (mask := (at < last) & (before if before is not None else True)).any():
            warp.mask = None if mask.all() else mask
            values[counter] = at
            for slot, value in zip(arguments, carried, strict=True):
                values[slot] = value
            yield from _run(code, warp)
            pairs = zip(merges, code.results, carried, strict=True)
            carried = [merge(mask, values[slot], old) for merge, slot, old in pairs]
            at = at + by
        warp.mask = before
        for slot, value in zip(outs, carried, strict=True):
            values[slot] = value

    return _as_step(run, code.blocking)


@handles("scf.while")
def _while(decoder: Decoder, operation: Any) -> Decoded:
    starts = decoder.all_slots(operation.operation.operands)
    ahead, body = (region.blocks[0] for region in operation.operation.regions)
    test_arguments, body_arguments = decoder.all_slots(ahead.arguments), decoder.all_slots(body.arguments)
    test, code = decoder.code(ahead), decoder.code(body)
    outs = decoder.all_slots(operation.operation.results)
    merges = _mergers(operation)
    before_merges = [_merger(operation, value.type) for value in ahead.arguments]

    def run(warp: Warp) -> Run:
        values, before = warp.slots, warp.mask
        carried = [values[slot] for slot in starts]
        results: list[Any] = [None] * len(outs)
        while True:
            for slot, value in zip(test_arguments, carried, strict=True):
                values[slot] = value
            yield from _run(test, warp)
            condition, *handed = (values[slot] for slot in test.results)
            mask = _active(warp)
            results = [merge(mask, new, old) for merge, new, old in zip(merges, handed, results, strict=True)]
            if is_array(condition):
                going = condition & mask
                if not np.count_nonzero(going):
                    break
                if not going[mask].all():
                    warp.mask = going
            elif not condition:
                break
            for slot, value in zip(body_arguments, handed, strict=True):
                values[slot] = value
            yield from _run(code, warp)
            mask = _active(warp)
            new = [values[slot] for slot in code.results]
            carried = [merge(mask, n, old) for merge, n, old in zip(before_merges, new, carried, strict=True)]
        warp.mask = before
        for slot, value in zip(outs, results, strict=True):
            values[slot] = value

    return _as_step(run, test.blocking or code.blocking)


@handles("scf.execute_region", "memref.alloca_scope")
def _execute_region(decoder: Decoder, operation: Any) -> Decoded:
    blocks = operation.operation.regions[0].blocks
    if len(blocks) != 1:
        raise unsupported(operation, "a region of several basic blocks is not simulated")
    code = decoder.code(blocks[0])
    outs = decoder.all_slots(operation.operation.results)

    def run(warp: Warp) -> Run:
        yield from _run(code, warp)
        for out, slot in zip(outs, code.results, strict=True):
            warp.slots[out] = warp.slots[slot]

    return _as_step(run, code.blocking)
