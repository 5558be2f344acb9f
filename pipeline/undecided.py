"""The kernels of a module whose schedules are still to be chosen, and what a decision needs of each."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect import constants
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.linalg.products import the_product
from mlir_gemm.dialect.locations import input_error, location_of
from mlir_gemm.errors import Error, Location
from mlir_gemm.pipeline import annotations
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.program import is_program, kind_of, nested_kernels, outer_function
from mlir_gemm.spec.attributes import CHIP, SCHEDULE, SPLIT_K_WORKSPACE, STAGE
from mlir_gemm.spec.kernel_record import PRODUCT
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.stages import ALL_STAGES, is_after
from mlir_gemm.spec.target import Target
from mlir_gemm.tile_model.chips import target as target_of


@dataclass(frozen=True)
class Undecided:
    """One product's kernel before its schedule has been chosen."""

    module: Any
    """Its own module; the whole one where that is one kernel."""
    name: str
    """The name of its module in a program; empty where the whole module is one kernel."""
    target: Target

    @property
    def function(self) -> Any:
        """Its function."""
        return outer_function(self.module)

    @property
    def divided(self) -> int:
        """In how many slices of k it has been divided; 1 for none."""
        return constants.number_of(self.function, SPLIT_K_WORKSPACE, 1)

    def pinned(self) -> dict[str, Any]:
        """The fields that are fixed already."""
        return annotations.written_schedule(self.function)

    def pin(self, fields: Mapping[str, Any]) -> None:
        """Writes fields that are fixed from here on."""
        self.function.attributes[SCHEDULE] = annotations.dictionary(fields)

    def problem(self) -> Problem:
        """What it computes. Raises InputError and others where that cannot be said."""
        return Variant.read(self.function).problem_of(self.function)

    @contextmanager
    def errors(self) -> Generator[None]:
        """Gives errors the place of the product, if they have none, and the name of the kernel in a program."""
        try:
            yield
        except Error as error:
            error.location = error.location or self._place()
            if self.name:
                error.notes = (*error.notes, f"in the kernel '{self.name}'")
            raise

    def _place(self) -> Location | None:
        try:
            return location_of(the_product(self.function).op)
        except Error:
            return location_of(self.function)


def undecided(module: Any) -> list[Undecided]:
    """The products' kernels of an imported module, a program or one kernel, that are not past `select`. Raises
    InputError for a module that names no chip."""
    return [each for each in kernels_before_select(module) if kind_of(each.function) == PRODUCT]


def kernels_before_select(module: Any) -> list[Undecided]:
    """All kernels that are not past `select`."""
    chip = annotations.module_string(module, CHIP)
    if chip is None:
        raise input_error(module.operation, f'the module names no chip; write one, such as {CHIP} = "sm_80"')
    target = target_of(chip)
    nested = nested_kernels(module) if is_program(module) else [("", module)]
    return [Undecided(each, name, target) for name, each in nested if not _is_decided(each)]


def _is_decided(module: Any) -> bool:
    stage = annotations.module_string(module, STAGE)
    return stage in ALL_STAGES and is_after(stage, "select")


def string(text: str) -> Any:
    """A string attribute."""
    return ir.StringAttr.get(text)
