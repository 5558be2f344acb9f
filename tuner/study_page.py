"""A study as one HTML page, with its pictures inside."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from mlir_gemm.tuner.portability import Matrix
from mlir_gemm.tuner.tried import Known

BEST = 12
"""Schedules in the table of the best."""
WORDS = {
    "All variants": "How many variants reach how much: what the model predicts of all that are legal, without those "
    "that it predicts to take three times as long as its choice, and what was measured, where something was.",
    "The best so far": "A line for each sampler. Samplers in one storage leave out what another has tried; to compare "
    "them, give each a storage of its own.",
    "Predicted and measured": "A dot for each variant that was measured; on the line the model is right.",
    "Importance of the parameters": "The part of each parameter in what sets the best tenth apart, by Optuna's "
    "PED-ANOVA. Parameters depend on each other: block and warp tiles share theirs.",
    "Each parameter": "A dot for each variant, at its value. As in Hofstra's figures 9 to 15, the best combination "
    "need not have the value that is best on average.",
    "Two parameters": "The best of all variants that have both values; grey is not legal, or was not tried.",
    "Parallel coordinates": "A line for each variant through its values of the most important parameters.",
    "What was illegal": "Proposals by the first rule that refuses them.",
    "Portability": "Rows are the best schedules of each device, columns the devices that they run on. Cells with * are "
    "measured, all others predicted, from the device's row with constants that were fitted on an H200: of most devices "
    "nothing was ever measured.",
    "What is lost elsewhere": "The same as what is lost by running one device's best on another, beside the best "
    "there. The table has what is left: the mean (geometric) and the least part of the best, over the other devices "
    "on which the schedule is legal.",
}
"""What is said above a picture, by its title."""


def page(known: Known, pictures: Mapping[str, tuple[str, bytes]], portable: Matrix | None) -> str:
    """The page; `pictures` are names and PNGs by title."""
    space = known.space
    source = (Path(__file__).parent / "study.html").read_text()
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(source)
    order = sorted(known.values, key=known.values.__getitem__)[:BEST]
    best = [
        (f"{known.merit(known.values[at]):.4g}", f"{space.trials[at].predicted * 1e6:.2f}", space.trials[at].schedule)
        for at in order
    ]
    return template.render(
        title=f"{space.problem} on {known.gpu}",
        facts=_facts(known),
        schedules=_schedules(known),
        pictures=[(title, base64.b64encode(data).decode()) for title, (_, data) in pictures.items()],
        words=WORDS,
        illegal=sorted(space.illegal.items(), key=lambda item: -item[1].count),
        failed=sorted(known.failed.items()),
        losses=_losses(portable),
        left_out=portable.left_out if portable else (),
        unit=known.unit,
        best=best,
    )


def _facts(known: Known) -> list[tuple[str, str]]:
    space = known.space
    rows = [
        ("problem", str(space.problem)),
        ("device", f"{known.gpu} ({space.target.chip})"),
        ("values", "measured" if known.measured else "predicted times: nothing was measured"),
        ("objective", known.objective),
        ("variants", f"{len(space.trials)} legal, {sum(each.count for each in space.illegal.values())} refused"),
        ("tried", "; ".join(f"{len(run)} by {sampler}" for sampler, run in known.runs.items()) or "none"),
    ]
    rewrites = space.decisions.rewrites
    return [*rows, ("first", ", ".join(rewrites))] if rewrites else rows


def _schedules(known: Known) -> list[tuple[str, str, str]]:
    """The model's choice and what is better, each with its value."""
    found: list[tuple[str, str, str]] = []
    choice = known.space.trials[0].schedule
    for name, schedule in (("the model's choice", choice), ("the best found", known.best)):
        value = known.values.get(known.space.places.get(schedule, -1))
        merit = f"{known.merit(value):.4g} {known.unit}" if value else known.reasons.get(schedule, "not tried")
        if name == "the best found" and schedule == choice:
            merit = f"{merit}: the model's choice"
        found.append((name, merit, schedule))
    return found


def _losses(portable: Matrix | None) -> Sequence[tuple[str, float, float, int, str]]:
    if portable is None:
        return []
    return [(*loss, variant) for loss, variant in zip(portable.losses(), portable.variants, strict=True)]
