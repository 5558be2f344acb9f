"""Whether A and B of a product should be swapped, so that the transposed product is computed.

That pays in three cases. A result of few rows becomes one of few columns: tiles of `wgmma` have at least 64 rows, but
as few as 8 columns. And an operand B whose neighbours in memory run along n needs tiles of whole panels in n; as A it
needs them in m, where tiles have 64 rows or more anyway. With other elements than 16 bits `wgmma` does not take it at
all; as A it does, through registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from mlir_gemm.errors import Error, ScheduleError
from mlir_gemm.parts.epilogue.tma_store import leaves_transposed
from mlir_gemm.parts.registry import mma_of, warpgroup_mma
from mlir_gemm.parts.wording import shown_time
from mlir_gemm.spec.algebra import parse
from mlir_gemm.spec.passes import step
from mlir_gemm.spec.problem import Problem, element_bytes
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.spec.zeros import swapped_mask, swapped_zeros
from mlir_gemm.tile_model.rewriting import Alternative, Case
from mlir_gemm.tile_model.select import WORTH as RIVAL
from mlir_gemm.tile_model.select import is_less, select

FEWEST_ROWS = 64
"""Rows of an instruction: products of fewer are swapped for that alone."""
THIN = {"kn": 1.05, "nk": 1.03}
"""Part of the time within which the swapped product must be where the product has fewer rows, by the order of B. As
they are, products with B in the order `kn` have fewer tiles to choose from: 32x28672x8192 takes 120 us on the H200 and
110 swapped; 16x8192x8192 with `nk` 38.3 and 33.5."""
WORTH, BOTH_ACROSS = 0.975, 1.005
"""The same with more rows, where either way is close to what the chip can do; and where A lies in the order `km` and B
in `nk`, whose neighbours swapped lie along the rows of both: 1024x1024x8192 takes 29 to 32 us so, and 26 to 29
swapped, for the same tiles."""
MEASURED = 1.05
"""The same where only B lies across k and has bytes: as it is, it is transposed in shared memory, which no measurement
has shown to take what is predicted."""
_SHAPING = ("block", "warp", "cluster_m", "cluster_n", "split_k_cluster", "persistent")
"""Fields that mean a certain orientation; `batch_invariant` sets `split_k_cluster`."""


def swapped(problem: Problem) -> Problem:
    """The same product with A and B exchanged: D^T = B^T A^T."""
    orders = {"mk": "nk", "km": "kn", "nk": "mk", "kn": "km"}
    return Problem(
        problem.n, problem.m, problem.k, problem.b, problem.a, problem.acc, problem.out, problem.reads_c,
        problem.extra_bytes, problem.batch, orders[problem.b_order], orders[problem.a_order], problem.b_vector,
        problem.a_vector, problem.out_vector, problem.b_memory, problem.a_memory,
        "".join({"a": "b", "b": "a"}[side] for side in reversed(problem.unsigned)), problem.dynamic,
        {"mn": "nm", "nm": "mn"}[problem.out_order], problem.epilogue_ops, problem.epilogue_matrices,
        str(parse(problem.algebra).swapped()) if problem.algebra else "", problem.symmetric,
        swapped_mask(problem.result_mask), swapped_zeros(problem.zeros),
        {"a": "b", "b": "a"}.get(problem.sparse, ""),
        a_channels=problem.b_channels, b_channels=problem.a_channels, epilogue_vector=problem.epilogue_vector,
        epilogue_types=problem.epilogue_types,
    )  # fmt: skip


def offer(case: Case) -> Alternative | None:
    """The product with A and B swapped, where the model predicts less time, or it is pinned."""
    if not should_swap(case.problem, case.target, case.pinned):
        return None
    computed, asked = swapped(case.problem), "swap_ab" in case.pinned
    sizes = f"{computed.m}x{computed.n}x{computed.k}"
    thin = case.problem.m < FEWEST_ROWS
    better = "wgmma has tiles of few columns but none of few rows" if thin else "there are better tiles for it"
    if across_in_b(case.problem) and not thin:
        better = "what lies across k comes through registers as A"
    reason = "as the schedule says" if asked else f"because {better}"
    pinned = {**case.pinned, "swap_ab": True}

    def why() -> list[str]:
        try:
            before = select(case.problem, case.target, case.pinned).cost.total
        except Error:
            before = inf
        after = select(computed, case.target, pinned).cost.total
        few = f"an instruction of a warpgroup has at least {FEWEST_ROWS} rows, but as few as 8 columns"
        across = "what lies across k comes through registers as A"
        close = ", which measurements favour where it is so close" if after >= before and not asked else ""
        was = f"Predicted {shown_time(before)} as it was" if before < inf else "As it was there is no legal schedule"
        other = across if across_in_b(case.problem) else "there are other tiles for it"
        return [
            f"swapped   {computed}",
            "          A and B change places: D^T = B^T A^T. Nothing moves in memory, but tiles are high where D is "
            "wide:",
            f"          {'as pinned' if asked else few if thin else other}. {was},",
            f"          {shown_time(after)} swapped{close}. All below is about the swapped product",
        ]

    return Alternative(
        case.changed(computed, pinned=pinned), step("swap-a-b"), why,
        asked="swap_ab=on: the sides of the product cannot change places" if asked else "", instead="off",
        missed="sides     as they are, though swapped it would be faster",
        note=f"A and B have changed places: the product is {case.problem}, and is computed as its transpose, {sizes}, "
        f"{reason}",
    )  # fmt: skip


def should_swap(problem: Problem, target: Target, pinned: Mapping[str, Any]) -> bool:
    """Whether the model predicts less time for the product with A and B swapped, or `swap_ab` is pinned. Other
    fields that fix the shapes of tiles mean the product as it is.

    Raises ScheduleError where `swap_ab` is pinned and sizes are known at run time only.
    """
    if problem.composite:  # whose B alone may be of elements
        return False
    if "swap_ab" in pinned:
        if pinned["swap_ab"] and problem.dynamic:
            raise ScheduleError(
                f"swap_ab=on: sizes known at run time only ({', '.join(problem.dynamic)}); expected off"
            )
        return pinned["swap_ab"]
    if problem.sparse:  # wgmma takes sparse matrices as A
        return problem.sparse == "b"
    mma = warpgroup_mma(target)
    if mma is None or problem.dynamic:
        return False
    shaping = {name for name in _SHAPING if name in pinned}
    if pinned.get("split_k_workspace", 1) > 1:  # a division brings the field with it: slices have no such clusters
        shaping.discard("split_k_cluster")
    if shaping or pinned.get("mma", mma.name) != mma.name:
        return False
    if not may_swap(problem):
        return False
    try:
        exchanged = select(swapped(problem), target, pinned)
        if mma_of(exchanged.schedule) is not mma:
            return False
    except Error:
        return False
    try:
        own = select(problem, target, pinned)
    except Error:
        return across_in_b(problem)
    # As it is, a rival may be chosen, whose prediction is believed only where it is so much less.
    worth = _worth(problem) if mma_of(own.schedule) is mma else 1 / RIVAL
    return is_less(exchanged.compared.on_gpu, worth * own.compared.on_gpu)


def may_swap(problem: Problem) -> bool:
    """Whether swapping A and B may be worth it: for few rows, or where threads load and store nothing element by
    element, which would be strided after a swap. Products whose rows just fill an instruction stay: the wide operand is
    then read once. One A times several B cannot be swapped."""
    if problem.b_matrices:
        return False
    alone = not (problem.reads_c or problem.epilogue_matrices)
    if alone and across_in_b(problem):
        return True
    return _is_thin(problem) or (problem.m > FEWEST_ROWS and alone and leaves_transposed(swapped(problem)))


def across_in_b(problem: Problem) -> bool:
    """Whether neighbours lie along n in B, which tensor cores take along k only, and along k in A: swapped, what lies
    across k comes through registers."""
    return element_bytes(problem, "b") != 2 and (problem.a_order, problem.b_order) == ("mk", "kn")


def _worth(problem: Problem) -> float:
    """A swap pays if its predicted time is below this fraction of the time of the product as it is."""
    if _is_thin(problem):
        return THIN[problem.b_order]
    if across_in_b(problem):
        return MEASURED
    return BOTH_ACROSS if (problem.a_order, problem.b_order) == ("km", "nk") else WORTH


def _is_thin(problem: Problem) -> bool:
    return problem.m < FEWEST_ROWS and problem.n > problem.m


def as_computed(problem: Problem, schedule: Schedule) -> Problem:
    """The product as a schedule's tiles mean it, from the product as it was."""
    return swapped(problem) if schedule.swap_ab else problem
