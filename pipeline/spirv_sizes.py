"""Workgroup sizes of SPIR-V for Vulkan as specialisation constants, in the binary: upstream's serialiser decorates no
composite of them.

Three constants with the SpecIds 0, 1 and 2 (x, y, z) make a vector decorated `BuiltIn WorkgroupSize`, which goes before
the execution mode `LocalSize` that stays ("BuiltIn" in the specification of SPIR-V). Their defaults are the size that a
kernel's tiles are laid out for, so that code is right without a caller's values too.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate

from mlir_gemm.pipeline import spirv_words

_BOUND = 3
"""Which word is the bound of all ids."""
_INT, _VECTOR, _FUNCTION, _DECORATE, _SPEC_CONSTANT, _SPEC_COMPOSITE = 21, 23, 54, 71, 50, 51
_TYPES = range(19, 40)
"""OpTypeVoid to OpTypeForwardPointer: one of them is the first after the decorations."""
_SPEC_ID, _BUILT_IN, _WORKGROUP_SIZE = 1, 11, 25
"""Decorations, and the built-in variable."""


def with_size_constants(code: bytes) -> bytes:
    """A module in SPIR-V whose workgroup size can be specialised. As it was: one that is not for Vulkan, or has such a
    constant, and one whose kernels have several sizes, since the decoration is the whole module's."""
    found = list(spirv_words.instructions(code))
    sizes = set(spirv_words.workgroup_sizes(code).values())
    is_there = any(op == _DECORATE and given[1:] == (_BUILT_IN, _WORKGROUP_SIZE) for op, given in found)
    if spirv_words.SHADER not in spirv_words.capabilities(code) or len(sizes) != 1 or is_there:
        return code
    words = struct.unpack(f"<{len(code) // 4}I", code)
    places = list(accumulate((len(given) + 1 for _, given in found), initial=spirv_words.HEADER))
    types = next(place for place, (op, _) in zip(places, found, strict=False) if op in _TYPES)
    functions = next(place for place, (op, _) in zip(places, found, strict=False) if op == _FUNCTION)
    bound, globals_ = words[_BOUND], list[int]()

    def declared(op: int, *rest: int) -> int:
        """The id of a type of the module, which may have each only once."""
        nonlocal bound
        known = next((given[0] for each, given in found if each == op and given[1:] == rest), None)
        if known is not None:
            return known
        globals_.extend(_instruction(op, (bound, *rest)))
        bound += 1
        return bound - 1

    word = declared(_INT, 32, 0)
    vector = declared(_VECTOR, word, 3)
    constants = range(bound, bound + 3)
    whole = bound + 3
    decorations = _instruction(_DECORATE, (whole, _BUILT_IN, _WORKGROUP_SIZE))
    for number, (constant, size) in enumerate(zip(constants, *sizes, strict=True)):
        decorations += _instruction(_DECORATE, (constant, _SPEC_ID, number))
        globals_ += _instruction(_SPEC_CONSTANT, (word, constant, size))
    globals_ += _instruction(_SPEC_COMPOSITE, (vector, whole, *constants))
    made = [*words[:types], *decorations, *words[types:functions], *globals_, *words[functions:]]
    made[_BOUND] = whole + 1
    return struct.pack(f"<{len(made)}I", *made)


def _instruction(op: int, operands: Sequence[int]) -> list[int]:
    return [len(operands) + 1 << 16 | op, *operands]
