"""Runs ljprof top on a terminal of 60 columns, and stacks: terminal.py LJPROF PID."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

ROWS, COLUMNS = 12, 60
ljprof, pid = sys.argv[1:]


class Top:
    """A ljprof top, and what it has written."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.resize(ROWS, COLUMNS)
        self.before = termios.tcgetattr(self.slave)
        self.out = b""
        self.child = subprocess.Popen(
            [ljprof, "top", "-p", pid, "-d", "0.5"],
            stdin=self.slave, stdout=self.slave, stderr=self.slave,
            start_new_session=True)

    def resize(self, rows, columns):
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, size)

    def wait(self, what, seconds=20):
        end = time.time() + seconds
        while what not in self.out:
            assert time.time() < end, (what, self.out)
            if select.select([self.master], [], [], 0.1)[0]:
                self.out += os.read(self.master, 65536)

    def key(self, key):
        self.out = b""
        os.write(self.master, key)

    def ended(self):
        """It has ended well, and the terminal is as it was."""
        self.wait(b"\x1b[?25h\x1b[?1049l")
        assert self.child.wait(10) == 0, self.child.returncode
        assert termios.tcgetattr(self.slave) == self.before


def lines(out):
    """What is on the screen, without control sequences."""
    return re.sub(rb"\x1b\[[?0-9]*[a-zA-Z]", b"", out).splitlines()


top = Top()
top.wait(b"q quit")
assert b"quadratic" in top.out, top.out
for line in lines(top.out):
    assert len(line) <= COLUMNS, line
top.key(b"t")
top.wait(b"TOTAL*")
top.key(b"n")
top.wait(b"LINE*")
top.resize(ROWS, 30)
top.key(b"s")
top.child.send_signal(signal.SIGWINCH)
top.wait(b"SELF*")
top.key(b"q")
top.ended()

top = Top()
top.wait(b"\x1b[?1049h")
top.child.send_signal(signal.SIGTERM)
top.ended()

# The stacks fit, too.
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 50, 0, 0))
stacks = subprocess.Popen([ljprof, "stacks", "-p", pid], stdin=slave,
                          stdout=slave, start_new_session=True)
assert stacks.wait(20) == 0, stacks.returncode
text = os.read(master, 65536).decode()
assert "quadratic" in text and ".." in text, text
for line in text.splitlines():
    assert len(line) <= 50, line
