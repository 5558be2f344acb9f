"""The command line: `mlir-gemm`, or `python -m mlir_gemm.tools.main`.

This module only describes the commands and turns errors into messages and exit statuses. Each command lives in a
module of its own, imported when it is called, so that `--help` and usage errors need no MLIR.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Sequence

from mlir_gemm.errors import Error
from mlir_gemm.tools.opt_syntax import in_our_words
from mlir_gemm.tools.terminal import say
from mlir_gemm.usage import RUN_DEVICES, UsageError, block_numbers, count, matrix_sizes, run_device, seed, sizes
from mlir_gemm.version import __version__

INPUT_AT_FAULT, WRONG_USAGE, INTERNAL_ERROR = 1, 2, 70
INTERRUPTED, BROKEN_PIPE = 128 + 2, 128 + 13

COMMANDS = ("compile", "run", "opt", "explain", "view", "bench", "tune", "probe", "info", "cache", "completion")
OPT_FLAGS = (
    "-h", "--help", "--mlir-print-ir-after-all", "--mlir-print-op-generic", "--emit-bytecode", "--list",
    "--allow-unregistered-dialect", "--verify-diagnostics", "--split-input-file", "--print-changes", "--reading",
)  # fmt: skip
OPT_VALUED = ("-o", "--print-passes-to", "--changes-of", "--mlir-elide-elementsattrs-if-larger")
"""The options of `opt`; whatever else starts with two dashes is a pass."""
EPILOG = """exit status:
  0 success; 1 the input is at fault; 2 wrong usage; 3 a check of results failed; 70 a bug in mlir-gemm
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="mlir-gemm",
        description="Compiles matrix products in MLIR, with what is computed around them, to kernels for NVIDIA GPUs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"mlir-gemm {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    compile_ = commands.add_parser("compile", help="compile a module to PTX, a cubin, LLVM IR or any stage's IR")
    _add_input(compile_)
    compile_.add_argument("-o", dest="output", metavar="OUT", help="output file, - for stdout (default: beside INPUT)")
    _add_chip(compile_)
    _add_entry(compile_)
    compile_.add_argument(
        "--emit", metavar="ptx|cubin|llvm|STAGE", help="what to write (default: the chip's code, such as ptx)"
    )
    compile_.add_argument("--schedule", metavar="FIELD=VALUE,...", help="pin fields, such as block=128x128x64,stages=2")
    compile_.add_argument(
        "--sizes", type=sizes, metavar="S=N,...", help="typical values of sizes that are ?, by symbol"
    )
    compile_.add_argument(
        "--divisors", type=sizes, metavar="S=N,...", help="numbers that always divide the sizes that are ?, by symbol"
    )
    compile_.add_argument("--print-after", metavar="STAGE|all", help="print the IR after a stage to stderr")
    _add_pass_output(compile_)
    _add_debug_info(compile_)
    compile_.add_argument("--report", action="store_true", help="print schedule, launch, registers, times to stderr")
    _add_tuned(compile_)
    _add_json(compile_, "the report as JSON; goes with --report")
    compile_.add_argument("--launch-info", metavar="FILE", help="write how to launch the kernels as JSON")

    run = commands.add_parser("run", help="run on random inputs, on a GPU or simulated, and check against float64")
    _add_input(run)
    device = f"{', '.join(RUN_DEVICES)}, or the like of vulkan:1 and opencl:NAME (default: auto)"
    run.add_argument("--device", type=run_device, default="auto", metavar="DEVICE", help=device)
    _add_chip(run)
    _add_entry(run)
    run.add_argument("--schedule", metavar="FIELD=VALUE,...", help="pin fields, such as block=128x128x64,stages=2")
    run.add_argument(
        "--sizes", type=sizes, action="append", metavar="S=N,...", help="values of sizes that are ? (default: random)"
    )
    run.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the random inputs (default: 0)")
    run.add_argument(
        "--check", action=argparse.BooleanOptionalAction, help="simulator: all checks (default: on for small problems)"
    )
    run.add_argument("--report", action="store_true", help="simulator: print what was executed and moved")
    run.add_argument(
        "--counters", action="store_true", help="what the GPU counts (by Nsight Compute), and what the simulator does"
    )
    run.add_argument("--blocks", type=block_numbers, metavar="N,N,...", help="simulator: run only these blocks")
    _add_debug_info(run)
    _add_tuned(run)
    run.add_argument("--bisect", action="store_true", help="run the IR after every stage, name the first wrong one")
    _add_json(run, "print everything as JSON, at the end")

    opt = commands.add_parser(
        "opt",
        help="apply passes, ours and upstream's, and print the IR",
        epilog="A pass may also be written --NAME or --NAME='option=value ...', as for mlir-opt. Without INPUT, "
        "stdin is read.",
    )
    opt.add_argument(
        "names", nargs="*", metavar="[INPUT] PASS",
        help="MLIR file, - for stdin, and passes as name or name{option=value ...}, applied in order",
    )  # fmt: skip
    opt.add_argument("-o", dest="output", metavar="OUT", default="-", help="output file (default: stdout)")
    opt.add_argument(
        "--pass-pipeline", metavar="PIPELINE", help="passes as in 'builtin.module(tile-loops{block=64,64,32},cse)'"
    )
    opt.add_argument("--mlir-print-ir-after-all", action="store_true", help="print the IR after each pass to stderr")
    _add_pass_output(opt)
    opt.add_argument("--mlir-print-op-generic", action="store_true", help="print MLIR's generic form")
    opt.add_argument(
        "--mlir-elide-elementsattrs-if-larger", type=count, metavar="N", help="leave out constants with over N elements"
    )
    opt.add_argument("--emit-bytecode", action="store_true", help="write bytecode")
    opt.add_argument("--allow-unregistered-dialect", action="store_true", help="take operations unknown to MLIR")
    opt.add_argument(
        "--verify-diagnostics", action="store_true",
        help="compare what is refused with comments such as '// expected-error @+1 {{text}}'; print no IR",
    )  # fmt: skip
    opt.add_argument(
        "--split-input-file", action="store_true", help="take each part of INPUT between lines '// -----' on its own"
    )
    opt.add_argument("--list", action="store_true", help="list mlir-gemm's own passes with their options")

    explain = commands.add_parser(
        "explain", help="show which schedule the model chose for each product and kernel of rows, and why"
    )
    _add_input(explain, optional=True)
    explain.add_argument("--mnk", type=matrix_sizes, metavar="M,N,K", help="a problem by its sizes instead of INPUT")
    explain.add_argument("--types", metavar="A,B,D", help="element types that go with --mnk (default: f16,f16,f32)")
    explain.add_argument("--batch", type=count, metavar="N", help="number of products of these sizes (default: 1)")
    explain.add_argument("--orders", metavar="mk|km,kn|nk", help="how A and B lie in memory (default: mk,kn)")
    explain.add_argument("--schedule", metavar="FIELD=VALUE,...", help="pin fields, such as batch_invariant=on")
    _add_tuned(explain)
    explain.add_argument(
        "--beside", metavar="NAME,...", help="other chips, such as vulkan,opencl,mi300x: a table of what each would get"
    )
    _add_json(explain, "print JSON")
    _add_sizes(explain)
    _add_chip(explain)
    _add_entry(explain)

    view = commands.add_parser("view", help="write all stages, passes and choices as one page for a browser")
    _add_input(view)
    view.add_argument("-o", dest="output", metavar="FILE.html", help="the page (default: beside INPUT; - for stdout)")
    _add_chip(view)
    view.add_argument("--schedule", metavar="FIELD=VALUE,...", help="pin fields, such as block=128x128x64,stages=2")
    _add_sizes(view)
    _add_entry(view)
    view.add_argument("--counters", action="store_true", help="simulate it too, and show what was executed and moved")

    bench = commands.add_parser("bench", help="measure products beside cuBLAS and others, on the GPU of this machine")
    _describe_bench(bench)

    probe = commands.add_parser("probe", help="measure the GPU of this machine for the model that chooses schedules")
    probe.add_argument("-o", metavar="FILE", help="the table to keep it in (default: one in the user's data folder)")
    probe.add_argument(
        "--seconds", type=float, default=120, metavar="N", help="begin no other measurement after so long"
    )
    _add_json(probe, "what was found as JSON")

    tune = commands.add_parser("tune", help="search schedules with measurements, and keep the best for compile")
    _describe_tune(tune)

    info = commands.add_parser("info", help="show versions, MLIR bindings, devices, and what a chip multiplies")
    _add_json(info, "print JSON")
    _add_chip(info)

    cache = commands.add_parser("cache", help="show or empty the cache of compiled kernels on disk")
    cache.add_argument("action", choices=("info", "clear"), help="info: folder, size, limit; clear: remove all of it")
    completion = commands.add_parser("completion", help="print a script with which a shell completes mlir-gemm")
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"), help='as in: eval "$(mlir-gemm completion bash)"')
    return parser


def _describe_bench(bench: argparse.ArgumentParser) -> None:
    bench.add_argument("--group", action="append", default=[], metavar="G,...", help="default: all groups")
    bench.add_argument("--types", action="append", default=[], metavar="T,...", help="of A and B (default: f16)")
    bench.add_argument("--layouts", action="append", default=[], metavar="NN|NT|TN|TT,...",
                       help="default: NN,NT; with --random all")  # fmt: skip
    bench.add_argument(
        "--mnk", type=matrix_sizes, action="append", metavar="M,N,K", help="these sizes in place of the list"
    )
    bench.add_argument(
        "--random", type=count, metavar="N", help="N random sizes in place of the list, chosen by --seed"
    )
    bench.add_argument(
        "--only", default="", metavar="TEXT", help="with --group rows or blocks: only functions with TEXT in the name"
    )
    bench.add_argument(
        "--paper", metavar="NAME,...",
        help="tables of khandelwal, faingnaert, hofstra, rise, lift, published or all; -o may name a .json file",
    )  # fmt: skip
    bench.add_argument("--list", action="store_true", help="print the problems and stop")
    bench.add_argument(
        "--against", default="torch,cublaslt,compile", metavar="R,...",
        help="torch, cublaslt, compile, triton or all (default: torch,cublaslt,compile)",
    )  # fmt: skip
    bench.add_argument(
        "--schedule", action="append", metavar="FIELD=VALUE,...", help="pin fields; give it several times to compare"
    )
    _add_chip(bench)
    _add_debug_info(bench)
    bench.add_argument("--rounds", type=count, default=16, metavar="N", help="cold runs of each (default: 16)")
    bench.add_argument("--bursts", type=count, default=8, metavar="N", help="sustained bursts of each (default: 8)")
    bench.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of inputs and --random (default: 0)")
    bench.add_argument("--jobs", type=count, metavar="N", help="processes that compile (default: one per core)")
    bench.add_argument("--seconds", type=count, metavar="N", help="start no new problem after N seconds")
    bench.add_argument("-o", "--output", dest="output", metavar="DIR", help="where to write (default: bench-CHIP-DATE)")
    bench.add_argument(
        "--report", nargs="+", metavar="FILE", help="make tables and plots of saved results; needs no GPU"
    )


def _describe_tune(tune: argparse.ArgumentParser) -> None:
    _add_input(tune, optional=True)
    tune.add_argument("--mnk", type=matrix_sizes, metavar="M,N,K", help="a problem by its sizes instead of INPUT")
    tune.add_argument("--types", metavar="T[,D]", help="of A and B, and of the result, with --mnk (default: f16)")
    tune.add_argument("--layouts", metavar="NN|NT|TN|TT", help="how A and B lie, with --mnk (default: NN)")
    tune.add_argument("--epilogue", metavar="E", help="with --mnk: bias, gelu, bias_gelu, ... (default: none)")
    tune.add_argument(
        "--sampler", default="expected", metavar="NAME",
        help="expected, model, tpe, random, exhaustive, cmaes or genetic (default: expected)",
    )  # fmt: skip
    tune.add_argument(
        "--objective", default="time", metavar="NAME", help="time, cold, energy or compromise (default: time)"
    )
    tune.add_argument("--trials", type=count, metavar="N", help="schedules to try, in all (default: 50)")
    tune.add_argument("--seconds", type=count, metavar="N", help="start nothing new after N seconds")
    tune.add_argument("--until-expected", action="store_true", help="end when nothing better is expected")
    tune.add_argument(
        "--storage", metavar="FILE|URL", help="an Optuna storage, which workers may share (default: a file of its own)"
    )
    tune.add_argument(
        "--database",
        metavar="FILE|off",
        help="what is found goes there (default: the user's file, for what was measured)",
    )
    tune.add_argument(
        "--device", choices=("auto", "gpu", "model"), default="auto",
        help="model: predicted times, which auto takes where there is no GPU (default: auto)",
    )  # fmt: skip
    tune.add_argument("--plots", metavar="DIR", help="draw the study: index.html and PNGs")
    tune.add_argument(
        "--beside", action="append", metavar="FILE|URL", help="with --plots: storages of studies by other samplers"
    )
    tune.add_argument("--devices", metavar="NAME,...", help="with --plots: those that variants are compared on")
    tune.add_argument(
        "--fit", nargs="*", metavar="SWEEP",
        help="search nothing: fit this GPU's constants to files of mlir_gemm.bench.sweep, or to the studies",
    )  # fmt: skip
    tune.add_argument("--table", metavar="FILE|off", help="with --fit: where they are kept (default: the user's table)")
    tune.add_argument("--most", type=count, metavar="N", help="only the N that are predicted to be fastest")
    tune.add_argument("--limit", type=count, default=60, metavar="N", help="a kernel hangs after N s (default: 60)")
    tune.add_argument("--jobs", type=count, metavar="N", help="processes that compile (default: one per core)")
    tune.add_argument("--seed", type=seed, default=0, metavar="N", help="of inputs and samplers (default: 0)")
    _add_json(tune, "print JSON, at the end")
    _add_chip(tune)
    _add_entry(tune)


def _add_tuned(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tuned", default="", metavar="FILE|off",
        help="schedules that tune found (default: what MLIR_GEMM_TUNED says, or the user's file)",
    )  # fmt: skip


def _add_input(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument("input", metavar="INPUT", nargs="?" if optional else None, help="MLIR file, - for stdin")


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=sizes, metavar="S=N,...", help="typical values of sizes that are ?, by symbol")
    parser.add_argument(
        "--divisors", type=sizes, metavar="S=N,...", help="numbers that always divide the sizes that are ?, by symbol"
    )


def _add_json(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=what)


def _add_debug_info(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--debug-info", choices=("none", "line"),
        help="line: the code names the lines of INPUT, for profilers, and is otherwise the same (default: none, or "
        "what MLIR_GEMM_DEBUG_INFO says)",
    )  # fmt: skip


def _add_pass_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--print-passes-to", metavar="DIR", help="write the IR after each pass to a file of its own")
    parser.add_argument("--print-changes", action="store_true", help="print what each pass changed to stderr")
    parser.add_argument("--changes-of", metavar="PASS,...", help="print what these passes changed to stderr")
    parser.add_argument(
        "--reading", action="store_true", help="print IR in the reading form, which is shorter but cannot be parsed"
    )


def _add_entry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--entry", default="", metavar="NAME", help="the function to compile, if there are several")


def _add_chip(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chip", help="such as sm_90a or h200 (default: the GPU in this machine, else sm_80)")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; never raises."""
    parser = make_parser()
    given = list(sys.argv[1:] if argv is None else argv)
    try:
        if given and not given[0].startswith("-") and given[0] not in COMMANDS:
            close = difflib.get_close_matches(given[0], COMMANDS, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            parser.error(f"there is no command '{given[0]}'{hint} (commands: {', '.join(COMMANDS)})")
        if given[:1] == ["opt"]:
            given = ["opt", *in_our_words(given[1:], OPT_FLAGS, OPT_VALUED)]
        arguments = parser.parse_args(given)
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else WRONG_USAGE
    except UsageError as error:
        say(f"mlir-gemm {given[0]}: error: {error} (see mlir-gemm --help)", sys.stderr)
        return WRONG_USAGE
    try:
        _hint_at_chip(getattr(arguments, "chip", None))
        status: int = importlib.import_module(f"mlir_gemm.tools.{arguments.command}_command").run(arguments)
        sys.stdout.flush()
        return status
    except UsageError as error:
        say(f"mlir-gemm {arguments.command}: error: {error} (see mlir-gemm --help)", sys.stderr)
        return WRONG_USAGE
    except Error as error:
        say(str(error), sys.stderr)
        return INPUT_AT_FAULT
    except MemoryError as error:
        print(f"error: not enough memory on this machine: {error}", file=sys.stderr)
        return INPUT_AT_FAULT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone. Python would complain again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        _report_bug(error)
        return INTERNAL_ERROR


def _hint_at_chip(chip: str | None) -> None:
    if chip is None:
        return
    from mlir_gemm.tile_model.chips import fuller  # late: usage errors need no table of chips

    hint = fuller(chip)
    if hint:
        print(f"note: --chip {chip}: {hint}", file=sys.stderr)


def _report_bug(error: Exception) -> None:
    if os.environ.get("MLIR_GEMM_DEBUG") == "1":
        traceback.print_exc()
    print(
        f"mlir-gemm: internal error, please report: {type(error).__name__}: {error}\n"
        "  note: set MLIR_GEMM_DEBUG=1 for a traceback",
        file=sys.stderr,
    )


if __name__ == "__main__":
    sys.exit(main())
