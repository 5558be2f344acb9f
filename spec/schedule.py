"""The schedule: every decision about how a product is computed, as a value, as text and as an attribute in the IR."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mlir_gemm.errors import Location, ScheduleError
from mlir_gemm.spec import former_names
from mlir_gemm.spec.l2_policy import PARTS
from mlir_gemm.spec.part_names import KINDS, names, own_default

Tile = tuple[int, int, int]

PRECISIONS = ("full", "tf32", "f16", "f8")
STORAGES = ("auto", "static", "dynamic")
VECTOR_BITS = (16, 32, 64, 128)


@dataclass(frozen=True)
class Schedule:
    """How one product is computed. Immutable, hashable and printable; `str` gives the text that `parse` takes.

    Tiles are (M, N, K) in elements. Every field can be set, so that the effect of each optimisation can be measured.
    Fields that name a part (`mma`, `mainloop`, `layout`, `raster`) may be left empty: the default part of that kind.
    """

    block: Tile = (128, 128, 64)
    """Block tile: what one thread block computes in one step of its k loop."""
    warp: Tile = (64, 32, 16)
    """Warp tile: what one warp computes in one step of the loop inside a block tile; with `wgmma` what one warpgroup of
    four warps computes in one step of the k loop."""
    instruction: Tile = (16, 16, 16)
    """Shape of the tensor-core operation. With `wgmma` its N is a unit: the operation takes the warp tile's."""
    mma: str = ""
    """Which operation multiplies: `wmma` (16x16x16 fragments), `mma_sync` (ldmatrix and mma.sync), `simt` (FMA) or
    `wgmma` (whole warpgroups on shared memory)."""
    precision: str = "full"
    """What may be less exact than the module says: `full` (nothing), `tf32` (f32 operands are rounded to 10 bits for
    the tensor cores), `f16` (a product of f16 with f16 results accumulates in f16) or `f8` (8-bit floats are multiplied
    as they are, and their sums keep as many bits as the tensor cores have for them)."""
    mainloop: str = ""
    """How global memory reaches shared memory: `direct` (copy, then compute), `register_prefetch` (the next k tile is
    loaded into registers before the compute and stored to shared memory after it), `cp_async` (asynchronous copies,
    `stages` - 1 k tiles ahead) or `tma` (one warp copies by the copy engine, up to `stages` k tiles ahead)."""
    early: bool = True
    """With `register_prefetch`: issue the loads of the next k tile before the barrier rather than after it."""
    interleave: bool = True
    """With `cp_async` and `mma_sync`: issue the copies of a step between its products rather than before them."""
    stages: int = 1
    """Buffers in shared memory for each operand. With 2, `register_prefetch` needs one barrier for a k step, not
    two."""
    promote: bool = True
    """Stage A and B in shared memory. Without it the mma reads global memory."""
    accumulate: bool = True
    """Keep the accumulator in registers across the k loop. Without it C is read and written in every k step."""
    layout: str = ""
    """How rows lie in shared memory: `pad` (`pad` elements after each row) or `xor` (the 16-byte chunks of a row change
    places, by XOR with the row's number) or `swizzle128` (panels of 128-byte rows, of 64 or 32 bytes for an operand
    whose rows wider ones do not divide, swizzled by the copy engine)."""
    pad: int = 8
    """Elements added to each row of the shared-memory buffers, against bank conflicts."""
    vector: int = 128
    """Bits that one thread moves in one access when it copies a tile."""
    unroll: bool = True
    """Unroll the copies and the k loop inside a block tile."""
    smem_epilogue: bool = True
    """With `tma`: results leave through shared memory by the copy engine too, where it can write them."""
    dependent_launch: bool = True
    """With `tma`: the kernel starts while the one before it in the stream still runs, and waits before it touches
    memory (programmatic dependent launch)."""
    early_trigger: bool = True
    """With `dependent_launch`: the next kernel starts as soon as all blocks of this one have started; its blocks then
    get SMs in the order in which they become free. Off: it starts when this one ends, and its blocks get SMs in the
    order of their numbers."""
    persistent: int = 0
    """With `tma`: the thread blocks that walk all tiles between them; 0 launches one for each tile."""
    ping_pong: bool = False
    """With `persistent`: two warpgroups take the tiles of a block alternately. One multiplies while the other finishes
    its tile."""
    throttle: int = 0
    """With `wgmma`: how many numbers of the epilogue a thread works on at a time, in pairs. Few at a time slow down the
    warpgroups that multiply less. 0 leaves the order to the assembler."""
    promotion: int = 0
    """With `wgmma`: k steps whose products the tensor cores add up, before ordinary additions in f32 take over, which
    round and do not cut off; 0 leaves all steps to the tensor cores."""
    stream_k: int = 0
    """With `persistent`: how many blocks share the k steps of a tile in the last wave, if that is not full. 1 shares
    the tiles of the last full wave too, evenly among all blocks. 0 leaves all tiles whole."""
    cluster_m: int = 1
    """With `tma`: blocks below each other that form a cluster and copy their common tiles of B together."""
    cluster_n: int = 1
    """The same beside each other, with tiles of A."""
    split_k_cluster: int = 1
    """With `tma`: blocks, a cluster, that share the k steps of a tile and add up their partial sums in a fixed
    order."""
    split_k_workspace: int = 1
    """Slices of k that are multiplied side by side, as a batch of products, and added up by a kernel after it, in a
    fixed order; `block` and all others are then those of that batch."""
    l2_keep_a: int = PARTS
    """With `tma`: of 32 parts of A, how many L2 keeps like any other data; the rest is marked as the first to leave it.
    32 marks nothing."""
    l2_keep_b: int = PARTS
    """The same of B."""
    min_blocks: int = 0
    """Blocks that should fit on one SM at a time: the assembler then keeps registers low enough. 0 leaves it free."""
    batch_invariant: bool = False
    """A row of the result has the same bits however many rows there are: the mma is chosen without regard to M,
    and the steps of k are not divided among blocks."""
    swap_ab: bool = False
    """A and B change places, D^T = B^T A^T: all tiles are those of the swapped product. Nothing moves in memory."""
    raster: str = ""
    """Order in which blocks walk the result's tiles: `row`, `column`, `grouped` (`raster_group` tile rows at a time) or
    `snake` (the same, every other group backwards)."""
    raster_group: int = 8
    """Tile rows in a group of the `grouped` raster and of the `snake`."""
    storage: str = "auto"
    """Shared memory declared `static` (at most 48 KB) or `dynamic`; `auto` takes static when it fits."""
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
        return Schedule.make({**self.__dict__, **changes})  # a third of the time of dataclasses.replace

    @staticmethod
    def text(fields: Mapping[str, Any]) -> str:
        """Some fields as text that `parse` takes."""
        return ",".join(f"{name}={_show(value)}" for name, value in fields.items())

    @staticmethod
    def parse(text: str) -> dict[str, Any]:
        """The fields that `text` sets, such as `block=128x128x64,stages=2`, as a dict of checked values.

        Raises ScheduleError for a name that is no field, a value of the wrong form, or a field given twice.
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


def _all_fields(_: Schedule) -> Iterable[str]:
    return FIELDS


_shown: Callable[[Schedule], Iterable[str]] = _all_fields


def show_by(fields_of: Callable[[Schedule], Iterable[str]]) -> None:
    """Has `str` show only the fields that a function gives: those of the parts that a schedule has."""
    global _shown
    _shown = fields_of


FIELDS: dict[str, Any] = {each.name: each.default for each in dataclasses.fields(Schedule) if each.name != "own"}
_CHOICES = {
    "precision": PRECISIONS,
    "storage": STORAGES,
}
_MANY = 2**31
_RANGES = {
    "stages": (1, _MANY, ""), "raster_group": (1, _MANY, ""), "cluster_m": (1, _MANY, ""), "cluster_n": (1, _MANY, ""),
    "split_k_cluster": (1, _MANY, ""), "split_k_workspace": (1, _MANY, ""), "min_blocks": (0, 32, "blocks"),
    "stream_k": (0, 2**20, "blocks"), "persistent": (0, 2**20, "blocks"), "throttle": (0, 64, "numbers"),
    "promotion": (0, 2**20, "steps"),
    "l2_keep_a": (0, PARTS, "parts of an operand"), "l2_keep_b": (0, PARTS, "parts of an operand"),
    "pad": (0, 1024, "elements"),
}  # fmt: skip
"""Least and most of the fields that are numbers, and of what."""
_TRUTH = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "x".join(map(str, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else str(value)


def _known(name: str, location: Location | None) -> Any:
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
    default = _known(name, location)
    if name in KINDS and not text:
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
    default = _known(name, location)
    shown = f"schedule field '{name}={_show(value)}'"
    if isinstance(default, tuple):
        sizes = list(cast("tuple[Any, ...]", value)) if isinstance(value, (list, tuple)) else []
        if len(sizes) != 3 or not all(type(size) is int and size > 0 for size in sizes):
            raise ScheduleError(f"{shown}: expected three positive sizes MxNxK, as in 128x128x64", location)
        return tuple(sizes)
    if type(value) is not type(default):
        raise ScheduleError(f"{shown}: expected a value like {_show(default)}", location)
    known = ("", *names(name)) if name in KINDS else _CHOICES.get(name, (value,))
    if value in former_names.MAINLOOPS and name in KINDS:
        raise ScheduleError(f"{shown}: '{value}' is called '{former_names.MAINLOOPS[value]}' now", location)
    if value not in known:
        raise ScheduleError(f"{shown}: expected one of {', '.join(filter(None, known))}", location)
    if name == "vector" and value not in VECTOR_BITS:
        raise ScheduleError(f"{shown}: expected one of {', '.join(map(str, VECTOR_BITS))} bits", location)
    if name in _RANGES and not _RANGES[name][0] <= value <= _RANGES[name][1]:
        least, most, unit = _RANGES[name]
        to = f" to {most}" if most < _MANY else ""
        raise ScheduleError(f"{shown}: expected {'' if to else 'at least '}{least}{to} {unit}".rstrip(), location)
    return value
