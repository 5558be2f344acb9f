"""The stage `select`: the passes from imported kernels to kernels with schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.spec.passes import PassSpec, step
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.decisions import REWRITES
from mlir_gemm.tile_model.tuned import Database


def before_choices(pinned: Mapping[str, Any], variant: Variant, tuned: Sequence[PassSpec] = ()) -> list[PassSpec]:
    """Before the model chooses anything: pinned fields are written into the IR, and what they allow is done. `tuned`
    are the passes for schedules that were found by measuring: they fix those of the products as they are, and, where
    some have become one, that one's."""
    given = {
        "fields": Schedule.text(pinned),
        "hints": Variant.text(variant.hints),
        "divisors": Variant.text(variant.divisors),
    }
    options = {name: text for name, text in given.items() if text}
    pins = [step("pin-schedule", **options)] if options else []
    return [*tuned, *pins, step("select-precision"), step("select-joins"), *tuned, step("select-side-by-side")]


def tuned_passes(database: Database | None, target: Target) -> list[PassSpec]:
    """What fixes schedules that were found by measuring, where there are some. A name of a GPU has underscores for
    spaces in an option."""
    if database is None:
        return []
    return [step("select-tuned", database=database.path, gpu=database.gpu_of(target).replace(" ", "_"))]


def row_choices() -> list[PassSpec]:
    """How kernels of rows are divided, into several where that pays."""
    return [step("select-split-rows"), step("combine-in-reader"), step("select-rows")]


def select_passes(
    pinned: Mapping[str, Any], variant: Variant, *, rows: bool, tuned: Sequence[PassSpec] = ()
) -> list[PassSpec]:
    """From imported kernels, some of `rows` among them or none, to kernels with schedules, with these fields fixed;
    `tuned` as in `before_choices`."""
    return [
        *before_choices(pinned, variant, tuned),
        *(step("select-rewrite", rewrite=name) for name in REWRITES),
        step("select-schedule"),
        *(row_choices() if rows else []),
        step("share-launches"),
        step("order-launches"),
    ]
