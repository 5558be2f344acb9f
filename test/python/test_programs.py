"""Programs through the driver: kernels in modules of their own, one PTX, launches in order, and their simulation."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from small_program import PROGRAM, T, entries

import mlir_gemm
from mlir_gemm.bench.compile_time import chain
from mlir_gemm.dialect.bindings import ir
from mlir_gemm.dialect.constant_data import ConstantData
from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.errors import Error, InputError, ScheduleError
from mlir_gemm.pipeline import emission
from mlir_gemm.pipeline.compilation import Compilation
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.simulator.program import simulate_launch
from mlir_gemm.spec.launch import Buffer

STAGES = (
    "import", "select", "tile", "fuse", "promote", "tensorize", "accumulate", "pipeline",
    "parallelize", "distribute", "launch", "lower", "nvvm",
)  # fmt: skip
SMALL = {"mma": "wmma", "block": (32, 32, 32), "warp": (16, 16, 16), "instruction": (16, 16, 16)}
NOTHING = """module attributes {tile.stage = "import", tile.chip = "sm_80"} {
  func.func @main(%x: memref<0x16xf16> {tile.role = "in"}, %r: memref<0x8xf32> {tile.role = "result"}) {
    return
  }
}
"""


@pytest.fixture(scope="module")
def program() -> Compilation:
    return compile_module(PROGRAM, keep=("all",))


def test_the_kernels_become_one_ptx_and_a_list_of_steps(program: Compilation) -> None:
    assert program.ptx is not None and program.launch is not None
    assert sorted(entries(program.ptx)) == ["main_0_kernel", "main_1_kernel", "main_2_kernel"]
    launch = program.launch
    assert launch.is_program
    order = ["main_0_kernel", "main_1_kernel", "main_1_kernel", "main_2_kernel"]
    assert [step.entry for step in launch.steps] == order
    assert [step.parameters for step in launch.steps] == [(0, 1, 3), (3, 5, 4), (4, 5, 3), (3, 5, 2)]
    assert launch.buffers == (Buffer(0, 8192), Buffer(8192, 8192))
    assert [(c.name, c.shape, c.dtype) for c in launch.constants] == [("constant_0", (64, 64), "f16")]
    assert launch.constants[0].data == np.full((64, 64), 0.5, np.float16).tobytes()
    assert [(a.name, a.shape, a.role) for a in launch.arguments] == [
        ("x", (4, 16, 32), "in"), ("w", (32, 64), "in"), ("result0", (64, 64), "result"),
    ]  # fmt: skip
    known = [(record.name, record.kind, record.step, record.note) for record in program.kernels]
    assert known == [
        ("main_0", "product", 0, "the relu is read twice"), ("main_1", "product", 1, ""), ("main_2", "product", 3, ""),
    ]  # fmt: skip
    assert program.problem is not None and program.problem.k == 32
    assert program.schedule == program.kernels[0].schedule


@pytest.mark.parametrize("stage", STAGES)
def test_a_saved_stage_compiles_to_the_same_ptx(program: Compilation, stage: str) -> None:
    resumed = compile_module(program.ir(stage))
    assert resumed.ptx == program.ptx
    assert resumed.launch == program.launch
    assert resumed.kernels == program.kernels


def test_kernels_that_stand_at_different_stages_are_taken_up_where_they_are(program: Compilation) -> None:
    later = parse_module(program.ir("accumulate"), "-", new_context())
    text = program.ir("import")
    with later.context:
        (done,) = [
            str(each)
            for each in later.body.operations
            if each.operation.name == "builtin.module" and "@main_1 " in str(each)
        ]
    start = text.index("  module @main_1")
    mixed = text[:start] + done + "\n" + text[text.index("  module @main_2") :]
    resumed = compile_module(mixed, keep=("tile",))
    assert "\n      linalg." not in resumed.ir("tile")  # but in the references, which are strings
    assert resumed.ptx == program.ptx


def test_pinned_fields_are_those_of_every_product() -> None:
    compiled = compile_module(PROGRAM, schedule=SMALL, until="select")
    assert [record.schedule.block for record in compiled.kernels if record.schedule] == [(32, 32, 32)] * 3
    assert compiled.launch is None and compiled.kernels[0].step is None
    with pytest.raises(ScheduleError) as caught:
        compile_module(PROGRAM, schedule={**SMALL, "block": (32, 32, 48)})
    assert "in the kernel 'main_0'" in str(caught.value)


def test_output_of_every_kind(program: Compilation) -> None:
    llvm, cubin = program.emit("llvm"), program.emit("cubin")
    assert isinstance(llvm, str) and isinstance(cubin, bytes)
    assert all(f"@main_{number}_kernel(" in llvm for number in range(3))
    assert cubin[:4] == b"\x7fELF"
    assert program.emit("tile").count("module @main_") == 3  # type: ignore[union-attr]


def reference(x: Any, w: Any) -> Any:
    first = x.reshape(64, 32).astype("f4") @ w.astype("f4")
    half = np.full((64, 64), 0.5, "f4")
    return first.astype("f2").astype("f4") @ half @ half @ half


def test_the_simulator_runs_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    made = mlir_gemm.compile(PROGRAM, device="simulator")
    random = np.random.default_rng(0)
    x, w = random.integers(-1, 2, (4, 16, 32)).astype("f2"), random.integers(-1, 2, (32, 64)).astype("f2")
    wanted = reference(x, w)
    assert np.abs(made(x, w) - wanted).max() <= 2e-3 * np.abs(wanted).max()
    assert [record.name for record in made.kernels] == ["main_0", "main_1", "main_2"]
    assert "3 kernels" in repr(made) and "main_1 (64x64x64" in repr(made)


def test_a_buffer_that_a_kernel_leaves_out_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    head, tail = PROGRAM.split('    "tile.run"(%main_1z_0', 1)
    skipped = head + tail[tail.index("\n") + 1 :]
    allocated = skipped.replace("    %u = memref.alloc()", f"    %v = memref.alloc() : {T}\n    %u = memref.alloc()")
    address = "%main_2_0 = memref.extract_aligned_pointer_as_index"
    made = mlir_gemm.compile(allocated.replace(f"{address} %t", f"{address} %v"), device="simulator")
    x, w = np.ones((4, 16, 32), "f2"), np.ones((32, 64), "f2")
    assert np.isnan(made(x, w)).all()


def test_nothing_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    compiled = compile_module(NOTHING, keep=("all",))
    assert compiled.ptx == "" and compiled.kernels == () and compiled.launch is not None
    assert compiled.launch.steps == () and compiled.launch.is_program
    assert compiled.emit("llvm") is not None
    with pytest.raises(InputError, match="nothing to run"):
        compiled.emit("cubin")
    assert compile_module(compiled.ir("lower")).launch == compiled.launch
    made = mlir_gemm.compile(NOTHING, device="simulator")
    assert made(np.zeros((0, 16), np.float16)).shape == (0, 8)
    assert made.problem is None and made.schedule is None and "nothing to run" in repr(made)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{kernel = "main_2"}', '{kernel = "main_9"}', "runs 'main_9', which is none of its kernels"),
        ("@constant_0 : memref<64x64xf16> = dense<0.5>", "@constant_9 : memref<64x64xf16> = dense<0.5>", "constant_0"),
        ('@main_1 attributes {tile.stage = "import"', '@main_1 attributes {tile.stage = "late"', "is \"late\""),
        ("  func.func @main_1(", '  func.func @main_1(%z: memref<1xf32>, ', "the program runs 'main_1' on 3 buffers"),
    ],
)  # fmt: skip
def test_programs_that_do_not_fit_together(old: str, new: str, message: str) -> None:
    assert old in PROGRAM
    with pytest.raises(Error) as caught:
        compile_module(PROGRAM.replace(old, new))
    assert message in str(caught.value)


def test_a_kernel_of_an_unknown_kind_is_refused() -> None:
    text = PROGRAM.replace('%d: memref<64x64xf32> {tile.role = "out"}) {',
                           '%d: memref<64x64xf32> {tile.role = "out"}) attributes {tile.kind = "magic"} {')  # fmt: skip
    with pytest.raises(InputError, match='is "magic"; expected'):
        compile_module(text)


# What kernels see of a buffer: another shape, other strides, an offset.

VIEWS = """module attributes {tile.stage = "lower", tile.chip = "sm_80"} {
  func.func @main(%x: memref<2x3xf32> {tile.role = "in"},
                  %r: memref<2x3xf32, strided<[4, 1], offset: 2>> {tile.role = "out"}) {
    %0 = memref.extract_aligned_pointer_as_index %x : memref<2x3xf32> -> index
    %1 = memref.extract_aligned_pointer_as_index %r : memref<2x3xf32, strided<[4, 1], offset: 2>> -> index
    "tile.run"(%0, %1) {kernel = "main_0"} : (index, index) -> ()
    return
  }
  module @main_0 attributes {gpu.container_module, tile.stage = "lower"} {
    func.func @main_0(%x: memref<3x2xf32, strided<[1, 3]>> {tile.role = "in"},
                      %r: memref<2x3xf32, strided<[4, 1], offset: 2>> {tile.role = "out"})
        attributes {tile.kind = "elementwise"} {
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      gpu.launch_func @main_0_kernel::@main_0_kernel blocks in (%two, %one, %one) threads in (%one, %one, %one)
          args(%x : memref<3x2xf32, strided<[1, 3]>>, %r : memref<2x3xf32, strided<[4, 1], offset: 2>>)
      return
    }
    gpu.module @main_0_kernel {
      gpu.func @main_0_kernel(%x: memref<3x2xf32, strided<[1, 3]>>, %r: memref<2x3xf32, strided<[4, 1], offset: 2>>)
          kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
        %row = gpu.block_id x
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %three = arith.constant 3 : index
        scf.for %i = %zero to %three step %one {
          %0 = memref.load %x[%i, %row] : memref<3x2xf32, strided<[1, 3]>>
          memref.store %0, %r[%row, %i] : memref<2x3xf32, strided<[4, 1], offset: 2>>
        }
        gpu.return
      }
    }
  }
}
"""


def test_kernels_see_buffers_as_their_own_types_say() -> None:
    compiled = compile_module(VIEWS)
    assert compiled.launch is not None
    (step,) = compiled.launch.steps
    assert step.parameters == (0, 1)
    _, result = compiled.launch.arguments
    assert (result.strides, result.offset, result.span_bytes, result.shift_bytes) == ((4, 1), 2, 28, 8)
    x, r = np.arange(6, dtype=np.float32).reshape(2, 3), np.full((2, 3), -1, np.float32)
    report = simulate_launch(VIEWS, compiled.launch, [x, r])
    assert not report.findings, str(report)
    np.testing.assert_array_equal(r, x)
    missing = simulate_launch(VIEWS.replace("%three step", "%one step"), compiled.launch, [x, r])
    assert missing.checks_found == {"uninitialized-output"}
    assert "16 bytes of the result were never written (in the kernel 'main_0')" in str(missing)
    assert np.isnan(r[:, 1:]).all()


# Constants.

DATA = """
memref.global "private" constant @f16 : memref<2x3xf16> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
memref.global "private" constant @bf16 : memref<2x3xbf16> = dense<[[1.0, 2.0, -3.0], [4.0e+10, 0x7FC0, 0x7F80]]>
memref.global "private" constant @e4m3 : memref<2xf8E4M3FN> = dense<[1.0, -0.5]>
memref.global "private" constant @e5m2 : memref<2x2xf8E5M2> = dense<1.5>
memref.global "private" constant @splat : memref<2x3xbf16> = dense<1.5>
memref.global "private" constant @i1 : memref<3xi1> = dense<[true, false, true]>
memref.global "private" constant @i8 : memref<3xi8> = dense<[1, -2, 3]>
memref.global "private" constant @i64 : memref<2xi64> = dense<7>
memref.global "private" constant @blob : memref<3xf32> = dense_resource<blob1>
memref.global "private" constant @narrow : memref<2xbf16> = dense_resource<blob2>
memref.global "private" constant @none : memref<0x3xf32> = dense<>
memref.global "private" constant @gone : memref<2xf32> = dense_resource<gone>
memref.global "private" constant @open : memref<2xf32>
{-#
  dialect_resources: { builtin: {
    blob1: "0x040000000000803F0000004000004040", blob2: "0x02000000803F0040"
  } }
#-}
"""


def test_constants_of_every_type_are_read() -> None:
    module = parse_module(DATA, "-", new_context())
    reader = ConstantData(module)
    with module.context:
        globals_ = {ir.StringAttr(each.attributes["sym_name"]).value: each for each in module.body.operations}
        found = {name: reader.of(each) for name, each in globals_.items() if name not in ("gone", "open")}
        bf16 = ml_dtypes.bfloat16
        wanted = {
            "f16": np.array([1, 2, 3, 4, 5, 6], np.float16),
            "bf16": np.array([1, 2, -3, 4.0e10, np.nan, np.inf], bf16),
            "e4m3": np.array([1, -0.5], ml_dtypes.float8_e4m3fn),
            "e5m2": np.full(4, 1.5, ml_dtypes.float8_e5m2),
            "splat": np.full(6, 1.5, bf16),
            "i1": np.array([1, 0, 1], np.int8),
            "i8": np.array([1, -2, 3], np.int8),
            "i64": np.array([7, 7], np.int64),
            "blob": np.array([1, 2, 3], np.float32),
            "narrow": np.array([1, 2], bf16),
            "none": np.zeros(0, np.float32),
        }
        assert found == {name: array.tobytes() for name, array in wanted.items()}
        for name in ("gone", "open"):
            with pytest.raises(InputError):
                reader.of(globals_[name])


def test_long_constants_are_read() -> None:
    numbers = ", ".join(str(float(number)) for number in range(200))
    text = f'memref.global "private" constant @long : memref<200xbf16> = dense<[{numbers}]>'
    module = parse_module(text, "-", new_context())
    with module.context:
        data = ConstantData(module).of(next(iter(module.body.operations)))
    assert data == np.arange(200).astype(ml_dtypes.bfloat16).tobytes()


# Names in the merged code.

NVVM = """
module {{
  module @a {{ gpu.module @a_kernel [#nvvm.target<chip = "sm_80">] {{
    llvm.func @same(%x: i32) -> i32 {{ llvm.return %x : i32 }}
    llvm.func @other(%x: i32) -> i32 {{ llvm.return %x : i32 }}
    llvm.func @a_kernel(%p: !llvm.ptr) attributes {{gpu.kernel, nvvm.kernel}} {{
      %0 = llvm.mlir.constant(1 : i32) : i32
      %1 = llvm.call @same(%0) : (i32) -> i32
      %2 = llvm.call @other(%1) : (i32) -> i32
      llvm.store %2, %p : i32, !llvm.ptr
      llvm.return
    }}
  }} }}
  module @b {{ gpu.module @b_kernel [#nvvm.target<chip = "sm_80">] {{
    llvm.func @same(%x: i32) -> i32 {{ llvm.return %x : i32 }}
    llvm.func @other(%x: i32) -> i32 {{
      %0 = llvm.add %x, %x : i32
      llvm.return %0 : i32
    }}
    llvm.func @b_kernel(%p: !llvm.ptr) attributes {{gpu.kernel, nvvm.kernel}} {{
      %0 = llvm.mlir.constant(1 : i32) : i32
      %1 = llvm.call @same(%0) : (i32) -> i32
      %2 = llvm.call @other(%1) : (i32) -> i32
      llvm.store %2, %p : i32, !llvm.ptr
      llvm.return
    }}
  }} }}
}}
""".replace("{{", "{").replace("}}", "}")


def test_kernels_made_side_by_side_are_those_of_one_module() -> None:
    text = chain(9, size=128)  # three products with their bias and ReLU
    compiled = compile_module(text, chip="sm_90", keep=["nvvm"])
    module = parse_module(compiled.ir("nvvm"), "-", new_context())
    assert compiled.code == emission.ptx_of_program(module, from_outside=True)
    assert isinstance(compiled.code, str)
    assert "$L__BB1_" in compiled.code


def test_names_that_two_kernels_use_for_different_things_stay_apart() -> None:
    llvm = emission.llvm_ir(NVVM)
    assert llvm.count("define i32 @same(") == 1
    assert "define i32 @other(" in llvm and "define i32 @other_1(" in llvm
    module = parse_module(NVVM, "-", new_context())
    before = str(module)
    assert sorted(entries(emission.ptx_of_program(module))) == ["a_kernel", "b_kernel"]
    assert str(module) == before
