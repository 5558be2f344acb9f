"""Products of one A by several matrices, on the GPU of this machine: as one kernel, as one for each, and PyTorch.

    python test/gpu/check_joins.py [--only gated heads] [--blocks bert gated_rms] [--llama] [--compile] [--seconds 80]

A gated MLP's first half (`silu(x G') * (x U')`), keys and values, and queries, keys and values, each `joined` by
`join-products` whatever the model says, `apart`, and as PyTorch computes it; `heads` are queries, keys and values of
grouped heads, of other widths, `joined` in one launch (`select-side-by-side`) with keys and values as the model has
them, or all `beside` each other, and by PyTorch also as one product, by a matrix of all columns. Before them whole
blocks of `bench/block_functions.py`, and two of Llama (`llama_block.py`). On random data, compared with float64. Times
are of launches back to back, in turn, the median of five rounds, with the GPU held until they are queued. `--compile`
adds `torch.compile`, `-o F` writes a file. Exit status 1 where one is wrong, rounds more than PyTorch, or is not
joined.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

os.environ["MLIR_GEMM_CACHE"] = "off"  # the same source is compiled in two ways

import mlir_gemm
from mlir_gemm.bench import functions
from mlir_gemm.pipeline.selection import select_joins, select_side_by_side
from mlir_gemm.runtime import cache

sys.path.insert(0, str(Path(__file__).parent))
import llama_block
from launch_times import microseconds

Widths = int | tuple[int, ...]
SIZES: tuple[tuple[str, int, Widths, int, str, str], ...] = (
    ("gated", 512, 14336, 4096, "bf16", "nk"), ("gated", 4096, 14336, 4096, "bf16", "nk"),
    ("gated", 1024, 5632, 2048, "bf16", "nk"), ("gated", 64, 14336, 4096, "bf16", "nk"),
    ("gated", 2048, 8192, 2048, "f16", "kn"), ("gated", 256, 2816, 1024, "f16", "nk"),
    ("gated", 1000, 1000, 1000, "f32", "nk"),
    ("two", 2048, 1024, 4096, "bf16", "nk"), ("two", 512, 1024, 4096, "bf16", "nk"),
    ("two", 4096, 512, 2048, "f16", "kn"), ("three", 512, 1024, 1024, "f16", "nk"),
    ("three", 4096, 768, 768, "f16", "nk"), ("three", 256, 2048, 2048, "bf16", "nk"),
    *(("heads", m, (4096, 1024, 1024), 4096, "bf16", "nk") for m in (1, 16, 512, 4096)),
    ("heads", 2048, (3072, 1024, 1024), 3072, "f16", "nk"), ("heads", 300, (2048, 520, 264), 2048, "f16", "kn"),
)  # fmt: skip
"""What, m, the columns of each matrix, k, the type, and how the matrices lie."""
Worth = tuple[float | None, float | None]
MATRICES: dict[str, Worth] = {"joined": (float("inf"), 0.0), "apart": (0.0, 0.0)}
"""Within which part of the time products are joined, by one tile and by one launch; None for what is usual."""
LAUNCHES_OF: dict[str, Worth] = {"joined": (None, float("inf")), "apart": (None, 0.0)}
HEADS: dict[str, Worth] = {**LAUNCHES_OF, "beside": (0.0, float("inf"))}
LLAMA = (llama_block.Sizes(), llama_block.Sizes(1, 2048, 32, 8, 128, 14336))
WORSE, LAUNCHES = 1.1, 20
COUNTS = {"gated": 2, "two": 2, "three": 3, "heads": 3}
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}

HEAD = """\
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> ({b})>
#d = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>
func.func @f(%x: tensor<{m}x{k}x{t}>, {matrices}) -> ({results}) {{
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
"""
PRODUCT = """\
  %e{i} = tensor.empty() : tensor<{m}x{n}xf32>
  %f{i} = linalg.fill ins(%z : f32) outs(%e{i} : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %p{i} = linalg.matmul indexing_maps = [#a, #b, #d] ins(%x, %w{i} : tensor<{m}x{k}x{t}>, tensor<{w}x{t}>)
      outs(%f{i} : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
"""
STORED = """\
  %o{i} = tensor.empty() : tensor<{m}x{n}x{t}>
  %r{i} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins({ins} : {types}) outs(%o{i} : tensor<{m}x{n}x{t}>) {{
  ^bb0({arguments}, %c: {t}):
{body}  }} -> tensor<{m}x{n}x{t}>
"""
GATE = """\
    %n = arith.negf %g : f32
    %x0 = math.exp %n : f32
    %s = arith.addf %x0, %one : f32
    %q = arith.divf %g, %s : f32
    %v = arith.mulf %q, %u : f32
"""


def widths(what: str, n: Widths) -> tuple[int, ...]:
    """The columns of each matrix."""
    return (n,) * COUNTS[what] if isinstance(n, int) else n


def source(what: str, m: int, n: Widths, k: int, t: str, order: str) -> str:
    """The text of a case."""
    each = [{"m": m, "n": n, "k": k, "t": t, "w": f"{n}x{k}" if order == "nk" else f"{k}x{n}"} for n in widths(what, n)]
    count, sizes = len(each), each[0]
    results = ["tensor<{m}x{n}x{t}>".format(**one) for one in (each[:1] if what == "gated" else each)]
    matrices = ", ".join(f"%w{i}: tensor<{one['w']}x{t}>" for i, one in enumerate(each))
    text = HEAD.format(b=", ".join(order), matrices=matrices, results=", ".join(results), **sizes)
    text += "".join(PRODUCT.format(i=i, **one) for i, one in enumerate(each))
    wide = ["tensor<{m}x{n}xf32>".format(**one) for one in each]
    narrow = f"    %y = arith.truncf %v : f32 to {t}\n    linalg.yield %y : {t}\n"
    last = narrow if t != "f32" else "    linalg.yield %v : f32\n"
    if what == "gated":
        text += STORED.format(i=0, maps="#e, #e, #e", ins="%p0, %p1", types=f"{wide[0]}, {wide[1]}",
                              arguments="%g: f32, %u: f32", body=GATE + last, **sizes)  # fmt: skip
    for i in range(count) if what != "gated" else ():
        text += STORED.format(i=i, maps="#e, #e", ins=f"%p{i}", types=wide[i], arguments="%v: f32", body=last,
                              **each[i])  # fmt: skip
    names = ", ".join(f"%r{i}" for i in range(len(results)))
    return f"{text}  return {names} : {', '.join(results)}\n}}\n"


def eager(what: str, order: str, x: Any, *matrices: Any) -> tuple[Any, ...]:
    """What the text says."""
    made = [x @ (w.T if order == "nk" else w) for w in matrices]
    return (torch.nn.functional.silu(made[0]) * made[1],) if what == "gated" else tuple(made)


def compiled(text: str, worth: Worth) -> mlir_gemm.Kernel:
    """A module with products of one A in one kernel, and in one launch, within these parts of their time."""
    usual = select_joins.WORTH, select_joins.KEPT, select_side_by_side.WORTH
    tile, launch = worth
    if tile is not None:
        select_joins.WORTH = select_joins.KEPT = tile
    if launch is not None:
        select_side_by_side.WORTH = launch
    try:
        cache.forget()
        return mlir_gemm.compile(text, device="gpu")
    finally:
        select_joins.WORTH, select_joins.KEPT, select_side_by_side.WORTH = usual


def predicted(kernel: mlir_gemm.Kernel) -> str:
    """What notes say of the times of either way."""
    return " | ".join(each.note for each in kernel.kernels if "matrices" in each.note or "at once" in each.note)


def error(found: Any, wanted: tuple[Any, ...]) -> float:
    """Of all results, the largest."""
    results = found if isinstance(found, tuple | list) else (found,)
    return max(float((a.double() - b).norm() / b.norm()) for a, b in zip(results, wanted, strict=True))


def measured(
    name: str, text: str, given: list[Any], calls: dict[str, Callable[[], Any]], wanted: Any, ways: dict[str, Worth]
) -> dict[str, Any]:
    """A row of results: all ways to compile a module beside others' calls."""
    kernels = {way: compiled(text, worth) for way, worth in ways.items()}
    runs = {each: (lambda kernel=kernel: kernel(*given)) for each, kernel in kernels.items()} | calls
    errors = {each: error(call(), wanted) for each, call in runs.items()}
    times = microseconds(list(runs.values()), torch, LAUNCHES, lambda: torch.cuda._sleep(4_000_000))
    took = dict(zip(runs, times, strict=True))
    count = {each: len(kernel.launch.steps) for each, kernel in kernels.items()}
    shown = "  ".join(f"{each} {took[each]:8.1f} us {errors[each]:.1e}" for each in runs)
    print(f"{name:34s} {shown}  {count}  {predicted(kernels['joined'])}", flush=True)
    return {"case": name, "us": took, "errors": errors, "kernels": count, "predicted": predicted(kernels["joined"])}


def _llama(sizes: llama_block.Sizes, compiled_too: bool) -> dict[str, Any]:
    """A row of results of a block of Llama."""
    torch.manual_seed(sizes.t)
    given = [torch.randn(shape, device="cuda") * (shape[-1] ** -0.5 if len(shape) == 2 else 1)
             for shape in sizes.shapes()]  # fmt: skip
    angle = torch.arange(sizes.t, device="cuda")[:, None] / 1e4 ** (torch.arange(sizes.head // 2, device="cuda") * 2.0
                                                                     / sizes.head)  # fmt: skip
    given[10], given[11] = (torch.cat([turn, turn], -1)[None, None] for turn in (angle.cos(), angle.sin()))
    given[12] = torch.triu(torch.full((sizes.t, sizes.t), -1e4, device="cuda"), 1)[None, None]
    given = [each.to(torch.bfloat16) for each in given]
    exact = llama_block.eager(torch, sizes, *(each.double() for each in given))
    calls: dict[str, Callable[[], Any]] = {"torch": lambda: llama_block.eager(torch, sizes, *given)}
    if compiled_too:
        fast = torch.compile(llama_block.eager)
        calls["torch.compile"] = lambda: fast(torch, sizes, *given)
    name = "llama " + "x".join(map(str, sizes))
    return measured(name, llama_block.text(sizes, "bf16"), given, calls, (exact,), LAUNCHES_OF)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", type=Path)
    parser.add_argument("--only", choices=tuple(COUNTS), nargs="*", default=tuple(COUNTS))
    parser.add_argument("--blocks", nargs="*", default=("bert", "gated_rms", "swiglu512"))
    parser.add_argument("--llama", action="store_true", help="blocks of Llama too")
    parser.add_argument("--compile", action="store_true", help="torch.compile too")
    parser.add_argument("--seconds", type=float, default=80.0)
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    rows: list[dict[str, Any]] = []
    for name in options.blocks:
        block = functions.of_block(name, Path(__file__).parents[2] / "examples" / "blocks")
        drawn = block.draw(torch, 1)
        calls: dict[str, Callable[[], Any]] = {"torch": drawn.run}
        if options.compile:
            calls["torch.compile"] = drawn.compiled
        if time.monotonic() < until:
            rows.append(measured(name, block.source, drawn.inputs, calls, drawn.exact(), MATRICES))
    for sizes in LLAMA if options.llama else ():
        if time.monotonic() < until:
            rows.append(_llama(sizes, options.compile))
    for what, m, n, k, t, order in SIZES:
        if what not in options.only or time.monotonic() > until:
            continue
        columns = widths(what, n)
        torch.manual_seed(m + columns[0] + k)
        shapes = [(m, k), *((each, k) if order == "nk" else (k, each) for each in columns)]
        given = [torch.randn(shape, device="cuda").to(TYPES[t]) / (1 if not i else k**0.5)
                 for i, shape in enumerate(shapes)]  # fmt: skip
        wanted = eager(what, order, *(each.double() for each in given))
        calls = {"torch": lambda w=what, o=order, g=given: eager(w, o, *g)}
        if options.compile:
            fast = torch.compile(eager)
            calls["torch.compile"] = lambda f=fast, w=what, o=order, g=given: f(w, o, *g)
        if what == "heads":
            whole = torch.cat(given[1:], order.index("n"))
            calls["torch, one matrix"] = lambda w=whole, o=order, g=given, c=columns: (
                g[0] @ (w.T if o == "nk" else w)
            ).split(c, 1)
        name = f"{what} {m}x{'+'.join(map(str, dict.fromkeys(columns)))}x{k} {t} {order}"
        ways = HEADS if what == "heads" else MATRICES
        rows.append(measured(name, source(what, m, n, k, t, order), given, calls, wanted, ways))
    if options.o:
        options.o.write_text(json.dumps({"device": torch.cuda.get_device_name(), "rows": rows}, indent=1))
    wrong = [row["case"] for row in rows
             if not row["errors"]["joined"] <= max(WORSE * row["errors"]["torch"], 1e-6)
             or row["kernels"]["joined"] >= row["kernels"]["apart"]]  # fmt: skip
    print(*(f"wrong: {case}" for case in wrong), sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
