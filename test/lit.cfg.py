"""The lit suite: `lit test` in the source tree, or `check-mlir-gemm` in a CMake build.

lit defines `config` and `lit_config`. A site configuration may set `config.python_executable` and `test_exec_root`.
"""

# ruff: noqa: F821

import os
import re
import shutil
import socket
import sys
import tempfile

import lit.formats

config.name = "mlir-gemm"
config.test_format = lit.formats.ShTest(False)  # lit's own shell: the same on every system
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
if config.test_exec_root is None:
    config.test_exec_root = os.path.join(os.path.dirname(config.test_source_root), "build", "test")

python = getattr(config, "python_executable", None) or sys.executable


def start_server():
    """Starts `fork_server.py` and returns its socket, or None where it cannot run. It ends when lit does, and with it
    the other end of a pipe."""
    if not hasattr(os, "pidfd_open"):
        return None
    address = os.path.join(tempfile.mkdtemp(prefix="mlir-gemm-lit-"), "socket")
    reading, _ = os.pipe()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(128)
        listening.set_inheritable(True)
        server = os.path.join(config.test_source_root, "fork_server.py")
        files = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        os.posix_spawn(python, [python, server, str(listening.fileno())], os.environ, file_actions=files)
    os.close(reading)
    return address


def in_python(module):
    """The command that runs a module: through the server where there can be one."""
    if address is None:
        return f"{python} -m {module}"
    return f"{python} -I -S {os.path.join(config.test_source_root, 'fork_client.py')} {address} {module}"


address = start_server()
# LLVM's FileCheck where there is one, else PyPI's. Tests use only what both know: no numeric captures ([[#N:]]).
filecheck = shutil.which("FileCheck") or in_python("filecheck")


def command(word):
    """Matches `word` where it stands as a command, not as part of a path or of another word."""
    return rf"(?<![\w./-]){re.escape(word)}(?![\w./-])"


config.environment["MLIR_GEMM_TUNED"] = "off"  # whatever this user has tuned

config.substitutions += [
    (command("mlir-gemm"), in_python("mlir_gemm.tools.main")),
    (command("FileCheck"), filecheck),
    ("%python", python),
    ("%examples", os.path.join(os.path.dirname(config.test_source_root), "examples")),
]
