"""What was decided about a product in a form that outlives names: the only place of the guards that a rename touches.

Each field has a key, which never changes, and the value that counts as nothing said, which does not change either when
a default does. A field that is renamed gets its new name here, on the left; one whose values are renamed gets them in
VALUES. A new field is added with the value that leaves kernels as they were: what is recorded then stays as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from mlir_gemm.spec.kernel_record import KernelRecord
from mlir_gemm.spec.schedule import Schedule

DIGITS = 16
"""Of a hash, in hexadecimal."""
FIELDS: dict[str, tuple[str, Any]] = {
    "block": ("block", (128, 128, 64)),
    "warp": ("warp", (64, 32, 16)),
    "instruction": ("instruction", (16, 16, 16)),
    "mma": ("operator", "wmma"),
    "precision": ("precision", "full"),
    "mainloop": ("copy", "register_prefetch"),
    "early": ("early", True),
    "interleave": ("spread", True),
    "stages": ("stages", 1),
    "promote": ("promote", True),
    "promote_a": ("promote_a", True),
    "promote_b": ("promote_b", True),
    "promote_c": ("promote_c", False),
    "promote_result": ("promote_result", False),
    "prefetch_c": ("prefetch_c", False),
    "accumulate": ("accumulate", True),
    "layout": ("layout", "pad"),
    "layout_b": ("layout_b", ""),
    "pad": ("pad", 8),
    "pad_b": ("pad_b", -1),
    "vector": ("vector", 128),
    "unroll": ("unroll", True),
    "unroll_by": ("unroll_by", 0),
    "smem_epilogue": ("bulk", True),
    "dependent_launch": ("overlap", True),
    "early_trigger": ("ahead", True),
    "tiles_per_block": ("tiles_per_block", 1),
    "sequential_tiles": ("sequential_tiles", True),
    "persistent": ("persistent", 0),
    "ping_pong": ("turns", False),
    "throttle": ("pace", 0),
    "promotion": ("promotion", 0),
    "fragments_ahead": ("fragments_ahead", False),
    "stream_k": ("stream", 0),
    "cluster_m": ("cluster_m", 1),
    "cluster_n": ("cluster_n", 1),
    "split_k_cluster": ("split", 1),
    "split_k_workspace": ("divide", 1),
    "l2_keep_a": ("keep_a", 32),
    "l2_keep_b": ("keep_b", 32),
    "min_blocks": ("resident", 0),
    "batch_invariant": ("batch_invariant", False),
    "swap_ab": ("exchanged", False),
    "raster": ("raster", "grouped"),
    "raster_group": ("group", 8),
    "storage": ("storage", "auto"),
    "space": ("space", ""),
    "own": ("own", ()),
}
"""By the present name of a schedule's field: its key, and its neutral value."""
VALUES: dict[tuple[str, Any], Any] = {
    ("turns", True): 2,
    ("copy", "direct"): "plain",
    ("copy", "register_prefetch"): "prefetch",
}
"""By key and present value: what the value was called when this was first recorded."""
KINDS = {"elementwise": "points"}
"""By the present kind of a kernel: what it was called when this was first recorded."""
SCRATCH = {"partials": "parts"}
"""The same of the memory that a launch provides."""
STEP = {"dependent_launch": "overlap"}
"""The same of the keys of a launch's steps."""
PROBLEM = {
    "m": "m", "n": "n", "k": "k", "batch": "batch", "a_order": "a_order", "b_order": "b_order", "a_vector": "a_vector",
    "b_vector": "b_vector",
}  # fmt: skip
"""Keys of the attributes of a problem that tell what was done to a product before its schedule was chosen: operands
re-laid out, k divided, sides exchanged."""


def canonical(schedule: Schedule) -> dict[str, Any]:
    """A schedule by keys, without what is neutral."""
    found: dict[str, Any] = {}
    for name in type(schedule).__dataclass_fields__:
        if name not in FIELDS:
            raise KeyError(f"the schedule's field '{name}' has no key in test/guards/canonical.py; add it to FIELDS")
        (key, neutral), value = FIELDS[name], getattr(schedule, name)
        if value not in (neutral, ""):
            found[key] = VALUES.get((key, value), value)
    return found


def decisions(kernels: Iterable[KernelRecord]) -> list[dict[str, Any]]:
    """What was decided for the kernels of a module, in order."""
    found: list[dict[str, Any]] = []
    for kernel in kernels:
        found.append({"kind": KINDS.get(kernel.kind, kernel.kind)})
        if kernel.problem is not None and kernel.schedule is not None:
            found[-1] |= {key: getattr(kernel.problem, name) for name, key in PROBLEM.items()}
            found[-1]["schedule"] = canonical(kernel.schedule)
    return found


def launched(information: Mapping[str, Any]) -> Mapping[str, Any]:
    """Launch information as it was first recorded."""
    information = {STEP.get(key, key): value for key, value in information.items()}  # where there is one step alone
    if "steps" in information:
        steps = [{STEP.get(key, key): value for key, value in each.items()} for each in information["steps"]]
        information["steps"] = steps
    buffers = [
        {**each, "scratch": SCRATCH.get(each["scratch"], each["scratch"])} if "scratch" in each else each
        for each in information.get("buffers", ())
    ]
    return {**information, "buffers": buffers} if buffers else information


def hashed(data: Any) -> str:
    """A short hash of plain data."""
    return digest(json.dumps(data, sort_keys=True))


def digest(text: str) -> str:
    """A short hash of text."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def shortened(schedule: Schedule) -> str:
    """A schedule as text, without the fields that have neutral values."""
    shown = dict(item.split("=") for item in str(schedule).split(","))
    return ",".join(f"{name}={shown[name]}" for name in shown if getattr(schedule, name) != FIELDS[name][1])


def lengthened(text: str) -> Mapping[str, Any]:
    """All fields of a schedule of which `shortened` gave the text."""
    return {name: neutral for name, (_, neutral) in FIELDS.items() if name != "own"} | Schedule.parse(text)
