"""Legality as a list of small rules. Each looks at a problem, a schedule and a chip and returns None, or the reason
why they do not go together: the value given, the rule it breaks and the nearest value that is right.

The rules stand in three groups, because a later group only makes sense when the earlier ones hold: what the operation
can multiply at all, the shapes of tiles, and what those shapes need of the chip. Here are those of every kernel and of
two parts at once, by their traits; each group also has those of the parts of a schedule. `violations` stops after the
first group that has something to say. The published tiling rules are not part of this: see `published`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from mlir_gemm.parts.base import Part, Rule
from mlir_gemm.parts.block import MOST_CONSUMERS, WARPGROUP, consumer_warpgroups, threads
from mlir_gemm.parts.fields import AnyPart, meaningless, owners
from mlir_gemm.parts.grid import blocks as blocks_of
from mlir_gemm.parts.layout import NARROWEST, buffer, pad_of, staged
from mlir_gemm.parts.registers import register_limit, reserved_registers
from mlir_gemm.parts.registry import (
    has,
    layout_of,
    mainloop_of,
    mainloops,
    mainloops_on,
    mma_of,
    mmas,
    mmas_on,
    optional_parts,
    panelled,
    parts_of,
)  # fmt: skip
from mlir_gemm.parts.resources import smem_bytes
from mlir_gemm.parts.wording import shown_tile, shown_value
from mlir_gemm.spec import extensions
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.fields import named
from mlir_gemm.spec.part_names import KINDS
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, PRECISIONS, Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.shape_rules import (
    block_divisible_by_warp,
    equal_parts,
    instruction_shape,
    unrolled_evenly,
    warp_multiple_of_instruction,
)

MOST_BLOCKS = 2**31 - 1
"""Largest x dimension of a grid (CUDA programming guide, every compute capability)."""
NOTHING = {"pad": 0}
"""Values that say no more than that the part is not there."""


def sizes_positive(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    for name, size in (("M", problem.m), ("N", problem.n), ("K", problem.k), ("batch", problem.batch)):
        if size < 1:
            return f"{name}={size} is not supported: a kernel needs sizes of at least 1"
    return None


def supported_types(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    if mma.forms_of(problem, schedule.precision, target):
        return None
    if not (has(mma, target) or problem.algebra or problem.composite or problem.sparse):
        return mma_of_chip(problem, schedule, target)
    if problem.algebra and not mma.any_algebra:
        able = " or ".join(each.name for each in mmas().values() if each.any_algebra)
        return f"{problem.algebra} with mma={mma.name}, which multiplies and adds numbers: expected mma={able}"
    if problem.composite and not mma.composites:
        able = " or ".join(each.name for each in mmas().values() if each.composites)
        return f"B of elements with {problem.composite} components with mma={mma.name}: expected mma={able}"
    given = f"types {problem.a},{problem.b} accumulated in {problem.acc} are not supported"
    if problem.sparse:
        able = [each for each in mmas().values() if any(form.sparse for form in each.forms)]
        here = [each for each in able if has(each, target)
                and any(form.sparse and form.needs <= target.capabilities for form in each.forms)]  # fmt: skip
        if mma not in here:
            names = " or ".join(each.name for each in here or able)
            if not here:
                chip = f"for which {target.chip} has no mma ({names})"
                return f"a 2:4 sparse operand, {chip}: expected the matrix with zeros"
            return f"a 2:4 sparse operand with mma={mma.name}: expected mma={names}"
        given = f"a 2:4 sparse operand of {given}"
    for precision in PRECISIONS:
        if mma.forms_of(problem, precision, target):
            return f"{given} by mma={mma.name} with precision={schedule.precision}: expected precision={precision}"
    return f"{given} by mma={mma.name}: expected {mma.shown_forms()}"


def supported_result(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    known = mma.results or tuple(ELEMENT_BYTES)
    if problem.out in known:
        return None
    return f"result type {problem.out} is not supported by mma={mma.name}: expected {', '.join(known)}"


def mma_of_chip(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    if has(mma, target):
        return None
    return f"mma={mma.name}: {target.chip} has {', '.join(each.name for each in mmas_on(target))}"


def copy_of_chip(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mainloop = mainloop_of(schedule)
    if has(mainloop, target):
        return None
    return f"mainloop={mainloop.name}: {target.chip} has {', '.join(each.name for each in mainloops_on(target))}"


def rings(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """A ring, its layout and operations that read it come together."""
    mma, mainloop, layout = mma_of(schedule), mainloop_of(schedule), layout_of(schedule)
    both = [layout_of(schedule, operand) for operand in "ab"]
    if not (mma.by_descriptor or mainloop.producer or any(each.panels for each in both)):
        return None
    asked = "mma" if mma.by_descriptor else "mainloop" if mainloop.producer else "layout"
    asked = "layout_b" if asked == "layout" and not layout.panels else asked
    given = f"{asked}={getattr(schedule, asked)}"
    if not mma.reads_rings:
        able = " or ".join(each.name for each in mmas().values() if each.reads_rings)
        return f"mma={mma.name} with {given}: expected mma={able}"
    if not mainloop.producer:
        able = " or ".join(each.name for each in mainloops().values() if each.producer)
        return f"mainloop={mainloop.name} with {given}: expected mainloop={able}"
    if not layout.panels:
        return f"layout={layout.name} with {given}: expected layout={panelled().name}"
    if not both[1].panels:
        return f"layout_b={schedule.layout_b} with {given}, which brings both: expected layout_b={panelled().name}"
    for name, wanted in (("promote", True), ("accumulate", True)):
        value = getattr(schedule, name)
        if value != wanted:
            asking = f"mma={mma.name}" if mma.by_descriptor else f"mainloop={mainloop.name}"
            return f"{name}={shown_value(value)} with {asking}: expected {name}={shown_value(wanted)}"
    return None


def parts_on_rings(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Parts that need a warp that only copies, or whole warpgroups that multiply."""
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    for part in parts_of(schedule):
        if part.on_ring and not mainloop.producer:
            able = " or ".join(each.name for each in mainloops().values() if each.producer)
            name = _field(part, schedule)
            shown, usual = shown_value(getattr(schedule, name)), shown_value(FIELDS[name])
            return f"{name}={shown}: expected {usual} without mainloop={able}"
        if part.by_warpgroups and mma.unit != "warpgroup":
            able = " or ".join(each.name for each in mmas().values() if each.unit == "warpgroup")
            name = _field(part, schedule)
            shown, usual = shown_value(getattr(schedule, name)), shown_value(FIELDS[name])
            return f"{name}={shown} with mma={mma.name}: expected {usual}, or mma={able}"
    return None


def _field(part: Part, schedule: Schedule) -> str:
    """The field that asks for a part."""
    return next((name for name in named(part.fields) if getattr(schedule, name) != FIELDS[name]), part.fields[0].name)


def fields_of_others(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """Fields of parts that are not there."""
    for name in meaningless(schedule):
        value = getattr(schedule, name)
        if value in (FIELDS[name], NOTHING.get(name)):
            continue
        if any(isinstance(part, Part) and part.applies(schedule) for part in owners(name)):
            continue  # a rule about the part itself says more
        able = " or ".join(dict.fromkeys(_named(part) for part in owners(name)))
        return f"{name}={shown_value(value)}: a field of {able}, which this schedule does not have"
    return None


def _named(part: AnyPart) -> str:
    field = next((field for field, kind in KINDS.items() if kind == getattr(part, "kind", "")), "")
    return f"{field}={part.name}" if field else part.name


def stages_supported(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.stages > 1 and not schedule.promote:
        return f"stages={schedule.stages} with promote=off: without buffers in shared memory there is 1 stage"
    mainloop = mainloop_of(schedule)
    least, most = mainloop.least_stages, mainloop.most_stages
    if least <= schedule.stages <= most:
        return None
    nearest = max(least, min(schedule.stages, most))
    return (
        f"stages={schedule.stages}: expected {least}{' or ' if most == least + 1 else ' to '}{most} with "
        f"mainloop={mainloop.name}; the nearest: {nearest}"
    )


def promote_for_copies(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.promote:
        return None
    mainloop = mainloop_of(schedule)
    if mainloop.ahead:
        direct = " or ".join(each.name for each in mainloops().values() if not each.ahead)
        return f"mainloop={mainloop.name} with promote=off: without buffers in shared memory expected mainloop={direct}"
    return None


def accumulates(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    mma = mma_of(schedule)
    if schedule.accumulate or mma.by_descriptor or mma.whole_tiles:  # whose own rules say so
        return None
    able = " or ".join(each.name for each in mmas().values() if each.whole_tiles)
    return f"accumulate=off with mma={mma.name}: expected accumulate=on, or mma={able}"


def accumulates_while_copying(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """A ring of k tiles goes with sums that stay in registers; where a warp of its own fills it, others say so."""
    mainloop = mainloop_of(schedule)
    if schedule.accumulate or mainloop.producer or not mainloop.asynchronous:
        return None
    others = " or ".join(each.name for each in mainloops().values() if not each.asynchronous)
    return f"accumulate=off with mainloop={mainloop.name}: expected mainloop={others}"


def warps_on_rings(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    """What warp-level mmas need where a separate warp copies: whole warpgroups, which can have more registers than the
    warpgroup that copies, and rows of whole panels."""
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    if mma.by_descriptor or not mainloop.producer:
        return None
    if schedule.warps % WARPGROUP or consumer_warpgroups(schedule) > MOST_CONSUMERS:
        return (
            f"block={shown_tile(schedule.block)}, warp={shown_tile(schedule.warp)}: {schedule.warps} warps with "
            f"mainloop={mainloop.name}; expected {WARPGROUP} to {WARPGROUP * MOST_CONSUMERS}, in whole warpgroups of "
            f"{WARPGROUP}"
        )
    for operand in staged(schedule):
        lying = buffer(problem, schedule, operand)
        if not lying.panel:
            return (
                f"block={shown_tile(schedule.block)}: rows of {operand.upper()} have {lying.row} bytes in shared "
                f"memory; with mainloop={mainloop.name} expected a multiple of {NARROWEST}"
            )
    return None


def threads_fit(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    count = threads(schedule)
    if count <= target.threads_block:
        return None
    return (
        f"block={shown_tile(schedule.block)}, warp={shown_tile(schedule.warp)}: {schedule.warps} warps are "
        f"{count} threads, a block has at most {target.threads_block}; take a larger warp tile or a "
        "smaller block tile"
    )


def smem_fits(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    needed = smem_bytes(problem, schedule)
    if needed <= target.smem_static:
        return None
    if schedule.storage == "static":
        return (
            f"storage=static: the block needs {needed} bytes of shared memory, static storage holds at most "
            f"{target.smem_static}; expected storage=dynamic or a smaller block tile"
        )
    if needed <= target.smem_block:
        return None
    return (
        f"block={shown_tile(schedule.block)}, stages={schedule.stages}, pad={pad_of(schedule)}: the block needs "
        f"{needed} bytes of shared memory, {target.chip} has {target.smem_block} a block; take fewer stages or a "
        "smaller block tile"
    )


def registers_fit(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    needed = mma_of(schedule).registers(problem, schedule, target) + reserved_registers(problem, schedule, target)
    limit = register_limit(schedule, target)
    if needed <= limit:
        return None
    shown = (
        f"block={shown_tile(schedule.block)}, warp={shown_tile(schedule.warp)}, mainloop={mainloop_of(schedule).name}"
    )
    if needed > target.registers_thread:
        return (
            f"{shown}: about {needed} registers a thread, at most {target.registers_thread}; "
            "take a smaller warp tile or block k"
        )
    asked = f"min_blocks={schedule.min_blocks}, {shown}" if schedule.min_blocks > 1 else shown
    blocks = f"{schedule.min_blocks} blocks of " if schedule.min_blocks > 1 else ""
    return (
        f"{asked}: about {needed} registers a thread, but {blocks}{threads(schedule)} threads have {limit} each on an "
        f"SM; take {'fewer resident blocks or ' if blocks else ''}a smaller block tile"
    )


def resident_fits(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    if schedule.min_blocks <= 1:
        return None
    smem = smem_bytes(problem, schedule) + target.smem_reserved
    most = min(target.threads_sm // threads(schedule), target.blocks_sm, target.smem_sm // max(1, smem))
    if schedule.min_blocks <= most:
        return None
    return (
        f"min_blocks={schedule.min_blocks}: an SM of {target.chip} has threads, shared memory and places for {most} "
        f"blocks of {threads(schedule)} threads and {smem} bytes; the nearest: {most}"
    )


def grid_fits(problem: Problem, schedule: Schedule, target: Target) -> str | None:
    count = blocks_of(problem, schedule)
    if count <= MOST_BLOCKS:
        return None
    return (
        f"block={shown_tile(schedule.block)}: {count} blocks in the grid, at most {MOST_BLOCKS}; take a larger block "
        "tile"
    )


OF_PROBLEMS: tuple[Rule, ...] = (sizes_positive, supported_types, supported_result)
OF_CHIP: tuple[Rule, ...] = (mma_of_chip, copy_of_chip, rings, parts_on_rings, fields_of_others)
OF_SHAPES: tuple[Rule, ...] = (
    instruction_shape, warp_multiple_of_instruction, block_divisible_by_warp, unrolled_evenly, equal_parts,
    stages_supported, promote_for_copies,
    accumulates, accumulates_while_copying, warps_on_rings,
)  # fmt: skip
OF_RESOURCES: tuple[Rule, ...] = (threads_fit, smem_fits, resident_fits, registers_fit, grid_fits)


def problem_rules_of(schedule: Schedule) -> tuple[Rule, ...]:
    """The rules about what a schedule's operation can multiply at all."""
    return (*OF_PROBLEMS, *mma_of(schedule).rules.problem)


def _groups(schedule: Schedule) -> tuple[tuple[Rule, ...], ...]:
    names = tuple([part.name for part in optional_parts() if part.applies(schedule)])
    return _groups_of(schedule.mma, schedule.mainloop, schedule.layout, schedule.layout_b, names)


@lru_cache(maxsize=256)
def _groups_of(
    mma: str, mainloop: str, layout: str, layout_b: str, names: tuple[str, ...]
) -> tuple[tuple[Rule, ...], ...]:
    """The rules of schedules of these parts, group by group."""
    named = Schedule(mma=mma, mainloop=mainloop, layout=layout, layout_b=layout_b)
    parts = [part.rules for part in optional_parts() if part.name in names]
    own = [mainloop_of(named).rules, mma_of(named).rules, *(layout_of(named, each).rules for each in "ab"), *parts]
    shapes = dict.fromkeys(rule for each in own for rule in each.shape)
    resources = dict.fromkeys(rule for each in own for rule in each.resource)
    return problem_rules_of(named), (*OF_CHIP, *OF_SHAPES, *shapes), (*OF_RESOURCES, *resources)


extensions.on_change(_groups_of.cache_clear)


def rules_of(schedule: Schedule) -> Iterator[Rule]:
    """All rules that a schedule is asked for."""
    for group in _groups(schedule):
        yield from group


def broken(problem: Problem, schedule: Schedule, target: Target) -> Iterator[tuple[str, str]]:
    """The rules that do not hold, as (name, reason), from the first group that has any; lazily, so that asking for
    the first costs no more than it must."""
    for group in _groups(schedule):
        found = False
        for rule in group:
            reason = rule(problem, schedule, target)
            if reason is not None:
                found = True
                yield rule.__name__, reason
        if found:
            return


def violations(problem: Problem, schedule: Schedule, target: Target) -> list[str]:
    """Why this schedule is illegal for this problem on this chip: one reason for each rule broken, empty when legal."""
    return [reason for _, reason in broken(problem, schedule, target)]
