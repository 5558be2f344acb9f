"""What is known of each kernel of a program once it is compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_gemm.spec.json_values import as_tuples
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.rows import RowProblem, RowSchedule
from mlir_gemm.spec.schedule import Schedule

PRODUCT, ELEMENTWISE, REDUCTION, ROWS = "product", "elementwise", "reduction", "rows"
"""Kinds of kernels: a matrix product with what is fused into it, one thread for each element, one warp for each sum of
products, or reductions along rows with what is around them."""
_OF_ROWS = ("row_problem", "rows")


@dataclass(frozen=True)
class KernelRecord:
    """One kernel: a function that is one kernel has one of these, a program one for each of its kernels, in order."""

    name: str
    kind: str
    """`product`, `elementwise`, `reduction` or `rows`."""
    problem: Problem | None
    """What a product computes."""
    schedule: Schedule | None
    """How a product is computed."""
    step: int | None
    """The place in the launch's steps where it runs first; None before `launch`."""
    note: str = ""
    """What `import` has to say of it, such as why it is a kernel of its own."""
    row_problem: RowProblem | None = None
    """What a kernel of rows computes."""
    rows: RowSchedule | None = None
    """How its rows are divided."""
    cuts: tuple[tuple[str, str], ...] = ()
    """The kernels that it reads from, by name, and why each is a kernel of its own."""
    beside: tuple[tuple[str, Problem], ...] = ()
    """The products that have joined its launch, in blocks of their own, by name."""

    @property
    def products(self) -> dict[str, Problem]:
        """All products of its launch, by name."""
        return ({} if self.problem is None else {self.name: self.problem}) | dict(self.beside)

    def to_json(self) -> dict[str, Any]:
        """The same as plain data; fields about rows only for a kernel of rows, and cuts and what is beside it where
        there are any."""
        data = dataclasses.asdict(self)
        for name in ("cuts", "beside"):
            found = data.pop(name)
            data |= {name: dict(found)} if found else {}
        return {name: value for name, value in data.items() if value is not None or name not in _OF_ROWS}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> KernelRecord:
        """What `to_json` gave, after a trip through JSON. Raises KeyError, TypeError or ValueError for other data."""
        fields: dict[str, Any] = as_tuples(data)
        problem, schedule = fields.pop("problem"), fields.pop("schedule")
        row_problem, rows = (fields.pop(name, None) for name in _OF_ROWS)
        cuts: Mapping[str, str] = fields.pop("cuts", {})
        beside: Mapping[str, Any] = fields.pop("beside", {})
        return KernelRecord(
            problem=None if problem is None else Problem(**problem),
            schedule=None if schedule is None else Schedule.make(schedule),
            row_problem=None if row_problem is None else RowProblem(**row_problem),
            rows=None if rows is None else RowSchedule.make(rows),
            cuts=tuple(cuts.items()),
            beside=tuple((name, Problem(**each)) for name, each in beside.items()),
            **fields,
        )


def products_of(records: Sequence[KernelRecord]) -> dict[str, Problem]:
    """All products of a program's launches, by name."""
    return {name: problem for record in records for name, problem in record.products.items()}


def first_product(records: tuple[KernelRecord, ...]) -> KernelRecord | None:
    """The first kernel that is a product, if any."""
    return next((record for record in records if record.kind == PRODUCT), None)
