"""Two groups of consumers that take tiles by turns, at tile level: each runs on its own, not in lockstep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir_gemm.dialect.walk import named
from mlir_gemm.simulator.tile_program import Decoder, Frame, PerUnit, Step, StepMaker

TURN = "turn"
"""The slot of a frame that holds which of the two groups runs it."""
GROUPS = 2


def groups_of(decoder: Decoder, consumer: Any) -> Callable[[Frame], list[Frame]]:
    """A function from a block's frame to those of its groups of consumers: itself where they do not take turns."""
    turn = decoder.slot(TURN)
    takes_turns = bool(named(consumer.owner, "tile.take_turn"))

    def frames(frame: Frame) -> list[Frame]:
        if not takes_turns:
            return [frame]
        # Once tiles are divided a group is a unit, and sees its own part of what differs between units.
        groups: list[Frame] = [
            [each[number] if type(each) is PerUnit else each for each in frame] for number in range(GROUPS)
        ]
        for number, group in enumerate(groups):
            group[turn] = number
        return groups

    return frames


def _turn(decoder: Decoder, operation: Any) -> Step:
    source, target = decoder.slot(TURN), decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        frame[target] = frame[source]

    return step


def _make(decoder: Decoder, operation: Any) -> Step:
    barriers = decoder.slot(operation.operation.operands[0])

    def step(frame: Frame) -> None:
        frame[barriers][...] = 0  # how often each group was let go on, and how often it went

    return step


def _take(decoder: Decoder, operation: Any) -> Step:
    state = decoder.state
    barriers, turn, phase = decoder.slots(operation.operation.operands)

    def step(frame: Frame) -> None:
        passed, number = frame[barriers], frame[turn]
        # The first group may go on once more than it was let.
        wanted = 1 - int(frame[phase]) if number else int(frame[phase])
        state.turns.wait(
            lambda: (int(passed[0, number]) % 2 == wanted) or (not number and not passed[0, 0] and not frame[phase]),
            f"turn {number}",
        )

    return step


def _pass(decoder: Decoder, operation: Any) -> Step:
    barriers, turn = decoder.slots(operation.operation.operands)

    def step(frame: Frame) -> None:
        frame[barriers][0, 1 - frame[turn]] += 1

    return step


STEPS: dict[str, StepMaker] = {
    "tile.turn": _turn, "tile.make_turns": _make, "tile.take_turn": _take, "tile.pass_turn": _pass,
}  # fmt: skip
