"""The stage `select`: the passes from imported kernels to kernels with schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.spec.passes import PassSpec, step
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.decisions import REWRITES
from mlir_gemm.tile_model.tuned import Database


def before_choices(pinned: Mapping[str, Any], variant: Variant) -> list[PassSpec]:
    """Before the model chooses anything: pinned fields are written into the IR, and what they allow is done."""
    given = {
        "fields": Schedule.text(pinned),
        "hints": Variant.text(variant.hints),
        "divisors": Variant.text(variant.divisors),
    }
    options = {name: text for name, text in given.items() if text}
    return [*([step("pin-schedule", **options)] if options else []), step("select-precision"), step("select-joins")]


def tuned_passes(database: Database | None, target: Target) -> list[PassSpec]:
    """Before all else, where there are schedules that were found by measuring: those are fixed. A name of a GPU has
    underscores for spaces in an option."""
    if database is None:
        return []
    return [step("select-tuned", database=database.path, gpu=database.gpu_of(target).replace(" ", "_"))]


def row_choices() -> list[PassSpec]:
    """How kernels of rows are divided, into several where that pays."""
    return [step("select-split-rows"), step("combine-in-reader"), step("select-rows")]


def select_passes(pinned: Mapping[str, Any], variant: Variant, *, rows: bool) -> list[PassSpec]:
    """From imported kernels, some of `rows` among them or none, to kernels with schedules, with these fields fixed."""
    return [
        *before_choices(pinned, variant),
        *(step("select-rewrite", rewrite=name) for name in REWRITES),
        step("select-schedule"),
        *(row_choices() if rows else []),
        step("share-launches"),
        step("order-launches"),
    ]
