"""What was fitted to measurements on an H200, for that chip's row. Chips on which nothing was measured take it too."""

from __future__ import annotations

from typing import Any

from mlir_gemm.parts.mma.wgmma.constants import WgmmaConstants, WgmmaLimits
from mlir_gemm.parts.warp_level.constants import FragmentConstants, LaneConstants
from mlir_gemm.tile_model.completing import L2Limits

H200: tuple[Any, ...] = (
    # To 2088 kernels of WMMA: every candidate for the squares from 1024 to 8192 (docs/tile-model-costs.md).
    FragmentConstants(
        inside=2.5,
        outside=4.0,
        memory_latency=5.65e-7,
        barrier=1.25e-7,
        fragment=66.0,
        launch=3.8e-6,
        late=(0.03, 0.25),
        sm_l2_bytes_clock=64.0,
        copy_issue=1.0,
        rolled=1.15,
        unpromoted_shared=8.0,
        unaccumulated=4.0,
        sync_fragment=24.0,
        async_barrier=4e-8,
        vector_issue=1.97,
        load_chain=15.6,
        vary=4.0,
        ring_barrier=3e-8,
        async_issue=2.0,
        narrow_issue=13.8,
        narrow_chain=11.3,
        guard_issue=5.2,
        store=0.0,
        fma_share=0.85,
        simt_load=2.0,
        conversion=2.0,
    ),
    # To 544 kernels of mma.sync with f16 at seven squares from 512 to 4096 (bench/results, 2026-11-21). Asynchronous
    # copies overlap more, and the launch is timed with the arrays' own part of the call. `vector_issue` to
    # `narrow_chain`: to 1,548 kernels of 86 random products (2026-11-22): predicted times of the better ones are off by
    # 0.19 where they were by 0.27. `memory_latency` (6.8e-7 before): to the same and 45 problems of 2026-11-24, when in
    # f64 the chain of a block took the place of one warp's. Errors of f16 11.9 -> 11.5 %, of f64 17.8 -> 12.8.
    # `conversion`: f16 by lanes at 4096^3 takes 3.69 ms by 128x128x16 with warps of 32x64, 4.23 by 128x64x16 of 32x32.
    LaneConstants(
        inside=3.7,
        outside=8.0,
        memory_latency=4.5e-7,
        barrier=1.25e-7,
        fragment=66.0,
        launch=4.2e-6,
        late=(0.03, 0.25),
        sm_l2_bytes_clock=64.0,
        copy_issue=1.0,
        rolled=1.15,
        unpromoted_shared=8.0,
        unaccumulated=4.0,
        sync_fragment=16.0,
        async_barrier=1.05e-7,
        vector_issue=1.97,
        load_chain=15.6,
        vary=8.0,
        ring_barrier=3e-8,
        async_issue=0.5,
        narrow_issue=13.8,
        narrow_chain=11.3,
        guard_issue=5.2,
        store=1.1e-10,
        fma_share=0.85,
        simt_load=2.0,
        conversion=1.05,
    ),
    # To 7,281 kernels of random sizes, of sizes of the benchmark's list and of slices of k, in f16 and bf16, A and B in
    # all orders (2026-11-22; docs/tile-model-costs.md says how). `integers`: i8 at 8192^3 takes 686 us on an H200, 733
    # on an H100 by 256x128x128, 93 at 4096^3 by 128x256x128 (2026-11-22-h200-types-rows, 2026-11-28-h100-byte-layouts).
    WgmmaConstants(
        write=0.2,
        row=1.2,
        odd=1.62,
        thin=1.23,
        outside=3.93,
        l2=4550.0,
        apart=1.65,
        parted=0.9,
        latency=1740.0,
        held=1.3,
        chain=210.0,
        sync=0.407,
        cluster=57.0,
        inside=5.44,
        tile=642.0,
        staged=76.8,
        narrow=0.566,
        by_rows=25.0,
        direct=7.87,
        issued=2.8,
        turned=0.967,
        guarded=0.378,
        parts=10.8,
        split=1110.0,
        ragged=0.0231,
        memory=4.0,
        dram=1.05,
        taken=2390.0,
        torn=2.09,
        fill=2080.0,
        overlap=0.956,
        form=724.0,
        power=0.611,
        integers=1.3,
        heat=0.08,
        limit=10.1,
        bend=0.371,
        launch=6e-06,
        issue=6.0,
    ),
    # Places: 32 clusters of 4 take two waves; GPCs have 16 or 18 SMs. Pace: with four numbers an instruction takes 3.7
    # clocks, but the products as long as if nothing paced: one clock more for each instruction.
    WgmmaLimits(
        places=((3, 117 / 132), (4, 120 / 132), (5, 110 / 132), (6, 102 / 132), (7, 105 / 132), (8, 120 / 132)),
        many_tiles=48,
        turns_each=1.9,
        pace=2,
        paced=5.2,
        hiding=0.75,
        few=0.75,
        many=1.15,
        sharing=0.4,
    ),
    # Launches back to back of 42 to 134 MB of weights are fastest with 20 to 26 MB kept of 63: each half of L2 has a
    # copy of what its own SMs read, presumably. Of 34 MB part must not be marked where several blocks read it
    # (256x4096x4096: 19 us instead of 16). Of 16 to 200 MB, marked, kernels take 1 to 6 us less after another one that
    # has written all of L2; of 300 MB 1 % more, of 470 MB 2 to 4 % more.
    L2Limits(room=0.36, fits=0.55, least=0.13, most=4.0),
)
