"""Two consumers that take tiles alternately, at tile level: each runs on its own, not in lockstep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir_gemm.dialect.walk import named
from mlir_gemm.simulator.tile_program import Decoder, Frame, PerUnit, Step, StepMaker

CONSUMER = "consumer"
"""The slot of a frame that holds which of the two consumers runs it."""
CONSUMERS = 2


def consumers_of(decoder: Decoder, consumer: Any) -> Callable[[Frame], list[Frame]]:
    """A function from a block's frame to those of its consumers: itself where there is one."""
    own = decoder.slot(CONSUMER)
    ping_pong = bool(named(consumer.owner, "tile.order_wait"))

    def frames(frame: Frame) -> list[Frame]:
        if not ping_pong:
            return [frame]
        # Once tiles are divided a consumer is a unit, and sees its own part of what differs between units.
        consumers: list[Frame] = [
            [each[number] if type(each) is PerUnit else each for each in frame] for number in range(CONSUMERS)
        ]
        for number, each in enumerate(consumers):
            each[own] = number
        return consumers

    return frames


def _consumer_id(decoder: Decoder, operation: Any) -> Step:
    source, target = decoder.slot(CONSUMER), decoder.slot(operation.operation.results[0])

    def step(frame: Frame) -> None:
        frame[target] = frame[source]

    return step


def _order_barrier(decoder: Decoder, operation: Any) -> Step:
    barriers = decoder.slot(operation.operation.operands[0])

    def step(frame: Frame) -> None:
        frame[barriers][...] = 0  # how often each consumer was released, and how often it went on

    return step


def _order_wait(decoder: Decoder, operation: Any) -> Step:
    state = decoder.state
    barriers, consumer, phase = decoder.slots(operation.operation.operands)

    def step(frame: Frame) -> None:
        passed, number = frame[barriers], frame[consumer]
        # The first consumer may go on once more often than it was released.
        wanted = 1 - int(frame[phase]) if number else int(frame[phase])
        state.coroutines.wait(
            lambda: (int(passed[0, number]) % 2 == wanted) or (not number and not passed[0, 0] and not frame[phase]),
            f"consumer {number} to be let go on",
        )

    return step


def _order_arrive(decoder: Decoder, operation: Any) -> Step:
    barriers, consumer = decoder.slots(operation.operation.operands)

    def step(frame: Frame) -> None:
        frame[barriers][0, 1 - frame[consumer]] += 1

    return step


STEPS: dict[str, StepMaker] = {
    "tile.consumer_id": _consumer_id, "tile.order_barrier": _order_barrier,
    "tile.order_wait": _order_wait, "tile.order_arrive": _order_arrive,
}  # fmt: skip
