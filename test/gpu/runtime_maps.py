"""Checks of the runtime with tensor maps, clusters and overlapping launches, on kernels written in PTX: they copy tiles
through the copy engine and do nothing else, so what is wrong is the launch. `check_runtime.py` runs them. sm_90 and
later."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
from runtime_products import in_four_threads

import mlir_gemm
from mlir_gemm.runtime import device
from mlir_gemm.runtime.launcher import DECLINED, GpuLauncher
from mlir_gemm.runtime.tensor_maps import Encoder
from mlir_gemm.spec.element_types import ITEM_BYTES
from mlir_gemm.spec.launch import Argument, Buffer, Constant, Launch, Step, TensorMap
from mlir_gemm.spec.tensor_map import DATA_TYPES

ROWS, COLUMNS, BOX = 100, 200, 64
"""Tiles of 64 x 64 f16 stick out at both ends."""
GRID = (4, 2, 1)
ONE = (1, 1, 1)
THREADS = (32, 1, 1)
_COPY = """
.visible .entry {name}(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128]) .maxntid 32, 1, 1 {cluster}
{{
  .shared .align 1024 .b8 tile[8192];
  .shared .align 8 .b64 full;
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  {wait}
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra DONE;
  mov.b64 %rd0, from;
  cvta.param.u64 %rd1, %rd0;
  mov.b64 %rd2, to;
  cvta.param.u64 %rd3, %rd2;
  mov.u32 %r1, tile;
  mov.u32 %r2, full;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ctaid.y;
  shl.b32 %r3, %r3, 6;
  shl.b32 %r4, %r4, 6;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 8192;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {{%r3, %r4}}], [%r2];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {{%r3, %r4}}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;
}}
"""
_CLUSTER_OF_16 = """
.visible .entry of_16(.param .u64 to) .reqnctapercluster 16, 1, 1
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [to];
  cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %cluster_ctarank;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
"""
PTX = (
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    + _COPY.format(name="copy", cluster="", wait="")
    + _COPY.format(name="paired", cluster=".reqnctapercluster 2, 1, 1", wait="")
    + _COPY.format(name="overlapped", cluster="", wait="griddepcontrol.launch_dependents; griddepcontrol.wait;")
    + _CLUSTER_OF_16
)
X = Argument("x", (ROWS, COLUMNS), "f16", "in")
R = Argument("result0", (ROWS, COLUMNS), "f16", "result")
OUT = Argument("out", (ROWS, COLUMNS), "f16", "out")


def map_of(number: int, swizzle: str = "128", offset: int = 0, sizes: tuple[int, int] = (ROWS, COLUMNS)) -> TensorMap:
    return TensorMap(number, "f16", sizes, (2 * COLUMNS,), (BOX, BOX), swizzle, offset)


def copier(entry: str = "copy", cluster: Any = ONE, swizzle: str = "128") -> GpuLauncher:
    """Copies its argument to its result."""
    step = Step(entry, GRID, THREADS, cluster, 0, (map_of(0), map_of(1, swizzle)))
    return GpuLauncher(PTX, Launch((X, R), (step,)), None)


def writer(*, overlap: bool = False) -> GpuLauncher:
    """Copies its first argument to its second."""
    entry = "overlapped" if overlap else "copy"
    return GpuLauncher(
        PTX, Launch((X, OUT), (Step(entry, GRID, THREADS, ONE, 0, (map_of(0), map_of(1)), overlap),)), None
    )


def call(launcher: GpuLauncher, *arrays: Any, stream: Any = None) -> Any:
    """As a kernel is called: the short way where there is one."""
    outcome = DECLINED if launcher.short is None else launcher.short(arrays, stream)
    return launcher(arrays, stream) if outcome is DECLINED else outcome


def array(seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-9, 10, (ROWS, COLUMNS)).astype(np.float16)


def same(given: Any, expected: Any) -> None:
    np.testing.assert_array_equal(np.asarray(given.cpu() if hasattr(given, "cpu") else given), expected)


def torch() -> Any:
    return importlib.import_module("torch")


def tiles_through_tensor_maps() -> None:
    launcher = copier()
    same(call(launcher, array()), array())
    tensors = [torch().from_numpy(array(seed)).cuda() for seed in range(3)]
    kept: list[Any] = []
    for turn in range(9):
        kept.append(call(launcher, tensors[turn % 3]))
    for turn, each in enumerate(kept):
        same(each, array(turn % 3))
    many = [tensors[0].clone() for _ in range(600)]  # more addresses than maps are kept for
    for each, made in [(each, call(launcher, each)) for each in many]:
        assert torch().equal(each, made)


def tiles_lie_as_the_swizzle_says() -> None:
    """What the copy engine writes with a swizzle, and reads back without, is in the order of `swizzle128`."""
    launcher = copier(swizzle="none")
    found = np.asarray(call(launcher, array()))
    padded = np.zeros((2 * BOX, 4 * BOX), np.float16)
    padded[:ROWS, :COLUMNS] = array()
    expected = np.empty_like(padded)
    rows, columns = np.indices((BOX, BOX))
    places = (rows * 128 + ((columns * 2) ^ ((rows % 8) * 16))) // 2
    for row in range(0, 2 * BOX, BOX):
        for column in range(0, 4 * BOX, BOX):
            tile = np.empty(BOX * BOX, np.float16)
            tile[places] = padded[row : row + BOX, column : column + BOX]
            expected[row : row + BOX, column : column + BOX] = tile.reshape(BOX, BOX)
    same(found, expected[:ROWS, :COLUMNS])


def maps_of_buffers_and_constants() -> None:
    """A program: the argument goes through two buffers, a constant to the second result."""
    constant = Constant("c", (ROWS, COLUMNS), "f16", array(5).tobytes())
    size = 2 * ROWS * COLUMNS
    second = Argument("result1", (ROWS, COLUMNS), "f16", "result")

    def steps(entry: str, *, overlap: bool) -> tuple[Step, ...]:
        pairs = ((0, 3), (3, 4), (4, 1), (5, 2))
        return tuple(Step(entry, GRID, THREADS, ONE, 0, (map_of(a), map_of(b)), overlap) for a, b in pairs)

    for entry, overlap in (("copy", False), ("overlapped", True)):
        buffers = (Buffer(0, size), Buffer(-(-size // 256) * 256, size))
        launch = Launch((X, R, second), steps(entry, overlap=overlap), buffers, (constant,), 2 * (size + 256))
        launcher = GpuLauncher(PTX, launch, None)
        for each in zip(call(launcher, array(3)), (array(3), array(5)), strict=True):
            same(*each)
        kept = [call(launcher, torch().from_numpy(array(seed)).cuda()) for seed in range(50)]
        for seed, (first, other) in enumerate(kept):
            same(first, array(seed))
            same(other, array(5))


def overlapping_launches() -> None:
    """A chain of copies, each of which may start before the one that it reads from has ended."""
    launcher = writer(overlap=True)
    chain = [torch().zeros(ROWS, COLUMNS, dtype=torch().float16, device="cuda") for _ in range(32)]

    def run() -> None:
        for source, target in itertools.pairwise(chain):
            call(launcher, source, target)

    for seed, stream in enumerate([torch().cuda.current_stream(), torch().cuda.Stream(), torch().cuda.Stream()] * 3):
        stream.wait_stream(torch().cuda.current_stream())
        with torch().cuda.stream(stream):
            chain[0].copy_(torch().from_numpy(array(seed)))
            run()
        stream.synchronize()
        same(chain[-1], array(seed))
    graph = torch().cuda.CUDAGraph()
    with torch().cuda.graph(graph):
        run()
    for seed in range(20, 23):
        chain[0].copy_(torch().from_numpy(array(seed)))
        graph.replay()
        torch().cuda.synchronize()
        same(chain[-1], array(seed))


def maps_in_threads() -> None:
    launcher = copier()
    call(launcher, torch().from_numpy(array()).cuda())

    def work(seed: int) -> None:
        with torch().cuda.stream(torch().cuda.Stream()):
            tensors = [torch().from_numpy(array(10 * seed + number)).cuda() for number in range(3)]
            for turn in range(300):
                same(call(launcher, tensors[turn % 3]), array(10 * seed + turn % 3))

    in_four_threads(work)


def clusters() -> None:
    launcher = copier("paired", (2, 1, 1))
    for _ in range(2):
        same(call(launcher, torch().from_numpy(array()).cuda()), array())
    ranks = Argument("to", (32,), "i32", "out")
    launch = Launch((ranks,), (Step("of_16", (32, 1, 1), ONE, (16, 1, 1), 0, (0,)),))
    found = torch().zeros(32, dtype=torch().int32, device="cuda")
    call(GpuLauncher(PTX, launch, None), found)
    same(found, np.arange(32) % 16)
    odd = Launch((X, R), (Step("paired", (3, 1, 1), THREADS, (2, 1, 1), 0, (map_of(0), map_of(1))),))
    _refused(GpuLauncher(PTX, odd, None), (array(),), mlir_gemm.DeviceError, "grid (3, 1, 1) in clusters of (2, 1, 1)")


def maps_that_the_driver_refuses() -> None:
    gap = Argument("x", (ROWS, COLUMNS), "f16", "in", (COLUMNS, 1), 4)
    step = Step("copy", GRID, THREADS, ONE, 0, (map_of(0, offset=4), map_of(1)))
    tensor = torch().zeros(ROWS * COLUMNS + 8, dtype=torch().float16, device="cuda")
    shifted = tensor[4 : 4 + ROWS * COLUMNS].view(ROWS, COLUMNS)
    launcher = GpuLauncher(PTX, Launch((gap, R), (step,)), None)
    _refused(launcher, (shifted,), mlir_gemm.ArgumentError, "argument 0 ('x'): its first element lies 8 bytes after")
    _refused(copier(), (shifted,), mlir_gemm.ArgumentError, "argument 0 ('x'): its memory starts at")
    launch = Launch((X,), ())
    gpu = device.open_gpu(0)
    for wrong, address, message in (
        (map_of(0), 8, "8 bytes past a multiple of 16"),
        (TensorMap(0, "f16", (4, 33), (66,), (4, 32), "none"), 4096, "66 bytes apart"),
        (TensorMap(0, "f16", (4, 64), (128,), (257, 32), "none"), 4096, "must have 1 to 256 elements"),
        (TensorMap(0, "f16", (4, 256), (512,), (4, 128), "128"), 4096, "128 at most with swizzle"),
        (TensorMap(0, "f16", (4, 64), (128,), (4, 4), "none"), 4096, "a row of its box has 8 bytes"),
        (TensorMap(0, "f16", (4, 64), (2**40,), (4, 8), "none"), 4096, "must be below 2^40"),
        (TensorMap(0, "i8", (4, 2**32 + 1), (2**33,), (4, 16), "none"), 4096, "must be at most 2^32"),
    ):
        try:
            Encoder(gpu, wrong, launch).at(address)
        except mlir_gemm.ArgumentError as problem:
            assert message in str(problem), problem
        else:
            raise AssertionError(f"the driver takes {wrong}")


def maps_of_every_rank_and_type() -> None:
    gpu = device.open_gpu(0)
    for dtype in DATA_TYPES:
        item = ITEM_BYTES["f32" if dtype == "tf32" else dtype]
        for rank in range(1, 6):
            sizes = (2, 3, 4, 5, 64)[-rank:]
            strides = tuple(item * int(np.prod(sizes[axis + 1 :])) for axis in range(rank - 1))
            box = (1, 1, 1, 2, 16)[-rank:]
            Encoder(gpu, TensorMap(0, dtype, sizes, strides, box, "128"), Launch((X,), ())).at(4096)
    row = TensorMap(0, "f16", (1, 33), (66,), (4, 32), "none")  # of one row, no distance means anything
    Encoder(gpu, row, Launch((X,), ())).at(4096)


def a_map_of_nothing() -> None:
    empty = Argument("x", (0, COLUMNS), "f16", "in")
    step = Step("copy", GRID, THREADS, ONE, 0, (map_of(0, sizes=(0, COLUMNS)), map_of(1)))
    launcher = GpuLauncher(PTX, Launch((empty, OUT), (step,)), None)
    found = torch().from_numpy(array()).cuda()
    call(launcher, torch().zeros(0, COLUMNS, dtype=torch().float16, device="cuda"), found)
    same(found, np.zeros((ROWS, COLUMNS)))


def _refused(launcher: GpuLauncher, arrays: tuple[Any, ...], kind: type[Exception], message: str) -> None:
    try:
        call(launcher, *arrays)
    except kind as problem:
        assert message in str(problem), problem
        print(f"    {problem}")
    else:
        raise AssertionError(f"not refused: {message}")


CHECKS = (
    tiles_through_tensor_maps, tiles_lie_as_the_swizzle_says, maps_of_buffers_and_constants, overlapping_launches,
    maps_in_threads, clusters, maps_that_the_driver_refuses, maps_of_every_rank_and_type, a_map_of_nothing,
)  # fmt: skip
