"""Every operation of the tile dialect, changed in one place at a time, is refused in words; but for what is right too.

The right forms of `tile_forms.py` are changed: an operand or a result fewer or more, a type of another kind,
rank, element, size or memory space, an attribute fewer, with another value, or with a name that is not known. Whatever
MLIR reads all the same must stand in `ALSO_RIGHT`, with the reason, and whatever stands there must be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from tile_forms import RIGHT, VALUES, segments

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import parse_module
from mlir_gemm.errors import InputError

CONTEXT = new_context()


@dataclass(frozen=True)
class Form:
    """An operation in text, taken apart."""

    name: str
    operands: tuple[str, ...]
    """Types."""
    attributes: tuple[str, ...]
    """`name = value`, or a name."""
    results: tuple[str, ...]
    region: str = ""

    @staticmethod
    def of(text: str) -> Form:
        found = re.fullmatch(r"(?:%0\S* = )?(tile\.\w+)\((.*?)\)(?: (\(\{.*\}\)))?(?: \{(.*?)\})?(?: : (.*))?", text)
        assert found, text
        name, operands, region, attributes, results = found.groups()
        types = tuple(VALUES[each] for each in operands.split(", ") if each)
        return Form(name, types, _parts(attributes), _parts(results), region or "")

    def read(self) -> str:
        """What is said of it; empty where it is right."""
        arguments = ", ".join(f"%{n}: {type_}" for n, type_ in enumerate(self.operands))
        operands = ", ".join(f"%{n}" for n in range(len(self.operands)))
        made = f"%r:{len(self.results)} = " if self.results else ""
        types = f"({', '.join(self.operands)}) -> ({', '.join(self.results)})"
        own = segments(self.name, self.operands, len(self.results))
        attributes = ", ".join([*filter(None, [own]), *self.attributes])
        line = f'{made}"{self.name}"({operands}) {self.region} {{{attributes}}} : {types}'
        try:
            parse_module(f"func.func @f({arguments}) {{\n{line}\nreturn\n}}", "-", CONTEXT, own=True)
        except InputError as error:
            return error.message
        return ""


def _parts(text: str | None) -> tuple[str, ...]:
    """What stands between commas that are in no brackets."""
    found, depth = [""], 0
    for character in text or "":
        depth += (character in "<[{(") - (character in ">]})")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return tuple(each.strip() for each in found if each.strip())


def _other_types(type_: str) -> dict[str, str]:
    """Other types in the place of one, by what is different."""
    plain = {"a number": "f32", "an i64": "i64", "a vector": "vector<64x64xf16>", "a memref": "memref<64x64xf16>",
             "a tensor": "tensor<64x64xf16>", "an index": "index"}  # fmt: skip
    shaped = re.fullmatch(r"(memref|vector)<((?:[\d?]+x)+)(\w+)((?:, 3)?)>", type_)
    if shaped is None:
        return {what: other for what, other in plain.items() if other != type_}
    kind, shape, element, space = shaped.groups()
    del plain[f"a {kind}"]
    others = {
        "a rank more": f"{kind}<2x{shape}{element}{space}>",
        "no rank": f"{kind}<{element}{space}>",
        "another size": f"{kind}<48x{shape.partition('x')[2]}{element}{space}>",
        "other elements": f"{kind}<{shape}{'f64' if element != 'f64' else 'f32'}{space}>",
        "indices": f"{kind}<{shape}index{space}>",
    }
    if shape.count("x") > 1:
        others["a rank less"] = f"{kind}<{shape.partition('x')[2]}{element}{space}>"
    if kind == "vector":
        return {**plain, **others, "a size of the machine": f"vector<[4]x{element}>"}
    sizes = [int(size) if size != "?" else 64 for size in shape[:-1].split("x")]
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size * 2)
    strided = f"strided<[{', '.join(map(str, strides))}]>"
    return {
        **plain,
        **others,
        "a dynamic size": f"memref<?x{shape.partition('x')[2]}{element}{space}>",
        "other rows": f"memref<{shape}{element}, {strided}{space}>",
        "another space": f"memref<{shape}{element}{'' if space else ', 3'}>",
        "an unknown space": f"memref<{shape}{element}, 5>",
        "a space by name": f"memref<{shape}{element}, #gpu.address_space<workgroup>>",
        "complex elements": f"memref<{shape}complex<f32>{space}>",
    }


VALUES_OF_ATTRIBUTES = {
    "nothing": "unit", "-1": "-1 : i64", "a huge number": "4294967296 : i64", "an i32": "1 : i32",
    "an index": "1 : index", "a fraction": "1.0 : f32", "a truth": "true", "a word": '"zz"', "no word": '""',
    "numbers": "array<i64: 7, 7>", "too many numbers": "array<i64: 0, 1, 0>", "no numbers": "array<i64>",
    "truths": "array<i1: true>", "a list": "[0, 1]", "a dictionary": "{}", "a type": "f32",
}  # fmt: skip


def _mutations(form: Form) -> Iterator[tuple[str, Form]]:
    """What is different, with the form that is."""
    for kind, types in (("operand", form.operands), ("result", form.results)):
        field = f"{kind}s"
        yield f"a {kind} more: index", replace(form, **{field: (*types, "index")})
        yield f"a {kind} more: memref", replace(form, **{field: (*types, "memref<64xf16>")})
        for place, type_ in enumerate(types):
            yield f"no {kind} {place}", replace(form, **{field: types[:place] + types[place + 1 :]})
            for what, other in _other_types(type_).items():
                if other != type_:
                    yield (
                        f"{kind} {place}: {what}",
                        replace(form, **{field: (*types[:place], other, *types[place + 1 :])}),
                    )
    for place, attribute in enumerate(form.attributes):
        name, rest = attribute.partition(" = ")[0], form.attributes[:place] + form.attributes[place + 1 :]
        yield f"no {name}", replace(form, attributes=rest)
        for what, value in VALUES_OF_ATTRIBUTES.items():
            if attribute not in (f"{name} = {value}", name if value == "unit" else ""):
                yield f"{name}: {what}", replace(form, attributes=(*rest, f"{name} = {value}"))
    yield "an unknown attribute", replace(form, attributes=(*form.attributes, "colour = 1 : i64"))


_MEMORY = ("another size", "other rows")
"""Memory of any size may be read and written, and its rows may lie apart."""
_AT = "operand {}: {}".format


def _memory(place: int, *more: str) -> list[str]:
    return [_AT(place, what) for what in (*_MEMORY, *more)]


_LEFT_OUT = ["no dims", "no in_bounds", "no scope", "no async", "no unsigned", "no unit", "no cluster_group", "no keep",
             "no multicast", "no stride", "no loaded", "no count"]  # fmt: skip
ALSO_RIGHT: dict[str, list[str]] = {
    # Tiles may reach beyond the memory, repeat along dimensions that it does not have, and lie at one index of others.
    "tile.load": [*_memory(0, "a dynamic size", "another space"),
                  *(f"result 0: {what}" for what in ("a rank more", "another size", "a rank less"))],
    "tile.store": [*_memory(1, "a dynamic size", "another space"), _AT(0, "another size"), _AT(0, "a rank less")],
    "tile.copy": [*_memory(0, "another space", "a rank more", "a rank less", "no rank"), *_memory(1, "another space")],
    "tile.copy_async": [*_memory(0, "a rank more", "a rank less", "no rank"), *_memory(1, "a dynamic size")],
    # Zero stands beyond the edge where nothing else is said.
    "tile.clip": ["no neutral", "neutral: a fraction"],
    # Operands need not be in shared memory before they are copied there.
    "tile.mma": [_AT(place, what) for place in (0, 1) for what in ("other rows", "another space")],
    # A size has its value only after `pass-sizes`, and any name is that of a size.
    "tile.position": ["no operand 0", "size: a word"],
    "tile.size": ["size: a word"],
    # Any number of buffers, and any name; a program's own check looks for the kernel.
    "tile.run": ["a operand more: index", "no operand 0", "no operand 1", "kernel: a word"],
    # There may be any number of zeros around an image.
    "tile.windows": ["low: numbers", "high: numbers"],
    "tile.sparse": [_AT(1, "other rows")],
    "tile.composite": [_AT(0, "other rows")],
    # A tensor map that comes as an argument says neither of how many dimensions it is, nor of which elements.
    "tile.tma_load": ["a operand more: index", *_memory(0, "other elements"), _AT(1, "a memref")],
    "tile.tma_store": ["a operand more: index", _AT(0, "another size"), _AT(2, "another size")],
    "tile.unaligned_store": [*_memory(1, "a dynamic size"), _AT(0, "another size"), _AT(2, "another size")],
    "tile.tensor_map": _memory(0, "a dynamic size"),
    # More units than the block has.
    "tile.dsmem_reduce": _memory(1),
    "tile.store_partials": [_AT(1, "other rows")],
    # Any number of lines.
    "tile.grid_reduce": [_AT(0, "another size")],
    "tile.fix_up": [_AT(1, "other rows")],
    # A k of any length.
    "tile.step_range": ["steps: a huge number"],
}  # fmt: skip
"""What is right although it is changed."""


@pytest.mark.parametrize("name", sorted({Form.of(text).name for text in RIGHT}))
def test_an_operation_that_is_changed_in_one_place_is_refused_in_words(name: str):
    forms = [form for text in RIGHT if (form := Form.of(text)).name == name]
    read: set[str] = set()
    for form in forms:
        assert form.read() == ""
        for what, changed in _mutations(form):
            said = changed.read()
            if said:
                assert re.match(rf"'{name}': .", said), f"{what}: {said}"
                assert "expected" in said or "has no attribute" in said, f"{what}: {said}"
                assert "bug" not in said, f"{what}: {said}"
            else:
                read.add(what)
    also = set(ALSO_RIGHT.get(name, []))
    assert read - also - set(_LEFT_OUT) == set()
    assert also - read == set()
