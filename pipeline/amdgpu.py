"""From LLVM IR to AMD's assembly and code objects, with LLVM's own tools, and what these say of a kernel: registers,
spills, LDS.

The bindings have no AMDGPU back end. Debian's package llvm-19 has `opt` and `llc` with it, lld-19 the linker; ROCm's
`llvm/bin` has all three. Version 19 is the oldest that takes what the bindings write.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mlir_gemm.errors import TargetError
from mlir_gemm.pipeline.assembler import Usage

OLDEST = 19
"""The oldest version of LLVM."""
_FOLDERS = ("/opt/rocm/llvm/bin", "/opt/rocm/lib/llvm/bin", "/usr/lib/llvm-*/bin")
"""Where packages put the tools without putting them on the PATH."""
_TRIPLE = "amdgcn-amd-amdhsa"
_ORDERS: tuple[tuple[str, ...], ...] = ((), ("-misched=gcn-iterative-minreg",))
"""Options of llc for the order of instructions: its own, and that of least registers."""
_OPTIMISED = ("-disable-loop-unrolling",)
"""Options of opt. What is to be unrolled is unrolled here already: LLVM would unroll loops over steps of k whole, whose
loads then hold all registers at once (a product of a convolution on gfx1100: 256 registers and 1924 bytes spilled, 115
and none with this option, in a third of the code)."""


class Tools(NamedTuple):
    """LLVM's programs of one version."""

    llc: str
    opt: str
    """Empty where it is not beside `llc`."""
    lld: str
    """The same."""
    version: int


def find_tools() -> Tools | None:
    """LLVM's tools with the AMDGPU back end, the latest version first; None where there are none of version 19 or
    later."""
    return _find(os.environ.get("PATH", ""))


@lru_cache(maxsize=4)
def _find(path: str) -> Tools | None:
    found = [_tools(llc) for llc in _candidates(path)]
    usable = [each for each in found if each is not None and each.version >= OLDEST]
    return max(usable, key=lambda tools: tools.version, default=None)


def _candidates(path: str) -> list[str]:
    """Programs that may be llc."""
    folders = [*filter(None, path.split(os.pathsep)), *(each for name in _FOLDERS for each in sorted(glob.glob(name)))]
    named = [each for folder in folders for each in glob.glob(os.path.join(glob.escape(folder), "llc*"))]
    programs = [
        each for each in named if re.fullmatch(r"llc(-\d+)?", os.path.basename(each)) and os.access(each, os.X_OK)
    ]
    return list({os.path.realpath(each): each for each in programs}.values())


def _tools(llc: str) -> Tools | None:
    """The tools beside an llc; None where it has not the back end."""
    try:
        said = subprocess.run([llc, "--version"], capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"LLVM version (\d+)", said)
    if version is None or not re.search(r"^ *amdgcn\b", said, re.M):
        return None
    folder, suffix = os.path.split(os.path.realpath(llc))[0], os.path.basename(llc).removeprefix("llc")

    def beside(name: str) -> str:
        places = (os.path.join(folder, name), os.path.join(os.path.dirname(llc), name + suffix))
        return next(filter(None, map(shutil.which, places)), "")

    return Tools(llc, beside("opt"), beside("ld.lld"), int(version[1]))


def assembly(ir: str, chip: str) -> str:
    """The assembly of kernels in LLVM IR for a chip, such as `gfx942`. Raises TargetError where the tools are missing
    or do not know the chip."""
    return _assembled(ir, chip).text


def code_object(ir: str, chip: str) -> bytes:
    """The same, linked: what HIP loads as a module (`hsaco`). Raises TargetError as above."""
    tools = _needed(chip, "a code object")
    if not tools.lld:
        raise TargetError(
            f"linking a code object for {chip} needs LLVM's linker, and there is no ld.lld beside {tools.llc}: "
            f"apt-get install lld-{tools.version}; `--emit isa` needs none"
        )
    with tempfile.TemporaryDirectory() as folder:
        source, linked = Path(folder, "kernel.o"), Path(folder, "kernel.hsaco")
        made = _assembled(ir, chip)
        command = [tools.llc, *_target(chip), *made.options, "-filetype=obj", "-o", "-", "-"]
        source.write_bytes(_run(command, made.bitcode, f"assembling for {chip}"))
        _run([tools.lld, "-shared", "-o", str(linked), str(source)], b"", f"linking a code object for {chip}")
        return linked.read_bytes()


def _needed(chip: str, what: str) -> Tools:
    tools = find_tools()
    if tools is None:
        raise TargetError(
            f"making {what} for {chip} needs LLVM's llc with the AMDGPU back end, version {OLDEST} or later, and none "
            f"was found: apt-get install llvm-{OLDEST} lld-{OLDEST}, or put ROCm's llvm/bin on the PATH; "
            "`--emit rocdl` and `--emit llvm` need none"
        )
    return tools


class _Assembled(NamedTuple):
    text: str
    bitcode: bytes
    """What it was made of."""
    options: tuple[str, ...]
    """Of llc."""


def _assembled(ir: str, chip: str) -> _Assembled:
    """The assembly with the fewest spills: LLVM's usual order of instructions fills all registers with loads on some
    chips, and spills a few where the one for least registers spills none."""
    tools = _needed(chip, "assembly")
    text = readable(ir, tools.version).encode()
    if tools.opt:
        text = _run([tools.opt, *_target(chip), *_OPTIMISED, "-o", "-", "-"], text, f"optimising for {chip}")
    first, *others = _ORDERS
    best = _ordered(tools, text, chip, first)
    for options in others:
        if not _spills(best):
            return best
        best = min(best, _ordered(tools, text, chip, options), key=_spills)
    return best


def _ordered(tools: Tools, text: bytes, chip: str, options: tuple[str, ...]) -> _Assembled:
    command = [tools.llc, *_target(chip), *options, "-o", "-", "-"]
    return _Assembled(_run(command, text, f"assembling for {chip}").decode(), text, options)


def _spills(made: _Assembled) -> int:
    return sum(usage.spill_bytes for usage in usages(made.text).values())


def _target(chip: str) -> list[str]:
    return [f"-mtriple={_TRIPLE}", f"-mcpu={chip}", "-O3"]


def _run(command: list[str], text: bytes, what: str) -> bytes:
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode or "is not a recognized processor" in said:
        raise TargetError(f"{what} failed: {said.splitlines()[0] if said else 'no message'} ({' '.join(command)})")
    return done.stdout


def readable(ir: str, version: int) -> str:
    """LLVM IR as an older version reads it. Attributes of intrinsics are left to LLVM, which knows its own; flags of
    instructions that it does not know only allow more."""
    text = re.sub(r"^(declare .*?)( #\d+)?$", r"\1", ir, flags=re.M)
    used = set(
        re.findall(r" #(\d+)\b", "\n".join(line for line in text.splitlines() if not line.startswith("attributes")))
    )
    kept = [
        line for line in text.splitlines() if not (group := re.match(r"attributes #(\d+) = ", line)) or group[1] in used
    ]
    text = "\n".join(kept) + "\n"
    if version < 20:
        text = text.replace('!"amdgpu-synchronize-as"', '!"amdgpu-as"')  # what a fence orders
        # nuw of addresses and samesign of comparisons came with 20
        text = re.sub(r"\bgetelementptr( inbounds)?( nusw)?( nuw)?\b", r"getelementptr\1", text)
        text = re.sub(r"\bicmp samesign\b", "icmp", text)
    if version < 21:
        text = re.sub(r" captures\([^)]*\)", "", text)
        text = text.replace("llvm.amdgcn.make.buffer.rsrc.p8.p0", "llvm.amdgcn.make.buffer.rsrc.p0")
    if version < 22:  # the size of a buffer was of 32 bits
        text = re.sub(r"(make\.buffer\.rsrc[.p08]*\(ptr [^,]*, i16 [^,]*,) i64 ", r"\1 i32 ", text)
        text = re.sub(r"(make\.buffer\.rsrc[.p08]*\(ptr[^,]*, i16,) i64,", r"\1 i32,", text)
    return text


def usages(text: str) -> dict[str, Usage]:
    """What the kernels of an assembly take, by name, from its metadata (LLVM: "Code Object V5 Metadata"): vector
    registers of a lane, with those for accumulators; bytes that a lane spills; bytes of LDS."""
    found: dict[str, Usage] = {}
    for part in re.split(r"^  - ", _metadata(text), flags=re.M)[1:]:
        fields = dict(re.findall(r"^(?:    )?(\.\w+): +(\S+)$", part, re.M))
        if ".vgpr_count" not in fields:
            continue
        # Scalar registers are kept in lanes of vector registers, which is no memory; where these do not suffice, the
        # private segment has them.
        spilled = 4 * int(fields[".vgpr_spill_count"])
        scratch = int(fields[".private_segment_fixed_size"])
        found[fields[".name"]] = Usage(
            int(fields[".vgpr_count"]), max(spilled, scratch), int(fields[".group_segment_fixed_size"])
        )
    return found


def _metadata(text: str) -> str:
    found = re.search(r"^\s*\.amdgpu_metadata$(.*)^\s*\.end_amdgpu_metadata$", text, re.M | re.S)
    kernels = found[1].partition("amdhsa.kernels:")[2] if found else ""
    return re.split(r"^amdhsa\.", kernels, maxsplit=1, flags=re.M)[0]
