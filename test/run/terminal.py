"""Runs ljprof run on a terminal and presses Ctrl-C: terminal.py LJPROF LUAJIT."""
import os
import pty
import select
import sys
import time

ljprof, luajit = sys.argv[1:]
pid, master = pty.fork()
if pid == 0:
    os.execv(ljprof, [ljprof, "run", luajit, "endless.lua"])
out = b""
end = time.time() + 50
pressed = False
while True:
    assert time.time() < end, out
    if not select.select([master], [], [], 0.1)[0]:
        continue
    try:
        got = os.read(master, 65536)
    except OSError:  # The terminal is gone.
        break
    out += got
    if not pressed and b"up\r\n" in out:
        os.write(master, b"\x03")
        pressed = True
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == 1, (status, out)  # As luajit ends by an error,
assert b"interrupted!" in out, out  # which a second SIGINT would prevent.
assert b"Page: endless.html" in out, out
