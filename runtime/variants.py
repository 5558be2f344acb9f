"""The variants of a kernel with sizes that are known at run time only: compiled when they are first needed.

A variant is compiled for typical sizes (hints), and may rely on sizes being multiples of 16 bytes' worth of elements,
which lets it read and write 128 bits at once. For sizes that are no such multiples there is another. Which hints suit
is chosen by the model (`tile_model.variants`); of kernels of rows without products, those that are nearest to the sizes
of a call, each of them the next one's quarter, where they lead to other schedules.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping

from mlir_gemm.errors import ArgumentError
from mlir_gemm.runtime.request import Pairs, Variant
from mlir_gemm.spec.kernel_record import PRODUCT, ROWS, KernelRecord, products_of
from mlir_gemm.spec.launch import Launch
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.rows import RowSchedule
from mlir_gemm.tile_model.chips import target as target_of
from mlir_gemm.tile_model.variants import DEFAULT_HINT, Chooser, Product, changed, product_of, typical

VECTOR_BYTES = 16


class Variants:
    """All variants of a module whose launch, `first`, has symbols."""

    def __init__(self, first: Variant) -> None:
        self.first = first
        self.launch = first.artifact.launch
        self.made: dict[tuple[Pairs, Pairs], Variant] = {}
        """Those that there are, by hints and divisors."""
        self._request = first.request
        self._divisors = divisors_of(self.launch)
        self._products: dict[Pairs, dict[str, Product] | None] = {}
        self._choosers: dict[Pairs, Chooser | None] = {}
        self._computes: dict[Pairs, dict[str, Problem | int]] = {}
        self._alike: dict[tuple[Pairs, Pairs], Pairs] = {}
        self._schedules: dict[tuple[tuple[RowSchedule | None, ...], Pairs], Pairs] = {}
        self._lock = threading.RLock()
        self.made[self._defaults(), ()] = first  # what the compiler takes where nothing is said

    def at(self, values: tuple[int, ...]) -> Variant:
        """The variant for these values of the launch's symbols."""
        sizes = dict(zip(self.launch.symbols, values, strict=True))
        with self._lock:
            divisors = self._divisors_at(sizes)
            chooser = self._chooser(divisors)
            hints = self._defaults() if chooser is None else tuple(chooser.choose(sizes).items())
            if self._has_rows_alone:
                hints = self._near(sizes, divisors)
            if (hints, divisors) not in self.made:
                request = dataclasses.replace(self._request, hints=hints, divisors=divisors)
                self.made[hints, divisors] = Variant(request)
            return self.made[hints, divisors]

    def made_so_far(self) -> dict[str, tuple[KernelRecord, ...]]:
        """The kernels of each variant that there is, by the variant's name."""
        return {_name(hints, divisors): variant.artifact.kernels for (hints, divisors), variant in self.made.items()}

    def records(self, variant: Variant, values: tuple[int, ...]) -> tuple[KernelRecord, ...]:
        """A variant's kernels with the problems that they compute for these values, as far as that is known."""
        sizes = dict(zip(self.launch.symbols, values, strict=True))
        products = self._of(variant.request.divisors)
        if products is None:
            return variant.artifact.kernels
        return _with_problems(variant, {name: product.at(sizes) for name, product in products.items()})

    def _defaults(self) -> Pairs:
        return tuple((name, DEFAULT_HINT) for name in self.launch.symbols)

    @property
    def _has_rows_alone(self) -> bool:
        kinds = {record.kind for record in self.first.artifact.kernels}
        return ROWS in kinds and PRODUCT not in kinds

    def _near(self, sizes: Mapping[str, int], divisors: Pairs) -> Pairs:
        """The first hints that led to the schedules which those near to some sizes lead to. Nothing is compiled further
        than that for it."""
        hints = tuple((name, typical(size)) for name, size in sizes.items())
        for each in (self._defaults(), hints):
            if (each, divisors) not in self._alike:
                request = dataclasses.replace(self._request, hints=each, divisors=divisors, until="select")
                rows = tuple(record.rows for record in request.find()[0].kernels)
                self._alike[each, divisors] = self._schedules.setdefault((rows, divisors), each)
        return self._alike[hints, divisors]

    def _chooser(self, divisors: Pairs) -> Chooser | None:
        if divisors not in self._choosers:
            products = self._of(divisors)
            target = target_of(self.first.artifact.chip)
            pinned = dict(self._request.schedule or {})
            self._choosers[divisors] = None if products is None else Chooser([*products.values()], target, pinned)
        return self._choosers[divisors]

    def _of(self, divisors: Pairs) -> dict[str, Product] | None:
        """The products, by name, with sizes that are multiples of the divisors; None where their sizes are not
        understood. How they depend on the unknown sizes is seen by compiling for others up to `select`."""
        if divisors in self._products:
            return self._products[divisors]
        base = dict(self._defaults())
        problems, others = self._problems(base, divisors), self._problems(changed(base), ())
        made = {name: product_of(problem, base, others[name]) for name, problem in problems.items()}
        found = {name: product for name, product in made.items() if product is not None}
        self._products[divisors] = found if len(found) == len(made) else None
        return self._products[divisors]

    def _problems(self, hints: Mapping[str, int], divisors: Pairs) -> dict[str, Problem]:
        """The problems of the products, by name, for hints and divisors."""
        artifact = self.first.artifact
        asked = tuple(hints.items())
        if not any(record.kind == PRODUCT for record in artifact.kernels):
            return {}
        if (asked, divisors) != (self._defaults(), ()):
            artifact, _ = dataclasses.replace(self._request, hints=asked, divisors=divisors, until="select").find()
        return products_of(artifact.kernels)

    def _divisors_at(self, sizes: Mapping[str, int]) -> Pairs:
        """The divisors that the variant for these sizes may rely on: those that make a difference to some kernel."""
        dividing = [(name, by) for name, by in self._divisors.items() if not sizes[name] % by]
        return tuple(each for each in dividing if self._computed((each,)) != self._computed(()))

    def _computed(self, divisors: Pairs) -> dict[str, Problem | int]:
        """What products compute, and what rows are aligned to, for sizes that are multiples of the divisors."""
        if divisors not in self._computes:
            artifact = self.first.artifact
            if divisors and any(record.kind in (PRODUCT, ROWS) for record in artifact.kernels):
                request, hints = self._request, self._defaults()
                artifact, _ = dataclasses.replace(request, hints=hints, divisors=divisors, until="select").find()
            aligned = {each.name: each.row_problem.aligned for each in artifact.kernels if each.row_problem is not None}
            self._computes[divisors] = products_of(artifact.kernels) | aligned
        return self._computes[divisors]


class GivenVariant:
    """The only variant of a module for which the caller has named typical sizes, or divisors."""

    def __init__(self, first: Variant) -> None:
        self.first = first

    def at(self, values: tuple[int, ...]) -> Variant:
        """The variant, if the sizes are multiples of the divisors. Raises ArgumentError."""
        divisors = dict(self.first.request.divisors)
        for name, size in zip(self.first.artifact.launch.symbols, values, strict=True):
            if size % divisors.get(name, 1):
                raise ArgumentError(f"{name}={size}: compiled for multiples of {divisors[name]}, as 'divisors' says")
        return self.first

    def made_so_far(self) -> dict[str, tuple[KernelRecord, ...]]:
        """The kernels, by what they are made for."""
        return {_name(self.first.request.hints, self.first.request.divisors): self.first.artifact.kernels}

    def records(self, variant: Variant, values: tuple[int, ...]) -> tuple[KernelRecord, ...]:
        """The kernels with the problems that they compute for these values."""
        sizes = tuple(zip(variant.artifact.launch.symbols, values, strict=True))
        artifact, _ = dataclasses.replace(variant.request, hints=sizes, until="select").find()
        return _with_problems(variant, products_of(artifact.kernels))


class SavedVariant:
    """The only variant of text that was saved when its sizes had been decided on."""

    def __init__(self, first: Variant, divisors: Mapping[str, int]) -> None:
        self.first = first
        self._divisors = divisors

    def at(self, values: tuple[int, ...]) -> Variant:
        """The variant, if it is made for these values of the launch's symbols. Raises ArgumentError."""
        for name, size in zip(self.first.artifact.launch.symbols, values, strict=True):
            by = self._divisors.get(name, 1)
            if size % by:
                raise ArgumentError(
                    f"{name}={size}: the text was saved for sizes that are multiples of {by}; start from the source "
                    "for others"
                )
        return self.first

    def made_so_far(self) -> dict[str, tuple[KernelRecord, ...]]:
        """The kernels, by what they are made for."""
        return {_name((), tuple(self._divisors.items())) or "any sizes": self.first.artifact.kernels}

    def records(self, variant: Variant, values: tuple[int, ...]) -> tuple[KernelRecord, ...]:
        """The kernels with the problems that they compute for these values."""
        from mlir_gemm.pipeline.saved import problems_at  # late: it imports the MLIR bindings

        problems = problems_at(variant.request.source, dict(zip(variant.artifact.launch.symbols, values, strict=True)))
        return _with_problems(variant, problems)


def _with_problems(variant: Variant, problems: Mapping[str, Problem | None]) -> tuple[KernelRecord, ...]:
    """A variant's kernels with the problems of these names, as far as they are products."""
    return tuple(
        dataclasses.replace(
            record,
            problem=problems.get(record.name, record.problem),
            beside=tuple((name, problems.get(name) or problem) for name, problem in record.beside),
        )
        for record in variant.artifact.kernels
    )


def _name(hints: Pairs, divisors: Pairs) -> str:
    """What a variant is made for, such as `s0~512, s0%8`."""
    return ", ".join([*(f"{name}~{hint}" for name, hint in hints), *(f"{name}%{by}" for name, by in divisors)])


def divisors_of(launch: Launch) -> dict[str, int]:
    """What each unknown size must be a multiple of for rows to be multiples of 16 bytes. A size that is only ever the
    first of an argument does not matter for its rows. Inside a program, buffers may have any size as their last."""
    bytes_: dict[str, int] = {}
    for argument in launch.arguments:
        for axis, size in enumerate(argument.shape):
            if isinstance(size, str) and (axis > 0 or launch.buffers):
                bytes_[size] = min(argument.item_bytes, bytes_.get(size, VECTOR_BYTES))
    return {name: VECTOR_BYTES // bytes_[name] for name in launch.symbols if name in bytes_}
