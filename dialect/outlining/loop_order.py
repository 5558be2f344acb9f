"""Choosing the loops of a kernel: what is merged, in which order they run, and which factor of a product is A."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from mlir_gemm.dialect.outlining.kernels import Kernel
from mlir_gemm.dialect.outlining.spaces import Access, Strides

Loop = int | None
"""A loop of the kernel's space; None for one of size 1."""


@dataclass(frozen=True)
class Order:
    """The loops of a kernel, outermost first."""

    outer: tuple[Loop, ...]
    """Of a product its batch loops, m and n; else the parallel ones."""
    inner: tuple[Loop, ...]
    """Of a product k; else the reductions."""
    is_product: bool = False
    """Whether the kernel is computed as a product, by tiles."""
    swapped: bool = False
    """Whether what multiplies from the right becomes A."""

    @property
    def loops(self) -> tuple[Loop, ...]:
        """All loops."""
        return self.outer + self.inner


def order_of(kernel: Kernel, own: Collection[Any]) -> Order | str:
    """Merges the loops of a kernel and orders them; the reason where a product is left with several k loops.

    `own` are the buffers that the kernel makes itself: they can lie in any way.
    """
    is_product = kernel.product is not None and not kernel.product.is_pointwise
    if not is_product:
        for loop, kind in kernel.kinds.items():
            kernel.kinds[loop] = "reduction" if kind in ("k", "reduction") else "parallel"
    outside = [access for root, access in _accesses(kernel) if root not in own]
    kernel.space.merge(kernel.kinds, outside)
    joined = [access for access in outside if access.windows] if is_product else []
    if joined:
        kernel.space.merge(kernel.kinds, [access for access in outside if not access.windows], joined)
    result = _result(kernel, own)
    if is_product:
        return _of_product(kernel, result.strides)
    parallel = _outermost_first(_of_kind(kernel, "parallel"), result.strides)
    loops = _of_kind(kernel, "reduction")
    reads = [access.strides for statement in kernel.statements for access in statement.accesses if access is not None]
    whole = [strides for strides in reads if set(loops) <= set(strides)]
    reduction = _outermost_first(loops, (whole or reads or [{}])[0])
    is_reduction = any(not statement.generic.elementwise for statement in kernel.statements)
    return Order(tuple(parallel) or (None,), tuple(reduction) or (None,) * is_reduction)


def _of_product(kernel: Kernel, result: Strides) -> Order | str:
    k = _of_kind(kernel, "k")
    if len(k) > 1:
        return f"its reduction runs along {len(k)} dimensions that do not follow one another evenly in both operands"
    neighbours = [loop for loop, stride in result.items() if stride == 1]
    swapped = any(kernel.kinds[loop] == "m" for loop in neighbours) and bool(_of_kind(kernel, "n"))
    rows, columns = (_of_kind(kernel, kind) for kind in (("n", "m") if swapped else ("m", "n")))
    n = _main(kernel, [loop for loop in columns if loop in neighbours] or columns, result)
    m = _main(kernel, rows, result)
    batch = [loop for loop in (*_of_kind(kernel, "batch"), *rows, *columns) if loop not in (m, n)]
    return Order((*_outermost_first(batch, result), m, n), (k[0] if k else None,), True, swapped)


def _main(kernel: Kernel, loops: list[int], result: Strides) -> Loop:
    """The loop that tiles run along when there are several: the longest, of equal ones the innermost."""
    return max(loops, key=lambda loop: (kernel.space.sizes[loop], -result[loop]), default=None)


def _of_kind(kernel: Kernel, kind: str) -> list[int]:
    return [loop for loop, each in kernel.kinds.items() if each == kind]


def _outermost_first(loops: list[int], strides: Strides) -> list[int]:
    return sorted(loops, key=lambda loop: -strides.get(loop, 0))


def _accesses(kernel: Kernel) -> list[tuple[Any, Access]]:
    found: list[tuple[Any, Access]] = []
    for statement in kernel.statements:
        pairs = zip(statement.roots, statement.accesses, strict=True)
        found += [(root, access) for root, access in pairs if access is not None]
    return found


def _result(kernel: Kernel, own: Collection[Any]) -> Access:
    """Where the kernel's results go: as most of those that leave it lie, the last one of them."""
    outside = [access for root, access in kernel.written.items() if root not in own]
    if not outside:
        return list(kernel.written.values())[-1]
    kinds = [_kind_of_neighbours(kernel, access) for access in outside]
    most = max(reversed(kinds), key=kinds.count)
    return [access for access, kind in zip(outside, kinds, strict=True) if kind == most][-1]


def _kind_of_neighbours(kernel: Kernel, access: Access) -> str:
    return next((kernel.kinds[loop] for loop, stride in access.strides.items() if stride == 1), "")
