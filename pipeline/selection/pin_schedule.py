"""pin-schedule: the fields that the user has fixed are written on every product.

Expects a module as `import` leaves it, one kernel or a program. Options are the fields of a schedule as text, and for
sizes that are known at run time only their typical values (`hints`) and numbers that always divide them (`divisors`),
by their symbols. Leaves the fields in `tile.schedule` of each product's function, above those that the source has
there, and the others in `tile.hints` and `tile.divisors` of each function that has these symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline.dynamic_problem import Variant
from mlir_gemm.pipeline.program import kind_of
from mlir_gemm.pipeline.undecided import kernels_before_select
from mlir_gemm.spec.kernel_record import PRODUCT
from mlir_gemm.spec.schedule import Schedule


@dataclass(frozen=True)
class PinSchedule(Pass):
    """Write on every product what the user has fixed of its schedule."""

    name: ClassVar[str] = "pin-schedule"
    fields: str = ""
    """Fields of the schedule, such as `block=128x128x64,stages=3`."""
    hints: str = ""
    """Typical values of symbols, such as `s0=512`."""
    divisors: str = ""
    """Numbers that divide the values of symbols, such as `s0=8`."""

    def run(self, module: Any) -> None:
        fields = Schedule.parse(self.fields)
        variant = Variant(_numbers("hints", self.hints), _numbers("divisors", self.divisors)).checked()
        for kernel in kernels_before_select(module):
            with kernel.errors():
                variant.write(kernel.function)
                if fields and kind_of(kernel.function) == PRODUCT:
                    kernel.pin({**kernel.pinned(), **fields})


def _numbers(option: str, text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in filter(None, text.split(",")):
        name, equals, number = item.partition("=")
        if not (equals and number.isdecimal()):
            raise PassError(f"pass 'pin-schedule': {option}={text}; expected numbers by symbols, as in s0=8,s1=64")
        found[name] = int(number)
    return found
