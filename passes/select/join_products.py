"""join-products: products of the same A by different matrices B become one kernel.

Expects a program as `outline-kernels` and `normalise-kernels` leave it. Options name kernels of one product each, in
the order in which they run, that multiply the same A, in the same loops, by matrices that lie alike, all as they are in
memory, and do nothing but elementwise work after that: the gate and the input of a gated MLP, keys and values. Leaves
one kernel with all of these products, and after them what is done with their results. A matrix that only its own
kernels read, such as the gate, is the kernel's own then, and stays in registers. The kernel's `tile.note` says so.

Refuses other kernels, and such that cannot run at once, because one of them, or one between them, reads or writes what
another does elsewhere than at its own element. What has been joined has one name: a second run refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.locations import pass_error
from mlir_gemm.dialect.outlining import joined_products, kernel_modules, programs
from mlir_gemm.passes.base import Pass


@dataclass(frozen=True)
class JoinProducts(Pass):
    """Multiply one A by several matrices in one kernel."""

    name: ClassVar[str] = "join-products"
    kernels: str = ""
    """The names of the kernels' modules, with commas between them."""

    def run(self, module: Any) -> None:
        names = [name for name in self.kernels.split(",") if name]
        groups = joined_products.groups_of(module)
        group = next((each for each in groups if {one.name for one in each} >= {*names}), None)
        if len(names) < 2 or group is None:
            raise pass_error(
                module, f"'{self.kernels}' are not the names of two or more kernels that multiply the same A by "
                "matrices that lie alike, and nothing else but elementwise work on the results"
            )  # fmt: skip
        members = [each for each in group if each.name in names]
        why = joined_products.why_apart(module, members)
        if why:
            raise pass_error(members[0].product.op, f"these products cannot be one kernel: {why}")
        joined_products.join(module, members)
        kernel = programs.kernel_modules(module)[members[0].name]
        kernel_modules.add_note(kernel, f"one kernel multiplies its A by {len(members)} matrices: {', '.join(names)}")
