"""Parts: found by their files, named by nobody else, with fields of their own; from outside the package too."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.dialect import indexing
from mlir_gemm.errors import Error, PassError, ScheduleError
from mlir_gemm.parts.base import Layout, Mma, Part, Raster, Search
from mlir_gemm.parts.fields import field_of, fields_of, meaningless, owners, summary
from mlir_gemm.parts.registry import layouts, mainloops, mmas, mmas_on, optional_parts, rasters
from mlir_gemm.parts.warp_level.search import proposals
from mlir_gemm.passes.base import Rewrite
from mlir_gemm.passes.lower.swizzle_accesses import SwizzleAccesses
from mlir_gemm.passes.parallelize.rasterize_blocks import RasterizeBlocks
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.registry import pass_of
from mlir_gemm.pipeline.runner import Timing
from mlir_gemm.spec import extensions, part_names
from mlir_gemm.spec.fields import Field, named
from mlir_gemm.spec.passes import UPSTREAM, Placed, at, step
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import FIELDS, SHARED, Schedule
from mlir_gemm.spec.stages import SLOTS
from mlir_gemm.spec.target import CAPABILITIES
from mlir_gemm.tile_model.chips import CHIPS, target
from mlir_gemm.tile_model.decisions import REWRITES
from mlir_gemm.tile_model.rewriting import Case
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import select

ROOT = Path(__file__).resolve().parents[2]
ASK = ("spec", "parts", "tile_model", "pipeline", "runtime", "tools", "mlir_gemm")
"""Folders that ask what a kernel is made of. Passes, the dialect and the simulator carry out what parts say, and have
words of their own that are spelt alike."""
ALSO_FIELDS = frozenset(FIELDS)
"""Names that are fields of the schedule as well; fields may be named."""


@pytest.fixture(autouse=True)
def nothing_else() -> Iterator[None]:
    """Takes away again what a test registers."""
    before = extensions.registered()
    yield
    for item in extensions.registered():
        if item not in before:
            extensions.unregister(item.name)


def files(name: str) -> list[Path]:
    """The files of a part: one, or all of its folder."""
    found = list((ROOT / "parts").rglob(f"{name}.py"))
    folders = [path for path in (ROOT / "parts").rglob(name) if path.is_dir()]
    return [*found, *(each for folder in folders for each in folder.rglob("*.py"))]


def every_name() -> list[str]:
    return [*mmas(), *mainloops(), *layouts(), *rasters(), *(part.name for part in optional_parts())]


def test_every_part_lies_in_a_file_or_a_folder_of_its_name() -> None:
    listed = [name for folder in part_names.FOLDERS for name in part_names.own_names(folder)]
    assert sorted(listed) == sorted(every_name())
    assert len(set(listed)) == len(listed)
    assert all(files(name) for name in listed)


def test_nothing_else_names_a_part() -> None:
    """No comparison, no `in`, no key, no default and no tuple outside a part's own file has its name: 0 of them."""
    own = {name: set(files(name)) for name in every_name() if name not in ALSO_FIELDS}
    found: list[str] = []
    for path in (path for folder in ASK for path in (ROOT / folder).rglob("*.py") if path.name != "former_names.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and node.value in own and path not in own[str(node.value)]:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: '{node.value}'")
    assert found == []


def test_every_pass_that_a_part_names_exists_and_every_slot_does() -> None:
    placed: list[Placed] = []
    for chip in CHIPS.values():
        for mma in mmas_on(chip):
            placed += mma.passes(Schedule(mma=mma.name), chip)
        full = Schedule(mma=next(iter(mmas())), mainloop=next(iter(mainloops())), l2_keep_a=0, persistent=8)
        for part in (*mainloops().values(), *optional_parts()):
            placed += part.passes(full, chip)
    assert len(placed) > 20
    for each in placed:
        assert each.slot in SLOTS[each.stage]
        for spec in each.passes:
            assert spec.name == UPSTREAM or pass_of(spec)


@pytest.mark.parametrize(("name", "problem"), [
    ("materialize", Problem(2048, 4096, 4096, b_order="nk", b_memory="i8", reads_c=False)),
    ("relayout", Problem(1001, 1001, 1001, out="f16", a_vector=16, b_vector=16, reads_c=False)),
    ("split_k_workspace", Problem(512, 512, 16384, out="f16", reads_c=False)),
    ("swap_ab", Problem(16, 8192, 8192, out="f16", b_order="nk", reads_c=False)),
])  # fmt: skip
def test_a_rewrite_says_what_is_computed_then_by_which_pass_and_why(name: str, problem: Problem) -> None:
    case = Case(problem, target("sm_90a"), {})
    found = REWRITES[name](case)
    assert found is not None and found.case.problem != problem and not found.asked
    assert isinstance(pass_of(found.step), Rewrite) and len(found.why()) > 1
    assert (found.seconds > 0) == (name != "swap_ab")
    again = REWRITES[name](found.case)
    assert again is None or name == "swap_ab"  # pinned by then, and taken back


def test_chips_list_capabilities_that_parts_need() -> None:
    needed = set().union(*(part.needs for part in (*mmas().values(), *mainloops().values())))
    assert needed <= set(CAPABILITIES)
    for chip in CHIPS.values():
        assert chip.capabilities <= set(CAPABILITIES)


class TestFields:
    def test_each_has_one_kind_of_owner_or_is_shared(self) -> None:
        shared = [name for name in FIELDS if not owners(name)]
        assert {"block", "warp", "mma", "mainloop", "layout", "raster", "precision"} <= set(shared)
        for part in (*mmas().values(), *mainloops().values(), *layouts().values(), *rasters().values()):
            assert set(named(part.fields)) <= set(FIELDS)
        assert shared == list(named(SHARED))

    def test_each_says_what_it_means_and_takes_its_default(self) -> None:
        for name, default in FIELDS.items():
            field = field_of(name)
            assert field is not None and field.help.endswith(".") and not field.expected(default), name

    @pytest.mark.parametrize("chip", ["sm_70", "sm_80", "sm_90a"])
    def test_a_text_shows_those_that_apply_and_gives_the_schedule_again(self, chip: str) -> None:
        for size in (64, 1000, 4096):
            schedule = select(Problem(size, size, size, reads_c=False), target(chip)).schedule
            shown = Schedule.parse(str(schedule))
            assert list(shown) == fields_of(schedule)
            assert not set(shown) & set(meaningless(schedule))
            assert Schedule.make(shown) == schedule
            assert len(summary(schedule)) < 160 and schedule.mma in summary(schedule)

    def test_one_of_a_part_that_is_not_there_is_refused_in_words(self) -> None:
        problem, chip = Problem(4096, 4096, 4096), target("sm_80")
        with pytest.raises(
            ScheduleError, match="early=off: a field of mainloop=register_prefetch, which this schedule does not"
        ):
            select(problem, chip, {"early": False, "mainloop": "cp_async"})
        with pytest.raises(ScheduleError, match="persistent=8: expected 0 without mainloop=tma"):
            select(problem, chip, {"persistent": 8})
        assert violations(problem, Schedule(smem_epilogue=False), chip)[0].startswith("smem_epilogue=off: a field of")


def test_an_operation_from_outside() -> None:
    """A slower cousin of the ordinary arithmetic, that is tried first."""
    simt = mmas()["simt"]
    cousin = dataclasses.replace(simt, name="cousin", rank=-1, rate=lambda problem, chip: simt.rate(problem, chip) / 2)
    mlir_gemm.register(dataclasses.replace(cousin, search=_search(cousin)))
    problem = Problem(64, 64, 64, "f32", "f32", reads_c=False)
    assert select(problem, target("sm_80")).schedule.mma == "cousin"
    assert Schedule.parse("mma=cousin") == {"mma": "cousin"}
    a, b = np.random.default_rng(1).standard_normal((2, 64, 64), np.float32)
    kernel = mlir_gemm.compile(SOURCE, chip="sm_80", device="simulator")
    assert kernel.schedule.mma == "cousin"
    assert np.allclose(product(kernel, a, b), a.astype(np.float64) @ b, atol=1e-4)
    mlir_gemm.unregister("cousin")
    assert select(problem, target("sm_80")).schedule.mma == "simt"


def product(kernel: mlir_gemm.Kernel, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result = np.full((64, 64), np.nan, np.float32)
    kernel(a, b, result)
    return result


def _search(mma: Mma) -> Search:
    return lambda problem, chip, pinned, wide: proposals(mma, problem, chip, pinned, wide)


SOURCE = """
func.func @f(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}
"""


def test_a_main_loop_from_outside() -> None:
    plain = mainloops()["direct"]
    mlir_gemm.register(dataclasses.replace(plain, name="my_loop", rank=-1, default=False))
    kernel = mlir_gemm.compile(SOURCE, chip="sm_80", device="simulator", schedule={"mainloop": "my_loop"})
    assert kernel.schedule.mainloop == "my_loop"
    a, b = np.random.default_rng(2).standard_normal((2, 64, 64), np.float32)
    assert np.allclose(product(kernel, a, b), a.astype(np.float64) @ b, atol=1e-4)


def test_fields_from_outside() -> None:
    def applies(schedule: Schedule) -> bool:
        return schedule.value("marked.count") > 0

    part = Part(
        "marked",
        applies,
        lambda schedule, _: [at("pipeline", "clean", step("multi-buffer", stages=schedule.stages))],
        own_fields=(Field("count", "How often.", most=9, default=0), Field("loud", "Whether.", default=False)),
    )
    mlir_gemm.register(part)
    assert Schedule.parse("marked.count=3,marked.loud=on") == {"marked.count": 3, "marked.loud": True}
    with pytest.raises(ScheduleError, match=r"'marked\.count=10': expected 0 to 9"):
        Schedule.parse("marked.count=10")
    with pytest.raises(ScheduleError, match=r"unknown schedule field 'marked\.colour'"):
        Schedule.parse("marked.colour=3")
    kernel = mlir_gemm.compile(SOURCE, chip="sm_80", device="simulator", schedule={"marked.count": 2})
    assert kernel.schedule.value("marked.count") == 2 and kernel.schedule.value("marked.loud") is False
    assert "marked.count=2" in str(kernel.schedule)
    assert Schedule.make(Schedule.parse(str(kernel.schedule))) == kernel.schedule


def test_an_order_of_tiles_from_outside() -> None:
    """As data: whole rows of tiles, forwards and backwards; nothing else says how it is walked."""
    mlir_gemm.register(Raster("furrows", lambda _: 1, snake=True))
    fields = {"raster": "furrows", "block": (16, 16, 16), "warp": (16, 16, 8), "mma": "simt"}
    kernel = mlir_gemm.compile(SOURCE, chip="sm_80", device="simulator", schedule=fields)
    assert kernel.schedule.raster == "furrows"
    a, b = np.random.default_rng(3).standard_normal((2, 64, 64), np.float32)
    assert np.allclose(product(kernel, a, b), a.astype(np.float64) @ b, atol=1e-4)


@dataclass(frozen=True)
class WalkDiagonals(RasterizeBlocks):
    """Walk the diagonals of the tiles, around the edge."""

    name: ClassVar[str] = "walk-diagonals"

    def tile_at(self, number: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
        row = indexing.rem(number, rows)
        return row, indexing.rem(indexing.add(row, indexing.div(number, rows)), columns)


def test_an_order_of_tiles_with_a_pass_of_its_own() -> None:
    mlir_gemm.register(mlir_gemm.PassAt(WalkDiagonals))
    mlir_gemm.register(Raster("diagonal", lambda _: 0, walk="walk-diagonals"))
    fields = {"raster": "diagonal", "block": (16, 16, 16), "warp": (16, 16, 8), "mma": "simt"}
    kernel = mlir_gemm.compile(SOURCE, chip="sm_80", device="simulator", schedule=fields)
    a, b = np.random.default_rng(4).standard_normal((2, 64, 64), np.float32)
    assert np.allclose(product(kernel, a, b), a.astype(np.float64) @ b, atol=1e-4)
    assert pass_names("parallelize", fields) == ["parallelize-blocks", "walk-diagonals"]


def pass_names(stage: str, fields: dict[str, Any]) -> list[str]:
    """Our passes of a stage."""
    watched = Timing()
    compile_module(SOURCE, chip="sm_80", schedule=fields, until=stage, hooks=(watched,))
    return [spec.name for at, _, spec, _ in watched.rows if at == stage and spec.name != UPSTREAM]


@dataclass(frozen=True)
class RotateChunks(SwizzleAccesses):
    """Chunks of a row move on by as many as the row's number says."""

    name: ClassVar[str] = "rotate-chunks"
    layouts: ClassVar[tuple[str, ...]] = ("rotated",)

    @staticmethod
    def place(column: Any, by: Any, width: int) -> Any:
        inside = indexing.rem(column, width)
        return indexing.add(indexing.sub(column, inside), indexing.rem(indexing.add(inside, by), width))


def test_a_layout_from_outside() -> None:
    """One whose rows are padded, as data; and one with a pass that lays it out, without which it is refused."""
    pad = field_of("pad")
    assert pad is not None
    with pytest.raises(Error, match=r"Layout 'roomy': 'pad' is no field; expected mlir_gemm\.Field"):
        mlir_gemm.register(Layout("roomy", padded=True, fields=cast("Any", ("pad",))))
    mlir_gemm.register(Layout("roomy", padded=True, fields=(pad,)))
    mlir_gemm.register(Layout("rotated", swizzled=True))
    a, b = np.random.default_rng(5).standard_normal((2, 64, 64), np.float32)
    tiles = {"block": (32, 32, 32), "warp": (16, 16, 8)}
    roomy = mlir_gemm.compile(
        SOURCE, chip="sm_80", device="simulator", schedule={"layout": "roomy", "pad": 12, **tiles}
    )
    assert np.allclose(product(roomy, a, b), a.astype(np.float64) @ b, atol=1e-4)
    fields = {"layout": "rotated", **tiles}
    with pytest.raises(PassError, match='layout "rotated" is left; no pass of this schedule lays it out'):
        compile_module(SOURCE, chip="sm_80", schedule=fields)
    own = mlir_gemm.PassAt(RotateChunks, "lower", "swizzle", applies=lambda schedule, _: schedule.layout == "rotated")
    mlir_gemm.register(own)
    rotated = mlir_gemm.compile(SOURCE, chip="sm_80", device="simulator", schedule=fields)
    assert np.allclose(product(rotated, a, b), a.astype(np.float64) @ b, atol=1e-4)
    assert 'tile.layout = "rotated"' in compile_module(SOURCE, chip="sm_80", schedule=fields, until="promote").ir(
        "promote"
    )
