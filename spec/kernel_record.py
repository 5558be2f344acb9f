"""What is known of each kernel of a program once it is compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlir_gemm.spec.launch import as_tuples
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule

PRODUCT, ELEMENTWISE, REDUCTION = "product", "elementwise", "reduction"
"""Kinds of kernels: a matrix product with what is fused into it, one thread for each element, or one warp for each sum
of products."""


@dataclass(frozen=True)
class KernelRecord:
    """One kernel: a function that is one kernel has one of these, a program one for each of its kernels, in order."""

    name: str
    kind: str
    """`product`, `elementwise` or `reduction`."""
    problem: Problem | None
    """What a product computes."""
    schedule: Schedule | None
    """How a product is computed."""
    step: int | None
    """The place in the launch's steps where it runs first; None before `launch`."""
    note: str = ""
    """What `import` has to say of it, such as why it is a kernel of its own."""

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> KernelRecord:
        """What `to_json` gave, after a trip through JSON. Raises KeyError, TypeError or ValueError for other data."""
        fields: dict[str, Any] = as_tuples(data)
        problem, schedule = fields.pop("problem"), fields.pop("schedule")
        return KernelRecord(
            problem=None if problem is None else Problem(**problem),
            schedule=None if schedule is None else Schedule.make(schedule),
            **fields,
        )


def first_product(records: tuple[KernelRecord, ...]) -> KernelRecord | None:
    """The first kernel that is a product, if any."""
    return next((record for record in records if record.kind == PRODUCT), None)
