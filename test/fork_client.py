"""Has `fork_server.py` run a command: `python -I -S fork_client.py SOCKET MODULE ARGUMENT...`; without the server, runs
it in a new process. Loads nothing that takes longer than the server's work: 10 ms for all."""

import _signal
import _socket
import marshal
import os
import sys


def send(connection: _socket.socket) -> None:
    """Hands over what the command needs. Raises OSError where there is no server."""
    connection.connect(sys.argv[1])
    request = marshal.dumps((sys.argv[2], sys.argv[3:], os.getcwd(), dict(os.environ)))
    files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    connection.sendmsg([len(request).to_bytes(4, "little")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
    connection.sendall(request)
    if not connection.recv(1):
        raise OSError("the server has ended")


connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
try:
    send(connection)
except OSError:
    os.execv(sys.executable, [sys.executable, "-m", *sys.argv[2:]])
answer = connection.recv(4, _socket.MSG_WAITALL)
if len(answer) < 4:
    sys.exit("fork_client.py: the server has ended")
status = int.from_bytes(answer, "little", signed=True)
if status < 0:
    if -status != _signal.SIGKILL:
        _signal.signal(-status, _signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
