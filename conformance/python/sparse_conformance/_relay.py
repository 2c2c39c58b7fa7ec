"""What the judge starts when a function of another Python process is to answer it.

    judge <--pipes--> this program --its ends of the pipes--> the process that called `check`, which answers on them

It needs nothing but the standard library and imports nothing of this package, so that it starts at once. It lives as long as the judge and
that process talk, so that the judge sees it die if that process does.
"""

import array
import socket
import sys


def main(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        ends = array.array("i", [0, 1])
        connection.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, ends)])
        connection.recv(1)  # nothing comes: it returns when the other side is done


if __name__ == "__main__":
    main(sys.argv[1])
