"""The choice of a schedule as text for people: what was chosen, what it should cost, and why the others lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from mlir_gemm.errors import ScheduleError
from mlir_gemm.parts.block import consumer_warpgroups, threads
from mlir_gemm.parts.epilogue.unaligned_rows import rows_bytes
from mlir_gemm.parts.fields import summary
from mlir_gemm.parts.grid import blocks as blocks_of
from mlir_gemm.parts.grid import grid, outside, ragged, share, walkers, waste
from mlir_gemm.parts.layout import copied, is_staged
from mlir_gemm.parts.mma.wmma.search import widest_vector
from mlir_gemm.parts.registry import mainloop_of, mma_of
from mlir_gemm.parts.resources import occupancy, staging_bytes, storage
from mlir_gemm.parts.scheduler.stream_k import shared_tiles
from mlir_gemm.parts.warp_level.clocks import fragment_conflicts
from mlir_gemm.parts.wording import shown_clusters, shown_tile, shown_time, shown_walk
from mlir_gemm.spec.element_types import ELEMENT_BYTES
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.problem import Problem, transposes_b
from mlir_gemm.spec.schedule import Schedule, Tile
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.tile_space import HALVES, K_RANGE, TRIANGLE
from mlir_gemm.spec.zeros import growing, parse, shown_zeros, text_of
from mlir_gemm.tile_model.decisions import Decisions, decide
from mlir_gemm.tile_model.invariance import STANDARD_ROWS
from mlir_gemm.tile_model.offers import reasons
from mlir_gemm.tile_model.published import published_block_tile, published_warp_tiles
from mlir_gemm.tile_model.relayout import in_place_of_a_copy
from mlir_gemm.tile_model.rewriting import Refuses
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import (
    HALF,
    TIE,
    Candidate,
    Choice,
    by_time,
    estimate,
    partial_space,
    preference,
    select,
)

MORE_SMS = "there are tiles for more SMs"
SHOWN = 10
"""How many candidates are printed."""


def explain(
    problem: Problem,
    target: Target,
    pinned: Mapping[str, Any] | None = None,
    refuses: Refuses = lambda _: "",
    divisible: bool = True,
) -> str:
    """What `select` decides for this problem on this chip, and why, as lines of text. `refuses` says why the program
    does not allow a pass, `divisible` whether it allows at all that k is divided.

    Raises what `select` raises.
    """
    decisions = decide(problem, target, pinned, refuses, divisible)
    choice = decisions.choice
    sections = (
        _head(decisions, target),
        _cost(choice),
        occupancy_lines(choice),
        operand_lines(choice),
        _ranking(choice),
        rejected_lines(choice),
        _published(choice),
    )
    return "\n\n".join("\n".join(section) for section in sections)


def _head(decisions: Decisions, chip: Target) -> list[str]:
    choice = decisions.choice
    problem = choice.problem
    lines = [
        f"problem   {decisions.source}",
        *(line for each in decisions.rewrites.values() for line in each.why()),
        *decisions.missed,
        f"chip      {chip.chip} (figures of {chip.name}: {chip.sms} SMs at {chip.clock_hz / 1e9:.2f} GHz)",
        f"in short  {summary(choice.schedule)}",
        f"schedule  {choice.schedule}",
    ]
    if problem.dynamic:
        lines.append(f"typical   {', '.join(problem.dynamic)}: known at run time only, the sizes above stand for it")
    if decisions.pinned:
        lines.append(f"pinned    {', '.join(decisions.pinned)}")
    return [*lines, *_invariance(decisions)]


def _invariance(decisions: Decisions) -> list[str]:
    """What `batch_invariant` has fixed, beyond what the user did."""
    if not decisions.pinned.get("batch_invariant"):
        return []
    mma, split = decisions.choice.schedule.mma, decisions.choice.schedule.split_k_cluster
    how = "as pinned" if "mma" in decisions.pinned else f"as for M={STANDARD_ROWS}"
    parts = "k in one piece" if split == 1 else f"k in {split} slices, as pinned"
    return [f"invariant a row of the result has the same bits for every M: mma={mma}, {how}; {parts}"]


def _cost(choice: Choice) -> list[str]:
    problem, cost = choice.problem, choice.cost
    lines = [f"predicted {shown_time(cost.total)}, {cost.tflops(problem):.1f} TFLOP/s"]
    shown = [("    ", *item) for item in cost.OVERLAPPING.items()] + [("  ", *item) for item in cost.ADDITIVE.items()]
    for indent, term, words in (*shown, ("  ", "total", "total")):
        seconds: float = getattr(cost, term)
        lines.append(f"{indent + words:<30} {shown_time(seconds):>10} {seconds / cost.total:>6.1%}")
    return lines


def occupancy_lines(choice: Choice) -> list[str]:
    """What a block takes of an SM, and how many blocks there are."""
    problem, schedule, target = choice.problem, choice.schedule, choice.target
    taken = occupancy(problem, schedule, target)
    return [
        "occupancy",
        f"  {threads(schedule)} threads ({_units(schedule)}) a block, about {taken.registers} registers a thread",
        f"  {taken.smem} bytes of {storage(problem, schedule, target)} shared memory a block "
        f"(at most {target.smem_block})",
        f"  blocks on an SM: {taken.blocks}, limited by {taken.limit}",
        *_grid(choice, target.sms * taken.blocks),
    ]


def _grid(choice: Choice, places: int) -> list[str]:
    """Tiles of the result, and the blocks that compute them; `places` blocks run at the same time."""
    schedule = choice.schedule
    tiles = blocks_of(choice.problem, schedule)
    walking = walkers(choice.problem, schedule)
    if walking:
        most = -(-tiles // walking)
        by_turns = ", two warpgroups in ping-pong" if schedule.ping_pong else ""
        each = f"at most {most} each{shown_walk(schedule)}{by_turns}"
        lines = [f"  tiles of the result: {tiles}, walked by {walking} blocks, {each}"]
        _, left, sharing = shared_tiles(choice.problem, schedule, tiles)
        if schedule.throttle:
            lines.append(
                f"  epilogues beside products of other tiles: {schedule.throttle} numbers of a thread in flight at a "
                "time, which leaves the tensor cores alone"
            )
        if sharing:
            lines.append(f"  the k steps of {left} of these are shared evenly by {sharing} blocks")
        lines = [*_skipped(choice, tiles), *lines]
    else:
        blocks = tiles * schedule.split_k_cluster
        lines = _skipped(choice, tiles)
        lines += [f"  blocks in the grid: {blocks}, or {blocks / places:.2f} waves"]
    return lines + [f"  {line}" for line in shown_clusters(schedule, tiles, outside(choice.problem, schedule))]


def _skipped(choice: Choice, tiles: int) -> list[str]:
    """What a space of tiles leaves out."""
    if choice.schedule.space == K_RANGE:
        part, problem = share(choice.problem, choice.schedule), choice.problem
        sides = {"A": "m", "B": "n"}
        zeros = {side: text_of(each for each in parse(problem.zeros) if each.across == sides[side]) for side in sides}
        known = [f"{side} is zero for {shown_zeros(each)}" for side, each in zeros.items() if each]
        known += [f"the result is masked for {shown_zeros(problem.result_mask)}"] if problem.result_mask else []
        order = ", long tiles first" if growing(problem.zeros) else ""
        return [f"  {', '.join(known)}: {part:.1%} of the k steps are computed{order}"]
    if choice.schedule.space not in HALVES:
        return _all_computed(choice)
    rows, columns = grid(choice.problem, choice.schedule)
    whole = choice.problem.batch * rows * columns
    if choice.schedule.space != TRIANGLE:
        masked = choice.problem.result_mask
        return [f"  the result is masked for {masked}: {tiles} of {whole} tiles are computed, the others only stored"]
    return [f"  the result equals its transpose: {tiles} of {whole} tiles are computed, and stored at both places"]


def _all_computed(choice: Choice) -> list[str]:
    """Why all tiles are computed where half of them would do."""
    problem, space = choice.problem, partial_space(choice.problem)
    if space not in HALVES:
        return []
    try:
        half = select(problem, choice.target, {**choice.pinned, "space": space}).cost.total
    except ScheduleError:
        return []
    why = "equals its transpose" if space == TRIANGLE else f"is masked for {problem.result_mask}"
    return [
        f"  the result {why}, but all tiles are computed: with space={space} {half / choice.cost.total:.2f} of the "
        f"time is predicted, and only under {HALF} it is chosen"
    ]


def _units(schedule: Schedule) -> str:
    if mma_of(schedule).unit == "warpgroup":
        count = consumer_warpgroups(schedule)
        return (
            f"{'1 warpgroup that multiplies' if count == 1 else f'{count} warpgroups that multiply'}, one that copies"
        )
    if mainloop_of(schedule).producer:
        return f"{schedule.warps} warps that multiply, four of which one copies"
    return f"{schedule.warps} {mma_of(schedule).unit}s"


def _kept(schedule: Schedule, operand: str) -> str:
    kept = schedule.l2_keep_a if operand == "a" else schedule.l2_keep_b
    return "" if kept == PARTS else f"; L2 keeps {kept} of {PARTS} parts of it, the rest leaves first"


def operand_lines(choice: Choice) -> list[str]:
    """What multiplies, and how A and B come to it."""
    problem, schedule = choice.problem, choice.schedule
    mma, mainloop = mma_of(schedule), mainloop_of(schedule)
    rate = mma.rate(problem, choice.target)
    m, n, k = schedule.instruction
    shape = m, schedule.warp[1] if mma.unit == "warpgroup" else n, k
    lines = [
        "operands",
        f"  {mma.name} {shown_tile(shape)}, {problem.a} times {problem.b} into {problem.acc}: "
        f"{rate:.0f} operations a clock and SM",
    ]
    for operand in "ab":
        if not is_staged(schedule, operand):
            if schedule.promote:
                lines.append(f"  {operand.upper()}: read from global memory by the lanes that multiply")
            continue
        lying, vector, asynchronous = copied(problem, schedule, operand)
        order = problem.a_order if operand == "a" else problem.b_order
        if mainloop.producer:
            lines.append(
                f"  {operand.upper()} {order}: {lying.rows} rows by the copy engine, panels of {lying.panel} bytes, "
                f"swizzled{_kept(schedule, operand)}"
            )
            if operand == "b" and mma.by_descriptor and transposes_b(problem):
                lines += in_place_of_a_copy(problem, choice.target, choice.pinned)
            continue
        memory = problem.a_memory if operand == "a" else problem.b_memory
        conflicts = ""
        if not mma.lanes:
            conflicts = f", fragments at {fragment_conflicts(problem, schedule, operand, lying):g} times their accesses"
        lines.append(
            f"  {operand.upper()} {order}{f' computed from {memory}' if memory else ''}: "
            f"{'asynchronous' if asynchronous else 'synchronous'} copies of {vector} bits, rows of {lying.row} bytes "
            f"{'swizzled' if lying.swizzled else f'and {lying.stride - lying.row} of padding'}{conflicts}"
        )
    lines += [f"  D {problem.out_order}: {way}" for way in _result_way(problem, schedule)]
    if schedule.prefetch_c:
        how = "by the copy engine" if mma_of(schedule).unit == "warpgroup" else "asynchronously"
        lines.append(f"  what the epilogue adds: {how} during the products, to shared memory of its own")
    lines += [f"  {reason}" for reason in reasons(problem, schedule, choice.target, choice.pinned)]
    if ragged(problem, schedule):
        more = waste(problem, schedule)
        copies = "the copy engine reads zeros there" if mainloop.producer else "guarded copies"
        lines.append(f"  tiles reach over the edges: {more:.2f} times the products of the problem, {copies}")
    return lines


def _result_way(problem: Problem, schedule: Schedule) -> Iterator[str]:
    """How the result leaves, where it goes through shared memory."""
    by_rows, staged = rows_bytes(problem, schedule), staging_bytes(problem, schedule)
    if schedule.promote_result:
        yield f"a block tile at a time through {staged} bytes of shared memory, in whole vectors"
    elif by_rows:
        yield f"rows start between vectors: in vectors through {by_rows} bytes of shared memory, their ends one by one"
    elif mma_of(schedule).unit == "warpgroup" and staged and not problem.extra_bytes:
        yield f"by the copy engine, through {staged} bytes of shared memory"


def _ranking(choice: Choice) -> list[str]:
    lines = [
        f"the best of {choice.considered} legal candidates",
        f"  {'block':<13}{'warp':<12}{'stages':<8}{'copy':<15}{'time':>10}{'TFLOP/s':>9}  lost because",
    ]
    for candidate in choice.ranking[:SHOWN]:
        schedule, cost = candidate
        block, warp = shown_tile(schedule.block), shown_tile(schedule.warp)
        lines.append(
            f"  {block:<13}{warp:<12}{schedule.stages:<8}{copies_in_words(schedule):<15}"
            f"{shown_time(cost.total):>10}{cost.tflops(choice.problem):>9.1f}  {why_lost(candidate, choice)}"
        )
    return lines


def copies_in_words(schedule: Schedule) -> str:
    """How tiles are copied, and which blocks do so, or add up, together."""
    if schedule.split_k_cluster > 1:
        return f"{schedule.mainloop}, split {schedule.split_k_cluster}"
    if schedule.ping_pong:
        return f"{schedule.mainloop}, ping-pong"
    return (
        schedule.mainloop
        if schedule.cluster == 1
        else f"{schedule.mainloop}, {schedule.cluster_m}x{schedule.cluster_n}"
    )


def why_lost(candidate: Candidate, choice: Choice) -> str:
    """Why a candidate was not chosen: the term in which it takes longer."""
    if candidate.schedule == choice.schedule:
        return "chosen"
    if candidate.cost is choice.compared:
        return "close; with shorter k steps such tiles were faster"
    if candidate.cost.total <= choice.cost.total * TIE:
        return "the same time; wide tiles go first"
    words, more = candidate.cost.largest_increase(choice.cost)
    return f"{words} +{shown_time(more)}"


def rejected_lines(choice: Choice) -> list[str]:
    """How many proposals each rule refuses, with an example of each."""
    rejected = choice.rejected
    if not rejected:
        return ["rejected by the rules: nothing"]
    counts = Counter(rejection.rule for rejection in rejected)
    examples = {rejection.rule: rejection.reason for rejection in reversed(rejected)}
    lines = [f"rejected by the rules: {len(rejected)} proposals"]
    for rule, count in counts.most_common():
        lines.append(f"  {count:>5}  {rule}")
        lines.append(f"         e.g. {examples[rule]}")
    return lines


def _published(choice: Choice) -> list[str]:
    """What the published rules alone choose, with the chip's static shared memory, and what the model thinks of it."""
    problem, target = choice.problem, choice.target
    block = published_block_tile(target.smem_static, ELEMENT_BYTES[problem.a])
    warps = published_warp_tiles(block)
    lines = [
        f"the published rules alone, for {target.smem_static // 1024} KB: block {shown_tile(block)}",
        f"  with one of {len(warps)} warp tiles: {' '.join(map(shown_tile, warps))}",
    ]
    shared: dict[str, Any] = {**choice.pinned, "block": block}
    tried = [_published_schedule(choice, shared, warp) for warp in warps]
    legal = [schedule for schedule in tried if not violations(problem, schedule, target)]
    if not legal:
        return [*lines, f"  not legal here: {violations(problem, tried[0], target)[0]}"]
    best = by_time(legal, lambda schedule: estimate(problem, schedule, target).total, preference)[0]
    cost = estimate(problem, best, target)
    slower = cost.total / choice.cost.total
    return [
        *lines,
        f"  the best of them by this model: warp {shown_tile(best.warp)}, {shown_time(cost.total)}, "
        f"{cost.tflops(problem):.1f} TFLOP/s, {slower:.2f} times the time of the choice",
    ]


def _published_schedule(choice: Choice, pinned: Mapping[str, Any], warp: Tile) -> Schedule:
    mma = mma_of(choice.schedule)
    if not mma.whole_tiles:
        # The warp tile's k depends on the instruction, which the published rules do not consider.
        depth = pinned["block"][2] if mma.unit == "warpgroup" else choice.schedule.warp[2]
        return choice.schedule.replace(block=pinned["block"], warp=(*warp[:2], depth))
    vector = widest_vector(choice.problem, pinned["block"], warp, pinned.get("pad", Schedule.pad))
    fields: dict[str, Any] = {"vector": vector, **pinned, "warp": warp}
    return Schedule.make(fields)
