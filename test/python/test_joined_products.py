"""Products of one A by several matrices B in one kernel: right numbers, rules of their tiles, and when it is chosen."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_gemm
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.selection import select_joins
from mlir_gemm.runtime import cache
from mlir_gemm.spec.problem import Problem
from mlir_gemm.spec.schedule import Schedule
from mlir_gemm.tile_model.chips import target
from mlir_gemm.tile_model.rules import violations
from mlir_gemm.tile_model.select import select

BLOCKS = Path(__file__).parents[2] / "examples" / "blocks"
PRODUCT = """  %e{i} = tensor.empty() : tensor<{m}x{n}xf32>
  %f{i} = linalg.fill ins(%z : f32) outs(%e{i} : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %p{i} = linalg.matmul indexing_maps = [#a, #b, #d] ins(%x, %w{i} : tensor<{m}x{k}x{t}>, tensor<{w}x{t}>)
      outs(%f{i} : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
"""
STORED = """  %o{i} = tensor.empty() : tensor<{m}x{n}xf16>
  %r{i} = linalg.generic {{indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%p{i} : tensor<{m}x{n}xf32>) outs(%o{i} : tensor<{m}x{n}xf16>) {{
  ^bb0(%u: f32, %c: f16):
    %y = arith.truncf %u : f32 to f16
    linalg.yield %y : f16
  }} -> tensor<{m}x{n}xf16>
"""
GATED = """  %r0 = linalg.generic {{indexing_maps = [#e, #e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%p0, %p1 : tensor<{m}x{n}xf32>, tensor<{m}x{n}xf32>) outs(%e0 : tensor<{m}x{n}xf32>) {{
  ^bb0(%g: f32, %u: f32, %c: f32):
    %s = arith.maximumf %g, %z : f32
    %v = arith.mulf %s, %u : f32
    linalg.yield %v : f32
  }} -> tensor<{m}x{n}xf32>
"""


def source(count: int, m: int, n: int, k: int, t: str, order: str, gated: bool) -> str:
    sizes = {"m": m, "n": n, "k": k, "t": t, "w": f"{n}x{k}" if order == "nk" else f"{k}x{n}"}
    results = [f"tensor<{m}x{n}xf32>"] if gated else [f"tensor<{m}x{n}xf16>"] * count
    given = ", ".join(f"%w{i}: tensor<{sizes['w']}x{t}>" for i in range(count))
    head = f"""#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> ({", ".join(order)})>
#d = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
func.func @f(%x: tensor<{m}x{k}x{t}>, {given}) -> ({", ".join(results)}) {{
  %z = arith.constant 0.0 : f32
"""
    body = "".join(PRODUCT.format(i=i, **sizes) for i in range(count))
    body += GATED.format(**sizes) if gated else "".join(STORED.format(i=i, **sizes) for i in range(count))
    names = ", ".join(f"%r{i}" for i in range(len(results)))
    return f"{head}{body}  return {names} : {', '.join(results)}\n}}\n"


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the model says, and nothing that was compiled otherwise."""
    monkeypatch.setattr(select_joins, "WORTH", float("inf"))
    monkeypatch.setattr(select_joins, "KEPT", float("inf"))
    monkeypatch.setenv("MLIR_GEMM_CACHE", "off")
    cache.forget()


CASES = {
    "lanes": ("sm_80", (2, 70, 50, 33, "f32", "kn", True), {}),
    "warps": ("sm_80", (2, 100, 72, 72, "f16", "nk", True), {}),
    "one fragment each": ("sm_75", (2, 16, 192, 72, "f16", "kn", False), {}),
    "unaligned": ("sm_80", (2, 60, 91, 64, "f16", "nk", False), {}),
    "warpgroups": ("sm_90a", (2, 130, 104, 136, "f16", "nk", False), {"block": (128, 128, 64), "mma": "wgmma"}),
    "three": ("sm_90a", (3, 128, 64, 64, "f16", "kn", False), {"block": (128, 192, 64), "warp": (64, 192, 64)}),
    "clusters": ("sm_90a", (2, 256, 64, 128, "f16", "nk", False), {
        "block": (128, 128, 64), "mma": "wgmma", "cluster_m": 2}),
    "in turns": ("sm_90a", (2, 256, 128, 128, "f16", "nk", True), {
        "block": (128, 128, 64), "warp": (128, 128, 64), "mma": "wgmma", "ping_pong": True, "persistent": 2}),
}  # fmt: skip


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    chip, (count, m, n, k, t, order, gated), fields = CASES[name]
    kernel = mlir_gemm.compile(source(count, m, n, k, t, order, gated), device="simulator", chip=chip, schedule=fields)
    assert len(kernel.launch.steps) == 1
    assert kernel.kernels[0].problem is not None
    assert kernel.kernels[0].problem.b_matrices == count
    rng = np.random.default_rng(0)
    dtype = np.float16 if t == "f16" else np.float32
    x = rng.integers(-3, 4, (m, k)).astype(dtype)
    matrices = [rng.integers(-3, 4, (n, k) if order == "nk" else (k, n)).astype(dtype) for _ in range(count)]
    wide = [x.astype(np.float64) @ (w.T if order == "nk" else w).astype(np.float64) for w in matrices]
    found = kernel(x, *matrices)
    wanted = [np.maximum(wide[0], 0) * wide[1]] if gated else wide
    for got, exact in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
        assert np.array_equal(np.asarray(got).astype(np.float64), exact.astype(np.asarray(got).dtype))


@pytest.mark.usefixtures("joined")
def test_saved_text_goes_on_as_it_was() -> None:
    whole = compile_module(source(2, 64, 32, 64, "f16", "nk", True), chip="sm_80", keep=("select", "accumulate"))
    for stage in ("select", "accumulate"):
        assert compile_module(whole.ir(stage)).code == whole.code


def test_a_tile_has_equal_parts_of_each_matrix() -> None:
    """The parts must be tiles that the operation takes, and fields that were not tried are refused."""
    chip = target("sm_90a")
    problem = Problem(512, 3072, 1024, out="f16", reads_c=False, b_order="nk", b_matrices=3)
    schedule = select(problem, chip).schedule
    assert schedule.block[1] % 24 == 0
    assert not violations(problem, schedule, chip)
    uneven = replace(schedule, block=(64, 128, 64), warp=(64, 128, 64))
    assert "B of 3 matrices: its n must be a multiple of 24; the nearest: 120 or 144" in violations(
        problem, uneven, chip)[0]  # fmt: skip
    shared = replace(schedule, persistent=132, stream_k=2)
    assert "stream_k=2 with B of 3 matrices: expected 0" in " ".join(violations(problem, shared, chip))
    across = replace(problem, b_order="kn")
    narrow = Schedule.make({**vars(schedule), "block": (64, 24, 64), "warp": (64, 24, 64)})
    assert any("with B of 3 matrices" in reason for reason in violations(across, narrow, chip))
    assert violations(problem, select(Problem(512, 3072, 1024), target("mi300x")).schedule, target("mi300x"))


def test_queries_keys_and_values_of_bert_are_one_kernel() -> None:
    """Heads are batches of what reads them: the three are plain matrices."""
    found = compile_module((BLOCKS / "bert.mlir").read_text(), chip="h100", until="select")
    assert len(found.kernels) == 9
    (record,) = [each for each in found.kernels if each.problem is not None and each.problem.b_matrices]
    assert str(record.problem).startswith("4096x2304x768")
    assert "one kernel multiplies its A by 3 matrices" in record.note
    assert "a kernel for each" in record.note


def llama_block() -> Any:
    """The module of the same name beside the scripts for the GPU."""
    path = Path(__file__).parents[1] / "gpu" / "llama_block.py"
    found = importlib.util.spec_from_file_location("llama_block", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["llama_block"] = module
    found.loader.exec_module(module)
    return module


def numbers_of_llama(sizes: Any, given: list[np.ndarray]) -> np.ndarray:
    x, n1, wq, wk, wv, wo, n2, wg, wu, wd, cos, sin, mask = (each.astype(np.float64) for each in given)
    b, t, heads, keys, head, _ = sizes

    def norm(value: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return weights * value / np.sqrt((value**2).mean(-1, keepdims=True) + 1e-6)

    def turned(value: np.ndarray) -> np.ndarray:
        left, right = np.split(value, 2, -1)
        return value * cos + np.concatenate([-right, left], -1) * sin

    def divided(w: np.ndarray, count: int) -> np.ndarray:
        return (norm(x, n1) @ w.T).reshape(b, t, count, head).transpose(0, 2, 1, 3)

    q, k, v = turned(divided(wq, heads)), turned(divided(wk, keys)), divided(wv, keys)
    k, v = (np.repeat(each, heads // keys, 1) for each in (k, v))
    scores = q @ k.transpose(0, 1, 3, 2) * head**-0.5 + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    found = (weights / weights.sum(-1, keepdims=True)) @ v
    x = x + found.transpose(0, 2, 1, 3).reshape(b, t, -1) @ wo.T
    gate, up = (norm(x, n2) @ w.T for w in (wg, wu))
    return x + gate / (1 + np.exp(-gate)) * up @ wd.T


def test_a_block_of_llama_is_ten_launches() -> None:
    """A norm, queries beside keys and values, both turned, scores, their rows, what they weigh, its linear layer, a
    norm, both halves of the MLP, its end. Keys and values are read by all heads that share them where they lie."""
    module = llama_block()
    large = compile_module(module.text(module.Sizes(), "bf16"), chip="h100", until="lower")
    assert large.launch is not None
    assert len(large.launch.steps) == 10
    rng = np.random.default_rng(0)
    for sizes in (module.Sizes(2, 12, 4, 2, 16, 40), module.Sizes(1, 9, 2, 1, 8, 24)):
        given = [rng.standard_normal(shape).astype(np.float32) * 0.5 for shape in sizes.shapes()]
        kernel = mlir_gemm.compile(module.text(sizes, "f32"), device="simulator", chip="sm_80")
        assert len(kernel.launch.steps) <= 12
        np.testing.assert_allclose(np.asarray(kernel(*given)), numbers_of_llama(sizes, given), rtol=2e-4, atol=2e-4)


def test_sizes_known_at_run_time_only_lead_to_the_same_kernels_whatever_is_said_of_them() -> None:
    """The query, key and value of `open_attention_both` are one kernel at 512 rows by the model, and two at 2560."""
    source = (Path(__file__).parents[1] / "modules" / "front" / "open_attention_both.mlir").read_text()
    found = {
        tuple(kernel.name for kernel in compile_module(source, chip="sm_90a", until="select", hints=hints).kernels)
        for hints in ({}, {"s0": 2560, "s1": 2560}, {"s0": 16, "s1": 16})
    }
    assert len(found) == 1
