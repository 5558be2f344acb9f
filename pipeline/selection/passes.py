"""The passes of the stage `select`, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.spec.passes import PassSpec, step
from mlir_gemm.spec.schedule import Schedule


def before_choices(pinned: Mapping[str, Any], variant: Variant) -> list[PassSpec]:
    """What comes before the model chooses anything: what is fixed is written down, and what that allows is done."""
    given = {
        "fields": Schedule.text(pinned),
        "hints": _numbers(variant.hints),
        "divisors": _numbers(variant.divisors),
    }
    options = {name: text for name, text in given.items() if text}
    return [*([step("pin-schedule", **options)] if options else []), step("select-precision")]


def select_passes(pinned: Mapping[str, Any], variant: Variant) -> list[PassSpec]:
    """From imported kernels to kernels with schedules, with these fields fixed."""
    return [
        *before_choices(pinned, variant),
        step("select-relayout"),
        step("select-split-k"),
        step("select-swap-a-b"),
        step("select-schedule"),
        step("select-split-rows"),
        step("select-rows"),
    ]


def _numbers(values: Mapping[str, int]) -> str:
    return ",".join(f"{name}={number}" for name, number in values.items())
