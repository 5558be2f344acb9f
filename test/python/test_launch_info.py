"""What a launch's parameters are in the IR: tensor maps of arguments and of views of them, clusters, dependent
launch."""

from __future__ import annotations

from typing import Any

import pytest

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.errors import InputError
from mlir_gemm.pipeline.launch_info import launch_of
from mlir_gemm.spec.launch import Buffer, TensorMap

KERNEL = """\
  gpu.module @k {{
    gpu.func @main(%p: !llvm.ptr) kernel attributes {{{attributes}}} {{
      gpu.return
    }}
  }}
"""
FLAT = (
    """\
module attributes {{gpu.container_module}} {{
"""
    + KERNEL
    + """\
  func.func @f(%a: {type} {{{of}}}) {{
    %c1 = arith.constant 1 : index
    {view}
    %map = "tile.tensor_map"({operand}) {{box = {box}, swizzle = "{swizzle}"}} : ({viewed}) -> !llvm.ptr
    gpu.launch_func @k::@main blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%map : !llvm.ptr)
    return
  }}
}}
"""
)


def step_of(
    type_: str,
    *,
    view: str = "",
    viewed: str = "",
    of: str = "",
    box: str = "array<i64: 64, 32>",
    swizzle: str = "none",
    attributes: str = "",
) -> Any:
    """The one step of a kernel that takes a map of an argument, or of a view `%v` of it."""
    text = FLAT.format(
        attributes=attributes, type=type_, of=of, view=view, operand="%v" if view else "%a", viewed=viewed or type_,
        box=box, swizzle=swizzle,
    )  # fmt: skip
    return launch_of(parse_module(text, "-", new_context())).steps[0]


def map_of(*given: Any, **options: Any) -> Any:
    (parameter,) = step_of(*given, **options).parameters
    return parameter


def test_a_map_of_an_argument() -> None:
    found = map_of("memref<128x64xf16>", box="array<i64: 128, 64>", swizzle="128")
    assert found == TensorMap(0, "f16", (128, 64), (128,), (128, 64), "128")
    batched = map_of("memref<3x128x64xbf16>", box="array<i64: 1, 128, 64>", swizzle="128")
    assert batched == TensorMap(0, "bf16", (3, 128, 64), (16384, 128), (1, 128, 64), "128")


def test_strides_and_offset_of_the_memref() -> None:
    found = map_of("memref<128x64xf32, strided<[96, 1], offset: 8>>", box="array<i64: 64, 16>")
    assert found == TensorMap(0, "f32", (128, 64), (384,), (64, 16), "none", 8)
    assert found.offset_bytes == 32
    one_row = map_of("memref<1x64xf16, strided<[3, 1]>>", box="array<i64: 1, 64>")
    assert one_row.strides_bytes == (16,)


def test_a_view_gives_sizes_strides_and_offset_but_not_the_address() -> None:
    viewed = "memref<32x8x64xf16, strided<[512, 64, 1], offset: 64>>"
    view = (
        "%v = memref.reinterpret_cast %a to offset: [64], sizes: [32, 8, 64], strides: [512, 64, 1] "
        f": memref<256x64xf16> to {viewed}"
    )
    found = map_of("memref<256x64xf16>", view=view, viewed=viewed, box="array<i64: 1, 8, 64>")
    assert found == TensorMap(0, "f16", (32, 8, 64), (1024, 128), (1, 8, 64), "none", 64)
    cast = "%v = memref.cast %a : memref<256x64xf16> to memref<?x64xf16>"
    found = map_of("memref<256x64xf16>", view=cast, viewed="memref<?x64xf16>")
    assert found.sizes == (256, 64)


def test_sizes_known_at_run_time_only() -> None:
    named = 'tile.symbols = ["s0", "s1"]'
    found = map_of("memref<?x?xf16>", of=named)
    assert found == TensorMap(0, "f16", ("s0", "s1"), (("mul", "s1", 2),), (64, 32), "none")
    viewed = "memref<?x64xf16, strided<[?, 1]>>"
    view = (
        "%d = memref.dim %a, %c1 : memref<?x?xf16>\n"
        "%two = arith.constant 2 : index\n"
        "%n = arith.muli %d, %two : index\n"
        "%v = memref.reinterpret_cast %a to offset: [0], sizes: [%n, 64], strides: [%d, 1] "
        f": memref<?x?xf16> to {viewed}"
    )
    found = map_of("memref<?x?xf16>", of=named, view=view, viewed=viewed)
    assert (found.sizes, found.strides_bytes) == ((("mul", "s1", 2), 64), (("mul", "s1", 2),))


def test_clusters_and_overlap() -> None:
    plain = step_of("memref<64x32xf16>")
    assert (plain.cluster, plain.dependent_launch) == ((1, 1, 1), False)
    asking = step_of("memref<64x32xf16>", attributes="nvvm.cluster_dim = array<i32: 2, 1>, tile.dependent_launch")
    assert (asking.cluster, asking.dependent_launch) == ((2, 1, 1), True)
    with pytest.raises(InputError, match=r"nvvm.cluster_dim is \[0\]; expected one to three sizes"):
        step_of("memref<64x32xf16>", attributes="nvvm.cluster_dim = array<i32: 0>")


ELSEWHERE = (
    "%v = memref.reinterpret_cast %a to offset: [%c1], sizes: [64, 32], strides: [32, 1] "
    ": memref<64x32xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>>",
    "memref<64x32xf16, strided<[32, 1], offset: ?>>",
)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"box": "array<i64: 64>"}, r"box = \[64\] for .*; expected 1 to 256 for each of its 2 dimensions"),
        ({"box": "array<i64: 257, 32>"}, r"box = \[257, 32\] for .*; expected 1 to 256 for each of its 2 dim"),
        ({"box": "array<i64: 64, 4>"}, r"box = \[64, 4\] has rows of 8 bytes of f16; expected multiples of 16"),
        ({"box": "array<i64: 64, 128>", "swizzle": "128"}, "rows of 256 bytes of f16; expected 128 at most"),
        ({"box": "array<i64: 64, 64>", "swizzle": "64"}, "rows of 128 bytes of f16; expected 64 at most"),
        ({"swizzle": "32"}, "rows of 64 bytes of f16; expected 32 at most"),
        ({"swizzle": "16"}, 'swizzle = "16"; expected "128" or "64" or "32" or "none"'),
        ({"type_": "memref<64x33xf16>"}, "its neighbours in a dimension of 64 are 66 bytes apart; the copy engine"),
        ({"type_": "memref<64x32xf16, strided<[32, 1], offset: 4>>"}, "its first element lies 8 bytes after"),
        ({"type_": "memref<64x32xf16, strided<[1, 64]>>"}, "the elements of the last dimension must be neighbours"),
        ({"type_": "memref<64x32xui8>"}, "expected elements of one of f16, bf16"),
        ({"view": ELSEWHERE[0], "viewed": ELSEWHERE[1]}, "its offset must be static"),
    ],
)  # fmt: skip
def test_what_there_can_be_no_map_of(given: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        step_of(**{"type_": "memref<64x32xf16>", **given})


def test_a_map_of_what_is_no_argument() -> None:
    with pytest.raises(InputError, match="the kernel takes a buffer that is not an argument of the function"):
        step_of("memref<64x32xf16>", view="%v = memref.alloc() : memref<64x32xf16>")


PROGRAM = """\
module attributes {{gpu.container_module}} {{
  memref.global "private" constant @w : memref<64x32xf16> = dense<0.5>
  func.func @main(%x: memref<64x32xf16>) {{
    %t = memref.alloc() : memref<64x32xf16>
    %w = memref.get_global @w : memref<64x32xf16>
    %0 = memref.extract_aligned_pointer_as_index %x : memref<64x32xf16> -> index
    %1 = memref.extract_aligned_pointer_as_index %t : memref<64x32xf16> -> index
    %2 = memref.extract_aligned_pointer_as_index %w : memref<64x32xf16> -> index
    "tile.run"(%0, %1) {{kernel = "one"}} : (index, index) -> ()
    "tile.run"(%2, %1) {{kernel = "one"}} : (index, index) -> ()
    return
  }}
  module @one attributes {{gpu.container_module}} {{
    gpu.module @k {{
      gpu.func @main(%p: !llvm.ptr, %q: memref<64x32xf16>) kernel attributes {{{attributes}}} {{
        gpu.return
      }}
    }}
    func.func @f(%x: memref<64x32xf16>, %y: memref<64x32xf16>) {{
      %c1 = arith.constant 1 : index
      %map = "tile.tensor_map"(%y) {{box = array<i64: 64, 32>, swizzle = "none"}} : (memref<64x32xf16>) -> !llvm.ptr
      gpu.launch_func @k::@main blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%map : !llvm.ptr, %x : memref<64x32xf16>)
      return
    }}
  }}
}}
"""


def test_maps_of_a_programs_memory() -> None:
    text = PROGRAM.format(attributes="tile.dependent_launch, nvvm.cluster_dim = array<i32: 1, 2, 1>")
    launch = launch_of(parse_module(text, "-", new_context()))
    first, second = launch.steps
    described = TensorMap(1, "f16", (64, 32), (64,), (64, 32), "none")
    assert first.parameters == (described, 0) and second.parameters == (described, 2)
    assert launch.tensor_maps == (described,)
    assert first.dependent_launch and first.cluster == (1, 2, 1)
    assert launch.buffers == (Buffer(0, 4096),), "a buffer that only a map is of is in use"
