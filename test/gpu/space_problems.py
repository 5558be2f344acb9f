"""The problems whose spaces `check_whole_spaces.py` measures: those of the lists that results were recorded of, and
others that a seed draws, which nobody has seen."""

from __future__ import annotations

import random

from space_times import Row

ONE: tuple[Row, ...] = (
    ("small", 184, 264, 520, "f16", "f16", "NN", "none"),
    ("small, epilogue", 96, 512, 768, "bf16", "bf16", "NT", "bias_gelu"),
    ("skinny", 12, 7168, 2560, "bf16", "bf16", "NT", "none"),
    ("skinny", 40, 3072, 8704, "f16", "f16", "NN", "none"),
    ("one row", 1, 6144, 10752, "f16", "f16", "NT", "none"),
    ("deep", 320, 448, 18944, "f16", "f16", "NT", "none"),
    ("odd", 1045, 1531, 907, "f16", "f16", "NN", "none"),
    ("epilogue", 1408, 1664, 2432, "f16", "f16", "NT", "bias_gelu"),
    ("gate", 704, 2944, 1792, "bf16", "bf16", "TN", "silu_mul"),
    ("bytes", 1216, 2048, 3200, "s8", "i32", "NT", "none"),
    ("f32", 456, 872, 1208, "f32", "f32", "NN", "none"),
    ("f64", 392, 648, 936, "f64", "f64", "NT", "none"),
)
KNOWN: tuple[Row, ...] = (
    ("known", 1, 5120, 13824, "bf16", "bf16", "NT", "none"),
    ("known", 448, 832, 704, "f64", "f64", "NN", "none"),
    ("known", 33, 33, 500000, "f16", "f16", "NT", "none"),
)
"""On which the model erred."""
FEW_ROWS = 14
LARGEST, MOST_FLOPS, LEAST_FLOPS = 1 << 28, 2**37, 2**26
"""Bytes and FLOPs of a problem of part two."""


def drawn(count: int, seed: int) -> list[Row]:
    """Random problems, sizes alike on a logarithmic scale: some with few rows, some with a long k, others of any
    kind."""
    rng = random.Random(seed)

    def size(low: int, high: int, grain: int) -> int:
        return max(grain, round(low * (high / low) ** rng.random() / grain) * grain)

    found: list[Row] = []
    while len(found) < count:
        place = len(found) % 20
        grain = rng.choice((1, 8, 8, 64, 64, 128))
        dtype, layout = rng.choice(("f16", "bf16")), rng.choice(("NN", "NT", "NT", "TN", "TT"))
        if place % 3 == 0 and place < 3 * FEW_ROWS // 2:
            m, n, k = size(1, 16, 1), size(1024, 24576, max(grain, 8)), size(1024, 16384, max(grain, 8))
            layout = rng.choice(("NN", "NT"))
        elif place in (1, 8, 13):
            m, n, k = size(8, 256, 8), size(8, 256, 8), size(100_000, 1_000_000, 64)
            layout = rng.choice(("NN", "NT"))
        else:
            m, n, k = size(16, 4096, grain), size(16, 8192, grain), size(64, 16384, grain)
            dtype = rng.choice(("f16", "f16", "bf16", "bf16", "f16", "f64", "s8", "f32"))
        flops, each = 2 * m * n * k, {"f64": 8, "f32": 4, "s8": 1}.get(dtype, 2)
        most = MOST_FLOPS / {"f64": 16, "f32": 16}.get(dtype, 1)
        if LEAST_FLOPS <= flops <= most and each * (m * k + k * n + m * n) <= LARGEST:
            found.append(("random", m, n, k, dtype, "i32" if dtype == "s8" else dtype, layout, "none"))
    return found


def large(count: int, seed: int) -> list[Row]:
    """Random problems of the sizes of language models, whose time tensor cores, power and L2 decide."""
    rng = random.Random(seed)
    found: list[Row] = []
    while len(found) < count:
        m, n, k = (
            round(low * (high / low) ** rng.random() / 8) * 8 for low, high in ((256, 8192), (768, 32768), (512, 16384))
        )
        m, n, k = (round(size / 256) * 256 if size > 512 and rng.random() < 0.7 else size for size in (m, n, k))
        if 2**33 <= 2 * m * n * k <= 2**41 and 2 * (m * k + k * n + m * n) <= 1 << 30:
            dtype, layout = rng.choice(("f16", "bf16")), rng.choice(("NN", "NT", "NT"))
            found.append(("large", m, n, k, dtype, dtype, layout, "none"))
    return found


def named(text: str) -> Row:
    """A problem by its sizes, its type and the orders of A and B, as 256x1024x16384:f16:NT."""
    sizes, dtype, layout = text.split(":")
    m, n, k = map(int, sizes.split("x"))
    return ("named", m, n, k, dtype, "i32" if dtype == "s8" else dtype, layout, "none")


def of_each_kind(seed: int) -> list[Row]:
    """Twelve problems like those of ONE, of sizes that a seed draws."""
    rng = random.Random(f"kinds {seed}")

    def size(low: int, high: int, grain: int = 8) -> int:
        return max(grain, round(low * (high / low) ** rng.random() / grain) * grain)

    def odd(low: int, high: int) -> int:
        return size(low, high, 2) + 1

    return [
        ("small", size(96, 384), size(96, 384), size(256, 1024), "f16", "f16", "NN", "none"),
        ("small, epilogue", size(64, 256), size(256, 768), size(256, 1024), "bf16", "bf16", "NT", "bias_gelu"),
        ("skinny", size(9, 16, 1), size(3072, 12288, 64), size(1024, 6144, 64), "bf16", "bf16", "NT", "none"),
        ("skinny", size(24, 64), size(2048, 8192, 64), size(3072, 12288, 64), "f16", "f16", "NN", "none"),
        ("one row", 1, size(4096, 16384, 64), size(4096, 16384, 64), "f16", "f16", "NT", "none"),
        ("deep", size(192, 640, 64), size(192, 640, 64), size(10240, 40960, 64), "f16", "f16", "NT", "none"),
        ("odd", odd(600, 2000), odd(600, 2000), odd(500, 1500), "f16", "f16", "NN", "none"),
        ("epilogue", size(768, 2048, 64), size(1024, 3072, 64), size(1024, 4096, 64), "f16", "f16", "NT", "bias_gelu"),
        ("gate", size(512, 1024, 64), size(2048, 4096, 64), size(1024, 3072, 64), "bf16", "bf16", "TN", "silu_mul"),
        ("bytes", size(768, 2048, 64), size(1024, 3072, 64), size(2048, 6144, 64), "s8", "i32", "NT", "none"),
        ("f32", size(320, 800), size(640, 1280), size(800, 1600), "f32", "f32", "NN", "none"),
        ("f64", size(256, 640), size(512, 1024), size(640, 1280), "f64", "f64", "NT", "none"),
    ]
