"""register_prefetch: the next k tile is loaded into registers before the products, and stored to shared memory after
them."""

from __future__ import annotations

from mlir_gemm.parts.base import Mainloop
from mlir_gemm.spec.passes import at, step

PART = Mainloop(
    "register_prefetch",
    2,
    lambda schedule, _: [at("pipeline", "mainloop", step("register-prefetch", early=schedule.early))],
    fields=("stages", "early"),
    in_registers=True,
    default=True,
)
