"""`mlir-gemm explain`, the report of a compilation and the notes of kernels tell what the stage `select` decides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import mlir_gemm
from mlir_gemm.bench.modules import module
from mlir_gemm.bench.problems import Problem as Case
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.beside import beside, columns, share
from mlir_gemm.tile_model.chips import fuller, target
from mlir_gemm.tile_model.decisions import decide
from mlir_gemm.tile_model.explain import explain
from mlir_gemm.tools.main import main

CHIP = "sm_90a"
H200 = target(CHIP)
THIN = Problem(16, 8192, 8192, out="f16", reads_c=False, b_order="nk")


def product(m: int, n: int, k: int, type_: str = "f16", out: str = "f16", *, b: str = "kn") -> str:
    """A module of one product."""
    right = f"memref<{k}x{n}x{type_}>" if b == "kn" else f"memref<{n}x{k}x{type_}>"
    return f"""
    func.func @f(%A: memref<{m}x{k}x{type_}>, %B: {right}, %D: memref<{m}x{n}x{out}>) {{
      %zero = arith.constant 0.0 : {out}
      linalg.fill ins(%zero : {out}) outs(%D : memref<{m}x{n}x{out}>)
      linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> ({", ".join(b)})>,
                                     affine_map<(m, n, k) -> (m, n)>]
          ins(%A, %B : memref<{m}x{k}x{type_}>, {right}) outs(%D : memref<{m}x{n}x{out}>)
      return
    }}"""


def explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    """What the lines at the head of an explanation say, by their first word; further lines of one joined to it."""
    status = main(["explain", *arguments])
    out, err = capsys.readouterr()
    assert (status, err) == (0, f"note: --chip sm_90: {fuller('sm_90')}\n" if "sm_90" in arguments else "")
    assert all(line == line.rstrip() and len(line) for line in out.split("\n\n")[0].splitlines())
    head: dict[str, str] = {}
    for line in out.split("\n\n")[0].splitlines():
        word = line[:10].strip() or list(head)[-1]
        head[word] = f"{head.get(word, '')} {line[10:]}".strip()
    return head


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "in.mlir"


CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "plain": (product(512, 512, 512), CHIP, {}),
    "another chip": (product(16, 8192, 8192, b="nk"), "sm_90", {}),
    "thin": (product(16, 8192, 8192, b="nk"), CHIP, {}),
    "thin, kn": (product(16, 8192, 8192), CHIP, {}),
    "thin, tiles pinned": (product(16, 8192, 8192, b="nk"), CHIP, {"split_k_cluster": 2}),
    "odd rows": (product(2047, 2047, 2047), CHIP, {}),
    "odd rows, thin": (product(40, 8192, 8191, b="nk"), CHIP, {}),
    "turned": (product(1024, 1024, 1024, "f32", "f32"), CHIP, {"precision": "tf32"}),
    "f8": (product(256, 256, 256, "f8E4M3FN", b="nk"), CHIP, {"precision": "f8"}),
    "f8, turned": (product(512, 512, 512, "f8E4M3FN"), CHIP, {"precision": "f8"}),
    "f8, sm_90": (product(256, 256, 256, "f8E4M3FN", b="nk"), "sm_90", {"precision": "f8"}),
    "f16 sums": (product(512, 512, 512), "sm_89", {"precision": "f16"}),
    "batch-invariant": (product(8, 1024, 8192, b="nk"), CHIP, {"batch_invariant": True}),
}


@pytest.mark.parametrize(("text", "chip", "pinned"), CASES.values(), ids=CASES)
def test_explains_what_compile_does(
    text: str, chip: str, pinned: Mapping[str, Any], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(text)
    fields = ",".join(f"{name}={'on' if value is True else value}" for name, value in pinned.items())
    head = explained(capsys, str(file), "--chip", chip, *(["--schedule", fields] if fields else []))
    compiled = compile_module(text, chip=chip, schedule=pinned, until="select")
    kernel = compiled.kernels[-1]
    assert head["schedule"] == str(kernel.schedule)
    assert ("re-laid" in head) == (len(compiled.kernels) > 1)
    assert ("swapped" in head) == ("A and B have changed places" in kernel.note)
    if "swapped" in head:
        assert head["swapped"].startswith(str(kernel.problem))
    elif "re-laid" not in head:
        assert head["problem"] == str(kernel.problem)


class TestExchange:
    def test_is_explained(self) -> None:
        text = explain(THIN, H200)
        for part in (
            "problem   16x8192x8192 f16,f16->f16 (mk, nk)",
            "swapped   8192x16x8192 f16,f16->f16 (mk, nk)",
            "at least 64 rows, but as few as 8 columns",
            "us as it was",
            "All below is about the swapped product",
        ):
            assert part in text

    def test_is_explained_for_sizes(self, capsys: pytest.CaptureFixture[str]) -> None:
        line = ("--mnk", "16,8192,8192", "--types", "f16,f16,f16", "--orders", "mk,nk", "--chip", CHIP)
        assert "8192x16x8192" in explained(capsys, *line)["swapped"]
        pinned = explained(capsys, *line, "--schedule", "split_k_cluster=2")
        assert "swapped" not in pinned and pinned["pinned"] == "split_k_cluster"

    def test_says_what_stands_in_its_way(self) -> None:
        found = decide(THIN, H200, refuses=lambda _: "'x.y' is no linalg.generic")
        assert not found.rewrites and found.choice.problem == THIN
        text = explain(THIN, H200, refuses=lambda _: "'x.y' is no linalg.generic")
        assert "sides     as they are, though swapped it would be faster: 'x.y' is no linalg.generic" in text

    def test_says_that_it_was_asked_for(self) -> None:
        text = explain(Problem(512, 512, 512, out="f16", reads_c=False), H200, {"swap_ab": True})
        assert "as pinned. Predicted" in text and "measurements favour" not in text and "swap_ab=on" in text

    def test_is_not_mentioned_otherwise(self) -> None:
        text = explain(Problem(512, 512, 512), H200, refuses=lambda _: "something")
        assert "\nswapped" not in text and "sides " not in text

    def test_the_kernel_has_a_note(self) -> None:
        kernel = mlir_gemm.compile(product(16, 8192, 8192, b="nk"), chip=CHIP, device="simulator").kernels[0]
        assert kernel.problem is not None and (kernel.problem.m, kernel.problem.n) == (8192, 16)
        assert "the product is 16x8192x8192 f16,f16->f16 (mk, nk)" in kernel.note
        assert "computed as its transpose, 8192x16x8192" in kernel.note

    def test_the_note_outlives_saving(self) -> None:
        saved = compile_module(product(16, 8192, 8192, b="nk"), chip=CHIP, until="select", keep=("select",))
        again = compile_module(saved.ir("select"))
        assert again.kernels[0].note == saved.kernels[0].note != ""

    def test_the_note_joins_another(self) -> None:
        text = compile_module(product(16, 8192, 8192, b="nk"), chip=CHIP, until="import", keep=("import",)).ir("import")
        noted = text.replace("attributes {", 'attributes {tile.note = "first", ', 1)
        assert noted != text
        note = compile_module(noted, until="select").kernels[0].note
        assert note.startswith("first; A and B have changed places")

    def test_other_kernels_have_none(self) -> None:
        assert compile_module(product(1024, 1024, 1024), chip=CHIP, until="select").kernels[0].note == ""


class TestRelayout:
    def test_says_what_it_saves(self) -> None:
        text = explain(Problem(2047, 2047, 2047, out="f16", a_vector=16, b_vector=16, out_vector=16), H200)
        assert "re-laid   A (mk) and B (kn) first, in aligned rows, by kernels of their own, which take another" in text
        assert "as it lies in memory the product would take" in text
        assert "problem   2047x2047x2047 f16,f16->f16 (accumulates in f32)" in text

    def test_says_that_nothing_else_is_legal(self) -> None:
        eights = Problem(
            509, 509, 509, a="f8E4M3FN", b="f8E4M3FN", out="f16", reads_c=False, a_order="km", a_vector=8, b_vector=8
        )
        text = explain(eights, H200, {"precision": "f8"})
        assert "re-laid   A (mk) and B (nk) first" in text and "as it lies in memory there is no legal schedule" in text

    def test_says_what_transposing_in_shared_memory_saves(self) -> None:
        both = Problem(1024, 1024, 1024, a="i8", b="i8", acc="i32", out="i32", reads_c=False, a_order="km")
        text = explain(both, H200)
        assert "re-laid" not in text and "transposed in shared memory by the warps that multiply" in text
        assert "on a copy of B it would take" in text


class TestInvariance:
    def test_says_what_is_fixed(self, capsys: pytest.CaptureFixture[str]) -> None:
        line = ("--mnk", "8,1024,8192", "--types", "f16,f16,f16", "--orders", "mk,nk", "--chip", CHIP)
        head = explained(capsys, *line, "--schedule", "batch_invariant=on")
        assert head["pinned"] == "batch_invariant"
        said = "a row of the result has the same bits for every M: mma=wgmma, as for M=4096; k in one piece"
        assert head["invariant"] == said
        assert "batch_invariant=on" in head["schedule"] and "split_k_cluster=1" in head["schedule"]
        head = explained(capsys, *line, "--schedule", "batch_invariant=on,mma=mma_sync")
        assert "mma=mma_sync, as pinned" in head["invariant"]
        assert "invariant" not in explained(capsys, *line)

    def test_dynamic_rows(self) -> None:
        problem = Problem(512, 1024, 1024, out="f16", reads_c=False, dynamic="m")
        text = explain(problem, H200, {"batch_invariant": True})
        assert "the same bits for every M: mma=wgmma" in text

    @pytest.mark.parametrize("order", ["mk", "km"])
    @pytest.mark.parametrize("sizes", [(8191, 8191), (512, 512), (2112, 7168)])
    @pytest.mark.parametrize("dynamic", ["", "m"])
    def test_the_mma_is_the_same_for_every_m(self, order: str, sizes: tuple[int, int], dynamic: str) -> None:
        n, k = sizes
        found: set[tuple[str, int]] = set()
        for m in (1, 8, 33, 40, 64, 128, 1000, 4096):
            rows = {"mk": k, "km": m}[order]
            vector = 16 if dynamic and order == "km" else min(128, 16 * (rows & -rows))
            problem = Problem(
                m, n, k, out="f16", reads_c=False, a_order=order, dynamic=dynamic, a_vector=vector,
                b_vector=min(128, 16 * (n & -n)),
            )  # fmt: skip
            schedule = decide(problem, H200, {"batch_invariant": True}).choice.schedule
            found.add((schedule.mma, schedule.split_k_cluster))
        assert len(found) == 1


@pytest.mark.parametrize(("vector", "way"), [
    (128, "  D mn: by the copy engine, through 32768 bytes of shared memory"),
    (16, "  D mn: rows start between vectors: in vectors through 34816 bytes of shared memory, their ends one by"),
])  # fmt: skip
def test_says_how_the_result_leaves(vector: int, way: str) -> None:
    fields = Schedule.parse("block=128x128x64,warp=64x128x64")
    problem = Problem(2048, 2048 + (vector < 128), 512, out="f16", reads_c=False, b_order="nk", out_vector=vector)
    assert way in explain(problem, H200, fields)
    assert "  D mn" not in explain(problem, H200, {**fields, "smem_epilogue": False})


class TestGrid:
    def test_blocks_that_share_steps(self) -> None:
        schedule = {
            **Schedule.parse("block=128x128x64,warp=64x128x64,split_k_cluster=4,cluster_m=1,cluster_n=1,persistent=0")
        }
        text = explain(Problem(1024, 1024, 8192, reads_c=False), H200, schedule)
        assert "blocks in the grid: 256, or" in text
        assert "clusters of 4 blocks, which share the steps of k of one tile and add up their parts" in text

    def test_blocks_that_share_copies(self) -> None:
        text = explain(Problem(4096, 4096, 4096, reads_c=False), H200, {"cluster_m": 2})
        assert "clusters of 2 blocks, which copy tiles of B below each other together" in text
        text = explain(Problem(4096, 4096, 4096, reads_c=False), H200, {"cluster_n": 2})
        assert "clusters of 2 blocks, which copy tiles of A beside each other together" in text

    def test_clusters_with_tiles_outside(self) -> None:
        fields = Schedule.parse("mma=wgmma,block=128x128x64,warp=64x128x64,cluster_m=4,cluster_n=2")
        text = explain(Problem(1100, 360, 4096, reads_c=False), H200, fields)
        assert "clusters of 4 by 2 blocks, which copy tiles of B below each other and A beside each other toge" in text
        assert "21 of the 48 tiles lie outside the result: they fill the last clusters" in text

    def test_blocks_that_walk(self) -> None:
        fields = Schedule.parse("block=64x256x64,warp=64x256x64,persistent=132,ping_pong=off")
        text = explain(Problem(4096, 4096, 4096, reads_c=False), H200, fields)
        assert "tiles of the result: 1024, walked by 132 blocks, at most 8 each" in text
        assert "1 warpgroup that multiplies, one that copies" in text and "wgmma 64x256x16" in text
        fields = Schedule.parse("block=64x128x64,warp=64x128x64,persistent=132,ping_pong=on")
        text = explain(Problem(4096, 4096, 4096, reads_c=False), H200, fields)
        assert "at most 16 each, two warpgroups in ping-pong" in text and "tma, ping-pong" in text
        assert "epilogues beside products" not in text
        text = explain(Problem(4096, 4096, 4096, out="f16", reads_c=False, epilogue_ops=12), H200, {})
        assert "epilogues beside products of other tiles: 2 numbers of a thread in flight at a time" in text


class TestBeside:
    """Chips of all vendors as columns."""

    def test_a_column_for_each(self, capsys: pytest.CaptureFixture[str]) -> None:
        line = ("--mnk", "1024,1024,1024", "--types", "f16,f16,f16", "--chip", CHIP)
        others = "vulkan,opencl,mi210,mi300x,rx7900,arc-a770,apple-m2-max"
        assert main(["explain", *line, "--beside", others]) == 0
        table = capsys.readouterr().out.partition("chips beside each other, predicted\n")[2].splitlines()
        first = table[0].index(CHIP)
        rows = {row[:first].strip(): row[first:].split() for row in table if row.startswith("  ")}
        mmas = ["wgmma", "simt", "simt", "mfma", "mfma", "rdna_wmma", "coop_matrix", "simt"]
        assert rows["mma"] == mmas and len(rows["block"]) == len(mmas)
        assert rows["instruction"][3:] == ["16x16x16", "16x16x16", "16x16x16", "8x8x16", "1x1x1"]
        assert rows["speed of sm_90a's schedule"] == ["1.00", *["illegal"] * 7]
        assert "  gfx942: mma=wgmma: gfx942 has mfma, simt" in table

    def test_one_schedule_on_others(self) -> None:
        plain = Problem(1024, 1024, 1024, out="f16", reads_c=False)
        found = columns(plain, [target(name) for name in ("vulkan", "h200", "mi300x", "opencl")])
        shares = [share(found[0], each) for each in found]
        assert shares[0][0] == "1.00" and 0 < float(shares[1][0]) < 0.3 and 0 < float(shares[2][0]) < 0.5
        assert not any(why for _, why in shares)

    def test_a_chip_that_cannot(self) -> None:
        text = beside(Problem(64, 64, 64), [H200, target("mi300x")], {"mma": "wgmma"})
        assert "gfx942: no legal schedule for 64x64x64" in text and "mma=wgmma: gfx942 has mfma, simt" in text
        thin = beside(THIN, [H200, target("vulkan")])
        assert "swap_ab" in thin and "vulkan: another product: operands are laid out, divided or swapped" in thin

    def test_a_module(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.write_text(product(256, 256, 256))
        assert main(["explain", str(file), "--chip", "opencl", "--beside", "gfx1100"]) == 0
        assert "rdna_wmma" in capsys.readouterr().out.partition("chips beside each other")[2]
        pinned = ("--schedule", "mma=rdna_wmma")
        assert main(["explain", str(file), "--chip", "rx7900", "--beside", "rx7900,opencl", "--json", *pinned]) == 0
        own, same, other = json.loads(capsys.readouterr().out)
        assert own == same and own["kernel"] == other["kernel"] and "rdna_wmma" in other["refused"]
        assert main(["explain", str(file), "--beside", "gfx1101"]) == 1
        assert "unknown chip 'gfx1101'; did you mean 'gfx1100'?" in capsys.readouterr().err


class TestCommand:
    def test_takes_the_chip_that_the_source_names(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file.write_text(f'module attributes {{tile.chip = "sm_86"}} {{ {product(256, 256, 256)} }}')
        assert explained(capsys, str(file))["chip"].startswith("sm_86")

    def test_options_win_over_the_source(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        text = product(256, 256, 256).replace(
            ") {", ") attributes {tile.schedule = {stages = 3, raster_group = 5 : i64}} {", 1
        )
        file.write_text(text)
        head = explained(capsys, str(file), "--chip", "sm_80", "--schedule", "stages=2")
        assert "stages=2," in head["schedule"] and "raster_group=5" in head["schedule"]

    @pytest.mark.parametrize(
        ("more", "status", "message"),
        [
            (("--schedule", "stage=2"), 1, "unknown schedule field 'stage'; did you mean 'stages'?"),
            (("--schedule", "split_k_cluster=9"), 1, "split_k_cluster=9: expected at most 8 blocks"),
            (("--sizes", "s0=3"), 2, "--sizes s0: the sizes of this module that are known at run time: none"),
            (("--divisors", "q=3"), 2, "--divisors q: the sizes of this module that are known at run time: none"),
        ],
    )
    def test_refuses(
        self, more: tuple[str, ...], status: int, message: str, file: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file.write_text(product(512, 512, 512))
        assert main(["explain", str(file), "--chip", CHIP, *more]) == status
        out, err = capsys.readouterr()
        assert out == "" and message in err


class TestReport:
    def report(self, text: str, file: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, str]:
        file.write_text(text)
        assert main(["compile", str(file), "-o", str(file.with_suffix(".ptx")), "--report", *more]) == 0
        lines = capsys.readouterr().err.splitlines()
        return {name: rest.strip() for name, colon, rest in (line.partition(":") for line in lines) if colon}

    def test_shows_overlap_clusters_and_tensor_maps(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        fields = "block=128x128x64,warp=64x128x64,cluster_m=2,persistent=0"
        rows = self.report(product(512, 512, 512), file, capsys, "--chip", CHIP, "--schedule", fields)
        assert rows["launch"].endswith("cluster 2x1x1, dependent launch")
        assert "A (boxes 128x64 of f16, swizzle 128), B (boxes " in rows["tensor maps"]
        rows = self.report(
            product(512, 512, 512), file, capsys, "--chip", CHIP, "--schedule", f"{fields},dependent_launch=off"
        )
        assert rows["launch"].endswith("cluster 2x1x1")

    def test_without_the_copy_engine_there_are_none(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = self.report(product(256, 256, 256), file, capsys, "--chip", "sm_80")
        assert "tensor maps" not in rows and rows["launch"].endswith("cluster 1x1x1")

    def test_names_buffers_of_programs(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = self.report(product(2047, 2047, 2047), file, capsys, "--chip", CHIP)
        assert "buffer 0 (boxes " in rows["tensor maps"] and "buffer 1 (boxes " in rows["tensor maps"]

    def test_says_that_a_and_b_were_swapped(self, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
        rows = self.report(product(16, 8192, 8192, b="nk"), file, capsys, "--chip", CHIP)
        assert rows["problem"].startswith("8192x16x8192") and "A and B have changed places" in rows["note"]


def test_warps_that_multiply_beside_one_that_copies() -> None:
    problem = Problem(4096, 4096, 4096, out="f16", reads_c=False)
    text = explain(problem, H200, {"mma": "mma_sync"})
    assert "384 threads (8 warps that multiply, four of which one copies) a block" in text
    assert "A mk: 128 rows by the copy engine" in text


@pytest.mark.parametrize("chip", ["sm_80", "sm_89"])
def test_bytes_in_floating_point_by_their_sizes_alone(
    chip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a module has them: multiplied as f16 unless `precision=f8` is asked for."""
    file = tmp_path / "bytes.mlir"
    file.write_text(module(Case("bytes", 64, 64, 128, "fp8", "bf16", "NT")))
    sizes = ("--mnk", "64,64,128", "--types", "f8E4M3FN,f8E4M3FN,bf16", "--orders", "mk,nk", "--chip", chip)
    assert explained(capsys, *sizes) == explained(capsys, str(file), "--chip", chip)
    if chip == "sm_89":
        assert "precision f8" in explained(capsys, *sizes, "--schedule", "precision=f8")["in short"]
