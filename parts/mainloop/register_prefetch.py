"""register_prefetch: the next k tile is loaded into registers before the products, and stored to shared memory after
them."""

from __future__ import annotations

from mlir_gemm.parts.base import Mainloop
from mlir_gemm.parts.common_fields import STAGES
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.passes import at, step

PART = Mainloop(
    "register_prefetch",
    2,
    lambda schedule, _: [at("pipeline", "mainloop", step("register-prefetch", early=schedule.early))],
    fields=(
        STAGES,
        Field("early", "Issue the loads of the next k tile in front of the barrier rather than after it."),
    ),
    in_registers=True,
    default=True,
)
