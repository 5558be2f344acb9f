"""select-tuned: products whose schedule was found by measuring get that one.

Expects a module as `import` leaves it. Looks each product up in a file that `mlir-gemm tune` has written, under exactly
its problem and this GPU. Where there is an entry, fixes all its fields in `tile.schedule`, and says so in the kernel's
`tile.note`. Products of which something is fixed already are left alone. Raises InputError for a file that cannot be
read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mlir_gemm.dialect.outlining import kernel_modules
from mlir_gemm.errors import PassError
from mlir_gemm.passes.base import Pass
from mlir_gemm.pipeline.undecided import undecided
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model import tuned


@dataclass(frozen=True)
class SelectTuned(Pass):
    """Take schedules that were found by measuring."""

    name: ClassVar[str] = "select-tuned"
    database: str = ""
    """The file."""
    gpu: str = ""
    """The GPU's name, as in the file, with underscores for spaces."""

    def run(self, module: Any) -> None:
        if not self.database or not self.gpu:
            raise PassError(f"pass '{self}': expected database=FILE gpu=NAME, a file that mlir-gemm tune has written")
        gpu = self.gpu.replace("_", " ")
        for kernel in undecided(module):
            with kernel.errors():
                if kernel.pinned():
                    continue
                entry = tuned.find(self.database, kernel.problem(), kernel.target.chip, gpu)
                if entry is not None:
                    kernel.pin(Schedule.parse(entry.schedule))
                    kernel_modules.add_note(kernel.module, str(entry))
