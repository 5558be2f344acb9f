"""The schedule: every decision about how a product is computed, as a value, as text and as an attribute in the IR."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mlir_gemm.errors import Location, ScheduleError
from mlir_gemm.spec import former_names
from mlir_gemm.spec.emulation import EMULATED
from mlir_gemm.spec.fields import Field
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.part_names import KINDS, names, own_default

Tile = tuple[int, int, int]

PRECISIONS = ("full", "tf32", "f16", "f8", *EMULATED)
STORAGES = ("auto", "static", "dynamic")
VECTOR_BITS = (16, 32, 64, 128)

SHARED = (
    Field("block", "Block tile: what one thread block computes in one step of its k loop."),
    Field(
        "warp",
        "Warp tile: what one warp computes in one step of the loop inside a block tile; where warpgroups multiply, "
        "what one warpgroup of four warps computes in one step of the k loop.",
    ),
    Field(
        "instruction",
        "Shape of the mma's instruction. Where the mma takes its N from the warp tile, this N is a unit.",
    ),
    Field("mma", "Which part multiplies; empty for the one that is taken where nobody says."),
    Field(
        "precision",
        "What may be less exact than the module says: `full` (nothing), `tf32` (f32 operands are rounded to 10 bits "
        "for the tensor cores), `f16` (a product of f16 with f16 results accumulates in f16) or `f8` (8-bit floats "
        "are multiplied as they are, and their sums keep as many bits as the tensor cores have for them). Others "
        "emulate a type by products of narrower ones: f32 by `3xtf32`, `3xbf16` or `6xbf16`, f64 by `ozaki`.",
        values=PRECISIONS,
    ),
    Field("mainloop", "Which part brings operands from global to shared memory; empty as for `mma`."),
    Field("promote", "Stage A and B in shared memory. Without it the mma reads global memory."),
    Field(
        "accumulate",
        "Keep the accumulator in registers across the k loop. Without it C is read and written in every k step.",
    ),
    Field("layout", "How rows lie in shared memory, a part too; empty as for `mma`."),
    Field("layout_b", "The same of B's rows, where they lie in another way than those of A; empty as `layout`."),
    Field("vector", "Bits that one thread moves in one access when it copies a tile.", values=VECTOR_BITS, unit="bits"),
    Field("unroll", "Unroll the copies and the k loop inside a block tile."),
    Field(
        "unroll_by",
        "Steps of the k loop inside a block tile that are unrolled together, in a loop over the rest; 0 unrolls all.",
        unit="steps",
    ),
    Field(
        "split_k_workspace",
        "Slices of k that are multiplied side by side, as a batch of products, and added up by a kernel after it, in a "
        "fixed order; `block` and all others are then those of that batch.",
        least=1,
    ),
    Field(
        "min_blocks",
        "Blocks that should fit on one SM at a time: the assembler then keeps registers low enough. 0 leaves it free.",
        most=32,
        unit="blocks",
    ),
    Field(
        "batch_invariant",
        "A row of the result has the same bits however many rows there are: the mma is chosen without regard to M, and "
        "the steps of k are not divided among blocks.",
    ),
    Field(
        "swap_ab",
        "A and B change places, D^T = B^T A^T: all tiles are those of the swapped product. Nothing moves in memory.",
    ),
    Field("raster", "The order in which blocks walk the result's tiles, a part too; empty as for `mma`."),
    Field(
        "storage",
        "Shared memory declared `static` (at most 48 KB) or `dynamic`; `auto` takes static when it fits.",
        values=STORAGES,
    ),
)
"""The fields that belong to no part."""


@dataclass(frozen=True)
class Schedule:
    """How one product is computed. Immutable, hashable and printable; `str` gives the text that `parse` takes.

    Tiles are (M, N, K) in elements. Every field can be set, so that the effect of each optimisation can be measured.
    Their types and defaults are here. `SHARED` describes the fields that every kernel has; the parts, in `parts/`,
    describe all others.
    """

    block: Tile = (128, 128, 64)
    warp: Tile = (64, 32, 16)
    instruction: Tile = (16, 16, 16)
    mma: str = ""
    precision: str = "full"
    mainloop: str = ""
    early: bool = True
    interleave: bool = True
    stages: int = 1
    promote: bool = True
    promote_a: bool = True
    promote_b: bool = True
    promote_c: bool = False
    promote_result: bool = False
    prefetch_c: bool = False
    accumulate: bool = True
    layout: str = ""
    layout_b: str = ""
    pad: int = 8
    pad_b: int = -1
    vector: int = 128
    unroll: bool = True
    unroll_by: int = 0
    smem_epilogue: bool = True
    dependent_launch: bool = True
    early_trigger: bool = True
    tiles_per_block: int = 1
    sequential_tiles: bool = True
    persistent: int = 0
    ping_pong: bool = False
    throttle: int = 0
    promotion: int = 0
    fragments_ahead: bool = False
    stream_k: int = 0
    cluster_m: int = 1
    cluster_n: int = 1
    split_k_cluster: int = 1
    split_k_workspace: int = 1
    l2_keep_a: int = PARTS
    l2_keep_b: int = PARTS
    min_blocks: int = 0
    batch_invariant: bool = False
    swap_ab: bool = False
    raster: str = ""
    raster_group: int = 8
    space: str = ""
    storage: str = "auto"
    own: tuple[tuple[str, Any], ...] = ()
    """Fields of parts from outside the package, by names such as `my_part.width`, sorted."""

    @property
    def warps(self) -> int:
        """Warps in a block; with `wgmma` the warpgroups that multiply."""
        return (self.block[0] // self.warp[0]) * (self.block[1] // self.warp[1])

    @property
    def cluster(self) -> int:
        """Blocks in a cluster."""
        return self.cluster_m * self.cluster_n * self.split_k_cluster

    @property
    def marks(self) -> bool:
        """Whether a part of an operand is marked as the first to leave L2."""
        return min(self.l2_keep_a, self.l2_keep_b) < PARTS

    def __str__(self) -> str:
        shown = ((name, self.value(name)) for name in _shown(self))
        return Schedule.text({name: value for name, value in shown if value != ""})  # an empty name says nothing

    @staticmethod
    def make(fields: Mapping[str, Any]) -> Schedule:
        """A schedule with these fields, those of parts from outside among them."""
        if fields.keys() <= FIELDS.keys():
            return _made({**FIELDS, **fields, "own": ()})
        own: dict[str, Any] = dict(fields.get("own", ()))
        own.update({name: value for name, value in fields.items() if "." in name})
        named: dict[str, Any] = (
            {name: value for name, value in fields.items() if "." not in name} if own else {**fields}
        )
        named["own"] = tuple(sorted(own.items()))
        return Schedule(**named)

    def value(self, name: str) -> Any:
        """A field by its name; of a part from outside, its default where it is not set."""
        return dict(self.own).get(name, own_default(name)) if "." in name else getattr(self, name)

    def replace(self, **changes: Any) -> Schedule:
        """A copy with some fields changed."""
        if changes.keys() <= FIELDS.keys():
            return _made({**self.__dict__, **changes})
        return Schedule.make({**self.__dict__, **changes})

    @staticmethod
    def text(fields: Mapping[str, Any]) -> str:
        """Some fields as text that `parse` takes."""
        return ",".join(f"{name}={_show(value)}" for name, value in fields.items())

    @staticmethod
    def parse(text: str) -> dict[str, Any]:
        """The fields that `text` sets, such as `block=128x128x64,stages=2`, as a dict of checked values.

        Raises ScheduleError for a name that is not a field, a value of the wrong form, or a field given twice.
        """
        fields: dict[str, Any] = {}
        for item in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = (part.strip() for part in item.partition("="))
            if not equals:
                raise ScheduleError(f"schedule item '{item}' has no value; write name=value, as in block=128x128x64")
            if name in fields:
                raise ScheduleError(f"schedule field '{name}' is given twice")
            fields[name] = _read(name, value, None)
        return fields

    @staticmethod
    def check_fields(fields: Mapping[str, Any], location: Location | None = None) -> dict[str, Any]:
        """The same fields, each checked for name, type and range; values may be texts as `parse` takes them. Raises
        ScheduleError."""
        return {
            name: _read(name, value, location) if isinstance(value, str) else _checked(name, value, location)
            for name, value in fields.items()
        }


def _made(values: Mapping[str, Any]) -> Schedule:
    """A schedule with a value for each field, in their order. A search makes thousands: this takes a quarter of the
    time of the class's own `__init__`, which sets field after field of what is frozen."""
    made = object.__new__(Schedule)
    made.__dict__.update(values)
    return made


def _all_fields(_: Schedule) -> Iterable[str]:
    return FIELDS


def _shared_field(name: str) -> Field | None:
    return _SHARED_BY_NAME.get(name)


_shown: Callable[[Schedule], Iterable[str]] = _all_fields
_field: Callable[[str], Field | None] = _shared_field


def ask_parts(fields_of: Callable[[Schedule], Iterable[str]], field: Callable[[str], Field | None]) -> None:
    """Has `str` show only the fields of the parts that a schedule has, and values checked as their parts say."""
    global _shown, _field
    _shown, _field = fields_of, field


FIELDS: dict[str, Any] = {each.name: each.default for each in dataclasses.fields(Schedule) if each.name != "own"}
_SHARED_BY_NAME = {each.name: each for each in SHARED}
QUIET = (
    "space", "promote_a", "promote_b", "promote_c", "promote_result", "prefetch_c", "layout_b", "pad_b",
    "unroll_by",    "tiles_per_block", "sequential_tiles", "fragments_ahead",
)  # fmt: skip
"""Fields that a schedule shows only where they differ from their defaults: most say nothing of them."""
_TRUTH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "x".join(map(str, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else str(value)


def default_of(name: str, location: Location | None) -> Any:
    """The default of a field of the schedule. Raises ScheduleError for a name that no field has."""
    if name in FIELDS:
        return FIELDS[name]
    if own_default(name) is not None:
        return own_default(name)
    if name in former_names.FIELDS:
        raise ScheduleError(f"the schedule field '{name}' is called '{former_names.FIELDS[name]}' now", location)
    close = difflib.get_close_matches(name, FIELDS, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise ScheduleError(f"unknown schedule field '{name}'{hint} (fields: {', '.join(FIELDS)})", location)


def _read(name: str, text: str, location: Location | None) -> Any:
    default = default_of(name, location)
    if name in KINDS and name != "layout_b" and not text:
        raise ScheduleError(f"schedule field '{name}=': expected one of {', '.join(names(name))}", location)
    try:
        if isinstance(default, bool):
            value: Any = _TRUTH[text.lower()]
        elif isinstance(default, tuple):
            value = tuple(int(part) for part in text.split("x"))
        elif isinstance(default, int):
            value = int(text)
        else:
            value = text
    except (KeyError, ValueError):
        forms = {"bool": "on or off", "tuple": "MxNxK, as in 128x128x64", "int": "an integer"}
        expected = forms[type(cast("object", default)).__name__]
        raise ScheduleError(f"schedule field '{name}={text}': expected {expected}", location) from None
    return _checked(name, value, location)


def _checked(name: str, value: Any, location: Location | None) -> Any:
    default = default_of(name, location)
    shown = f"schedule field '{name}={_show(value)}'"
    if isinstance(default, tuple):
        sizes = list(cast("tuple[Any, ...]", value)) if isinstance(value, (list, tuple)) else []
        if len(sizes) != 3 or not all(type(size) is int and size > 0 for size in sizes):
            raise ScheduleError(f"{shown}: expected three positive sizes MxNxK, as in 128x128x64", location)
        return tuple(sizes)
    if type(value) is not type(default):
        raise ScheduleError(f"{shown}: expected a value like {_show(default)}", location)
    if name in KINDS and value in former_names.MAINLOOPS:
        raise ScheduleError(f"{shown}: '{value}' is called '{former_names.MAINLOOPS[value]}' now", location)
    if name in KINDS and value not in ("", *names(name)):
        raise ScheduleError(f"{shown}: expected one of {', '.join(names(name))}", location)
    field = _field(name)
    expected = field.expected(value) if field else ""
    if expected:
        raise ScheduleError(f"{shown}: expected {expected}", location)
    return value
