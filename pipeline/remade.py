"""The IR after a stage, recompiled from the source that saved text carries."""

from __future__ import annotations

from mlir_gemm.dialect.context import new_context
from mlir_gemm.dialect.parse import COMPILER, parse_module
from mlir_gemm.errors import Error, InputError
from mlir_gemm.pipeline.driver import compile_module
from mlir_gemm.pipeline.saved import computed_by, stage_of
from mlir_gemm.spec.attributes import REFERENCE

_LAST_WHOLE = "parallelize"
"""The last stage whose IR computes whole tiles, which can be evaluated without rounding."""


def intended_tiles(text: str) -> str:
    """The IR after `parallelize`, recompiled from the source that saved text carries: it says what each block is to
    write. Raises InputError."""
    return compile_module(computed_by(text), until=_LAST_WHOLE, keep=(_LAST_WHOLE,)).ir(_LAST_WHOLE)


def as_before(text: str, stage: str) -> str:
    """The IR after an earlier stage than the one that text was saved after, made again from what it was made from.

    Raises InputError unless the compiler makes this very text of it: not of text that was edited, or that another
    version saved, or that has no reference.
    """
    saved = stage_of(text)
    assert saved is not None  # a source is compiled
    made, again = _made_again(computed_by(text), stage, saved)
    if made is None or again != _printed(text):
        raise InputError(
            f"the text was saved after '{saved}', and its IR after '{stage}' is needed, which is what the simulator "
            "runs. It cannot be made again, as the text was edited or is from another version: the compiler makes "
            f"something else of its {REFERENCE}. Run it on a GPU (--device gpu), or save the text after '{stage}' or "
            "an earlier stage and edit that"
        )
    return made


def _made_again(reference: str, stage: str, saved: str) -> tuple[str | None, str | None]:
    """The IR after two stages; None where it cannot be compiled."""
    try:
        compilation = compile_module(reference, until=saved, keep=(stage, saved))
    except Error:
        return None, None
    return compilation.ir(stage), compilation.ir(saved)


def _printed(text: str) -> str:
    """Text as MLIR prints it, whatever its spaces, names and comments were."""
    with COMPILER:
        return str(parse_module(text, "-", new_context()))
