"""`mlir-gemm bench` without a GPU: the list, wrong usage, and reports of saved results."""

from __future__ import annotations

import lzma
from collections import Counter
from pathlib import Path

import bench_samples as samples
import pytest

from mlir_gemm.bench import compile_time, plots
from mlir_gemm.bench.figures import merge, read
from mlir_gemm.bench.modules import module, shapes
from mlir_gemm.bench.problems import EPILOGUES, LAYOUTS, PROBLEMS, RESULTS, Problem, custom, drawn, select
from mlir_gemm.bench.report import markdown
from mlir_gemm.errors import Error
from mlir_gemm.runtime.info import describe_devices
from mlir_gemm.tools.main import main


def run_main(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main(["bench", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "results.json"
    path.write_text(samples.SAMPLE.text())
    return path


def test_no_group_has_a_problem_twice():
    assert max(Counter((each.group, each.name) for each in PROBLEMS).values()) == 1


def test_the_list_has_what_was_asked_for():
    names = {each.name for each in PROBLEMS}
    for layout in ("NN", "NT", "TN", "TT"):
        for dtype in ("f16", "bf16"):
            assert {
                f"{size} {dtype} {layout}"
                for size in (
                    "512x512x512", "16384x16384x16384", "1024x1024x8192", "256x8192x8192", "32x28672x8192",
                    "8192x32x8192", "4095x4095x4095", "4088x4088x4088", "4096x4104x4096", "8191x8191x8191",
                )
            } <= names  # fmt: skip
    assert {"8192x8192x8192 fp8 NT", "8192x8192x8192 s8 NN", "8192x8192x8192 tf32 NN"} <= names
    assert {"8192x8192x8192 f16->f32 NN", "2048x2048x2048 f16 NN silu_mul", "4096x4096x4096 f16 NT gelu"} <= names


def test_selection():
    assert {each.dtype for each in select() if each.group != "types"} == {"f16"}
    assert {each.layout for each in select()} == {"NN", "NT"}
    assert {(e.group, e.dtype, e.layout) for e in select(["skinny"], ["bf16"], ["TT"])} == {("skinny", "bf16", "TT")}
    assert select(["types"], ["s8"]) == [each for each in PROBLEMS if each.dtype == "s8"]
    assert [each.name for each in custom([(8, 16, 32)], ["tf32"], ["TN"])] == ["8x16x32 tf32 TN"]
    with pytest.raises(Error, match="has none for types, TT"):
        select(["types"], [], ["TT"])


def test_random_problems_are_those_of_a_seed():
    found = drawn(200, 3, ["f16", "s8"])
    assert found[:20] == drawn(20, 3, ["f16", "s8"]) != drawn(20, 4, ["f16", "s8"])
    assert {each.layout for each in found} == set(LAYOUTS) and {each.dtype for each in found} == {"f16", "s8"}
    assert all(each.m >= 1 and each.n >= 1 and each.k >= 1 and each.out == RESULTS[each.dtype] for each in found)
    assert {each.m % 8 == 0 for each in found} == {True, False}
    assert max(each.bytes for each in found) <= 2**30
    assert {each.layout for each in drawn(20, 3, layouts=["TT"])} == {"TT"}


def test_bytes_count_what_the_epilogue_reads():
    plain, bias, factor = (
        Problem("x", 4, 8, 16, "f16", "f32", "NN", epilogue).bytes for epilogue in ("none", "bias", "silu_mul")
    )
    assert (plain, bias - plain, factor - plain) == (2 * (4 * 16 + 16 * 8) + 4 * 32, 4 * 8, 4 * 32)


@pytest.mark.parametrize("epilogue", EPILOGUES)
def test_every_epilogue_becomes_one_kernel_that_writes_its_last_argument(epilogue: str):
    import mlir_gemm

    problem = Problem("x", 64, 48, 32, "f16", "f16", "NT", epilogue)
    kernel = mlir_gemm.compile(module(problem), chip="sm_90")
    assert [each.kind for each in kernel.kernels] == ["product"]
    assert [(each.shape, each.dtype) for each in kernel.launch.arguments[:-1]] == [
        (shape, dtype) for _, shape, dtype in shapes(problem)
    ]
    assert kernel.launch.arguments[-1].role == "out"


@pytest.mark.parametrize("dtype", RESULTS)
def test_every_type_compiles(dtype: str):
    import mlir_gemm

    kernel = mlir_gemm.compile(module(Problem("x", 64, 48, 32, dtype, RESULTS[dtype], "NN")), chip="sm_90")
    assert kernel.launch.arguments[-1].role == "out"


def test_list_prints_the_problems(capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(capsys, "--list", "--group", "skinny", "--types", "f16", "--layouts", "NN,NT")
    assert (status, err) == (0, "")
    assert "16x8192x8192 f16 NN" in out and "16x8192x8192 f16 NT" in out
    assert "bf16" not in out and "4096x4096x4096" not in out
    assert f"16 of {len(PROBLEMS)} problems" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--group", "huge"], "'huge' is no group of the list of problems: expected large, medium"),
        (["--types", "f16,f17", "--list"], "'f17' is no type of the list"),
        (["--layouts", "NX"], "'NX' is no layout of the list of problems: expected NN, NT, TN, TT"),
        (["--group", "types", "--layouts", "TT"], "has none for types, TT; mlir-gemm bench --list prints"),
        (["--against", "torch,mkl"], "--against mkl: expected all, or some of torch, cublaslt"),
        (["--mnk", "64,64,64", "--group", "large"], "--mnk takes the place of the list"),
        (["--random", "5", "--group", "large"], "--random takes the place of the list"),
        (["--random", "5", "--mnk", "64,64,64"], "--mnk takes the place of the list of problems: leave out --random"),
        (["--mnk", "64,64"], "'64,64' is not M,N,K"),
        (["--report", "a.json", "b.json"], "say where with -o DIR"),
        (["--rounds", "0"], "'0' is not an integer from 1"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    status, out, err = run_main(capsys, *arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_a_misspelt_schedule_is_refused_before_anything_is_compiled(capsys: pytest.CaptureFixture[str]):
    status, _, err = run_main(capsys, "--schedule", "blok=128x128x64")
    assert status == 1
    assert "blok" in err


@pytest.mark.skipif(bool(describe_devices()), reason="is for machines without a GPU")
def test_without_a_gpu_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run_main(capsys, "--group", "skinny")
    assert (status, out) == (1, "")
    assert "no GPU" in err
    assert list(tmp_path.iterdir()) == []


def test_saved_results_are_read_back(saved: Path):
    assert read(str(saved)) == samples.SAMPLE
    packed = saved.with_suffix(".json.xz")
    packed.write_bytes(lzma.compress(saved.read_bytes()))
    assert read(str(packed)) == samples.SAMPLE


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "its format is not"),
        ('{"format": "other"}', "its format is not"),
        ('{"format": "mlir-gemm bench 1"}', "KeyError: 'machine'"),
    ],
)
def test_what_are_no_results_is_refused(content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "other.json"
    path.write_text(content)
    status, out, err = run_main(capsys, "--report", path)
    assert (status, out) == (1, "")
    assert f"error: '{path}' does not hold results of mlir-gemm bench" in err
    assert said in err


def test_report_of_saved_results(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(plots, "available", lambda: False)
    status, out, err = run_main(capsys, "--report", saved, "-o", tmp_path / "out")
    assert status == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.md", "results.json"]
    text = (tmp_path / "out" / "report.md").read_text()
    assert "# mlir-gemm bench: Test GPU" in text
    assert "1000x1000x1000 f16 NN: no schedule is legal" in text
    assert "mma=wgmma" in text and "1400 to 1980 MHz" in text and "power cap" in text
    # ours 200 us, the library's faster one 180 us; ours 1500 us, the library's 1700 us; 0.9 * 1.1333 = 1.01 ** 2
    assert [line.split("|")[2:6] for line in out.splitlines() if line.startswith("| large")] == [
        ["        2 ", "      1.010 ", "       0.900 ", " 4096x4096x4096 f16 NN "]
    ]
    assert "matplotlib is not installed" in err and "--report" in err


def test_a_wrong_result_is_shown_and_gives_status_3(saved: Path, capsys: pytest.CaptureFixture[str]):
    wrong = samples.entry(Problem("large", 64, 64, 64), right=False, ours=5, torch=5)
    saved.write_text(samples.results([samples.LARGE, wrong]).text())
    status, _, _ = run_main(capsys, "--report", saved)
    assert status == 3
    text = (saved.parent / "report.md").read_text()
    assert text.count("WRONG") == 2  # cold and sustained


def test_reports_of_several_runs(saved: Path, tmp_path: Path):
    again = samples.entry(samples.LARGE.problem, ours=100, torch=180)
    ragged = samples.entry(Problem("ragged", 1000, 1000, 1000), ours=10, torch=20)
    both = merge([samples.SAMPLE, samples.results([again, ragged])])
    assert both.entries == [again, samples.LARGER, samples.SKINNY, ragged]
    assert both.refused == []  # it was measured the second time
    assert "## Ragged" in markdown(both, {})
    other = samples.results([again])
    other.machine["device"] = "Test GPU"
    elsewhere = type(other)({"device": "Other GPU"}, other.date, other.command, other.settings, [again], [])
    with pytest.raises(Error, match="different devices make no report together: Other GPU, Test GPU"):
        merge([samples.SAMPLE, elsewhere])


def test_several_files_become_one(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    other = tmp_path / "other.json"
    other.write_text(samples.results([samples.entry(Problem("x", 8, 8, 8), ours=1, torch=2)]).text())
    status, out, _ = run_main(capsys, "--report", saved, other, "-o", tmp_path / "both")
    assert status == 0 and "| x " in out
    assert len(read(str(tmp_path / "both" / "results.json")).entries) == len(samples.SAMPLE.entries) + 1


def test_plots_are_pngs(saved: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib")
    status, out, err = run_main(capsys, "--report", saved)
    assert (status, err) == (0, "")
    text = (saved.parent / "report.md").read_text()
    for name in ("ratio.png", "speed.png", "roofline.png"):
        assert (saved.parent / name).read_bytes().startswith(b"\x89PNG")
        assert f"]({name})" in text and name in out


def test_plots_of_little_are_left_out():
    pytest.importorskip("matplotlib")
    alone = samples.entry(Problem("types", 64, 64, 64, "f64", "f64"), ours=5, torch=5)
    assert list(plots.draw(samples.results([alone]))) == ["Ratio to cuBLAS"]
    assert plots.draw(samples.results([])) == {}


def test_compile_time_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[2] / "examples" / "torch_linear_gelu.mlir"
    assert compile_time.main([str(example), "--runs", "1"]) == 0
    told = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert [line.rpartition(" ")[2] for line in told] == ["import", "import", "ptx"]
    assert compile_time.chain(30).count("linalg.matmul") == 10
