"""Small kernels for tests of the simulator: a module around the code of a few lanes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from mlir_gemm.simulator.kernel import Report, simulate


def kernel(
    code: str, arguments: str, *, threads: int = 64, blocks: int = 1, roles: str = "inout", shared: int = 256
) -> str:
    """A module that launches `code`; `arguments` are types of memrefs, named %a, %b, ... in it."""
    types = arguments.split(" ")
    names = [f"%{chr(ord('a') + place)}" for place in range(len(types))]
    inner = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
    each = zip(names, types, roles.split(" ") * len(types), strict=False)
    host = ", ".join(f'{name}: {type_} {{tile.role = "{role}"}}' for name, type_, role in each)
    handed = ", ".join(f"{name} : {type_}" for name, type_ in zip(names, types, strict=True))
    return f"""module attributes {{gpu.container_module}} {{
  func.func @f({host}) {{
    %one = arith.constant 1 : index
    %threads = arith.constant {threads} : index
    %blocks = arith.constant {blocks} : index
    gpu.launch_func @m::@k blocks in (%blocks, %one, %one) threads in (%threads, %one, %one) args({handed})
    return
  }}
  gpu.module @m {{
    memref.global "private" @s : memref<{shared}xi8, 3> = uninitialized {{alignment = 128 : i64}}
    gpu.func @k({inner}) kernel {{
      %t = gpu.thread_id x
      %blk = gpu.block_id x
      %lane = gpu.lane_id
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %bytes = memref.get_global @s : memref<{shared}xi8, 3>
      %s = memref.view %bytes[%c0][] : memref<{shared}xi8, 3> to memref<{shared // 4}xf32, 3>
{code}
      gpu.return
    }}
  }}
}}"""


DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
CONSTANTS = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (2, 3, 4, 7, 8, 16, 24, 60))


def random(element: str, *shape: int, seed: int = 0) -> Any:
    """Random numbers that suit a type."""
    rng = np.random.default_rng([seed, *shape])
    numbers = rng.integers(-8, 9, shape) if element.startswith("i") else rng.standard_normal(shape)
    return numbers.astype(DTYPES[element])


def run(code: str, arrays: list[Any], **options: Any) -> Report:
    """Runs code on arrays, which it knows as %a, %b, ..."""
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    types = [f"memref<{'x'.join([*map(str, a.shape), names[a.dtype]])}>" for a in arrays]
    return simulate(kernel(CONSTANTS + code, " ".join(types), **options), arrays)
