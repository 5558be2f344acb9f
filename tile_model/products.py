"""Products beside those of `chip_table.py`: GPUs that share a compute capability with a row there, as the figures in
which they differ. To add one, add a row and a line of sources.

Sources, unless a row says otherwise: SMs, boost clock, dense f16 rate, L2 and memory from the product's datasheet or
the white paper of its architecture; the tensor rate in one clock of one SM is the f16 rate with f32 accumulation over
both. L2's rate where nothing is given: that of the row, by SMs and clock. What else a row has is that of its compute
capability, the constants that were fitted on the H200 too: of these GPUs the H100 SXM alone was measured (`mlir-gemm
probe` measures the one at hand).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mlir_gemm.spec.target import Rates, Target
from mlir_gemm.tile_model.chip_table import GEFORCE_RATES, GRAPHICS_RATES, TURING_GEFORCE_RATES
from mlir_gemm.tile_model.constants import with_constants

MB = 1 << 20


@dataclass(frozen=True)
class Product:
    """One GPU that is sold under a name."""

    chip: str
    """The row of the table that it shares its compute capability with."""
    name: str
    sms: int
    clock: float | None = None
    """GHz under load; None for the row's."""
    tensor: float | None = None
    """f16 FLOPs with f32 accumulation in one clock of one SM; None for the row's."""
    l2: float | None = None
    """MB; None for the row's."""
    dram: float | None = None
    """TB/s; None for the row's."""
    rates: Rates | None = None
    constants: tuple[tuple[str, float], ...] = ()
    """Constants of the costs that were fitted on it, by the names of `constants.py`; the others are the row's."""
    driver: tuple[str, ...] = ()
    """How CUDA's driver names it, where that is not the name with `NVIDIA`, `GeForce`, `RTX` or `Tesla` before it."""

    def of(self, row: Target) -> Target:
        """The row with this product's figures."""
        clock = row.clock_hz if self.clock is None else self.clock * 1e9
        return replace(
            with_constants(row, dict(self.constants)),
            name=self.name,
            sms=self.sms,
            clock_hz=clock,
            tensor_flops_clock_sm=row.tensor_flops_clock_sm if self.tensor is None else self.tensor,
            l2_bytes=row.l2_bytes if self.l2 is None else round(self.l2 * MB),
            l2_bytes_s=row.l2_bytes_s * self.sms * clock / (row.sms * row.clock_hz),
            dram_bytes_s=row.dram_bytes_s if self.dram is None else self.dram * 1e12,
            rates=self.rates or row.rates,
        )


H100 = (
    ("wgmma.row", 1.75),
    ("wgmma.turned", 1.05),
    ("wgmma.form", 1540),
    ("wgmma.split", 1560),
    ("wgmma.cluster", 83),
)
"""What differs on an H100 from the H200: rows of copies take longer, which stands for L2, and ping-pong kernels lose
rather than gain. Fitted on an H100 SXM to kernels of 20 products (bench/results/2026-11-24-h100-own-row.jsonl.xz): the
choice among those measured takes 1.029 times the best on products left out, 1.104 with the H200's constants.

Clusters cost it more: a short kernel takes 1.5 us longer in pairs than alone (median of 45 pairs), where 0.5 were
predicted, and 0.8 on an H200. The last three were fitted to 76 products of five files (2026-11-24 to 2026-11-28) of
which no operand was marked as a whole to leave L2 first: by fits to the others, a file that was left out has its choice
among those measured at 1.081 of the best where it was at 1.085, and the mean of those that are predicted to be as fast
within 3 % at 1.062, not 1.066, nearer in four of the five and the same in one. Partial sums of clusters, at 0.6 of the
rate, gained as much there, but lost more where an operand was marked."""

ROWS = (
    # Turing white paper: 53.8 TFLOP/s with f32 accumulation and 107.6 with f16 at 1.545 GHz, 215 TOP/s of int8.
    Product("sm_75", "RTX 2080 Ti", 68, 1.545, 512, 5.5, 0.616, TURING_GEFORCE_RATES),
    # Datasheet of the A100: 40 GB of HBM2 at 1.555 TB/s; else as that of 80 GB.
    Product("sm_80", "A100 40 GB", 108, dram=1.555, driver=("A100-SXM4-40GB", "A100-PCIE-40GB")),
    # Datasheets of the RTX A4000 (76.7 dense f16 TFLOP/s at 1.56 GHz) and A6000 (154.8 at 1.8 GHz).
    Product("sm_86", "RTX A4000", 48, 1.56, 1024, 4, 0.448, GRAPHICS_RATES),
    Product("sm_86", "RTX A6000", 84, 1.8, 1024, 6, 0.768, GRAPHICS_RATES),
    # GA102 white paper: 71 TFLOP/s with f32 accumulation at 1.695 GHz, 142 with f16, 284 TOP/s of int8.
    Product("sm_86", "RTX 3090", 82, 1.695, 512, 6, 0.936, GEFORCE_RATES),
    # Datasheets: 121 dense f16 TFLOP/s at 2.04 GHz, which 72 W hold under load for a moment only; 362 at 2.52 GHz.
    Product("sm_89", "L4", 58, 2.04, 1024, 48, 0.3, GRAPHICS_RATES),
    Product("sm_89", "L40S", 142, 2.52, 1024, 96, 0.864, GRAPHICS_RATES),
    # H100 datasheet and Hopper white paper. Memory: 0.9 of the datasheet's rate, which is what a copy reaches on the
    # H200. Clocks: SXM as the H200's, which is the same chip at the same power; PCIe and NVL, of 350 and 400 W, from
    # their dense f16 rates (756 and 835 TFLOP/s) over 4096 FLOP in a clock of an SM.
    Product("sm_90a", "H100 SXM", 132, l2=50, dram=3.0, constants=H100, driver=("H100 80GB HBM3", "H100 SXM5 80GB")),
    Product("sm_90a", "H100 PCIe", 114, 1.62, l2=50, dram=1.8, constants=H100),
    Product("sm_90a", "H100 NVL", 132, 1.54, l2=50, dram=3.5, constants=H100),
    # GH200 datasheet, 96 GB of HBM3 at 4.0 TB/s; the GPU's power depends on what is left of the module's.
    Product("sm_90a", "GH200", 132, l2=60, dram=3.6, driver=("GH200 480GB", "GH200 96GB HBM3", "GH200 144G HBM3e")),
)

ALIASES = {"a4000": "rtxa4000", "a6000": "rtxa6000", "h100": "h100sxm", "a10040": "a10040gb"}
"""Short names of products, without spaces."""
OTHER_NAMES = {"a10080gb": "sm_80", "a10080": "sm_80", "agxorin": "sm_87"}
"""Names of what the table's rows are already."""
