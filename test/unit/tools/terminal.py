#!/usr/bin/env python3
"""What lj-parse-memprof writes to a terminal: lines fit, colour and bars only
where they are wanted, long reports go to a pager, nothing binary is written.

  terminal.py TESTS PROGRAM...
"""
import fcntl
import gzip
import os
import pty
import re
import struct
import sys
import tempfile
import termios
import unicodedata

tests, program = sys.argv[1], sys.argv[2:]
failed = False
SEQUENCE = re.compile('\033\\[[0-9;?]*[A-Za-z]')


def wrong(what):
    global failed
    print('FAILED:', what)
    failed = True


def run(args, columns=80, rows=1000, **env):
    """The status and the text of a run on a terminal of that size."""
    pid, fd = pty.fork()
    if pid == 0:
        size = struct.pack('HHHH', rows, columns, 0, 0)
        fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        for name in ('COLUMNS', 'LINES', 'NO_COLOR', 'LESS', 'LJPROF_PAGER'):
            os.environ.pop(name, None)
        os.environ.update({'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', 'PAGER': ''})
        os.environ.update(env)
        os.execvp(program[0], program + args)
    out = b''
    while True:
        try:
            some = os.read(fd, 65536)
        except OSError:
            break
        if not some:
            break
        out += some
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    text = out.replace(b'\r\n', b'\n').decode('utf-8', 'replace')
    return os.waitstatus_to_exitcode(status), text


def width(line):
    line = SEQUENCE.sub('', line).expandtabs(8)
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in 'WF' else 1
               for c in line)


def fits(what, text, columns):
    for line in text.split('\n'):
        if width(line) > columns:
            wrong('%s: %d columns: %s' % (what, width(line), line))


def need(what, condition, text=''):
    if not condition:
        wrong(what)
        print(text)


def unpack(name, path):
    with gzip.open(os.path.join(tests, name)) as f:
        data = f.read()
    with open(path, 'wb') as f:
        f.write(data)


def views(recordings, names, columns):
    for view in names:
        args = ['--view=' + view, '--min=0'] + recordings
        status, text = run(args, columns)
        if '--min is not for' in text:
            status, text = run(['--view=' + view] + recordings, columns)
        need('%s: status %d' % (view, status), status == 0, text)
        need(view + ': no rows', text.count('\n') > 2, text)
        fits('%s at %d' % (view, columns), text, columns)


os.chdir(tempfile.mkdtemp())
unpack('golden/stacks-on.ljm.gz', 'mem.ljm')
unpack('golden/joint.ljm.gz', 'joint.ljm')
unpack('golden/joint.ljp.gz', 'joint.ljp')
unpack('golden/heap.ljd.gz', 'heap.ljd')

# Every view fits.
for columns in (80, 47, 132):
    views(['mem.ljm'], ['sites', 'functions', 'lines', 'types', 'sizes', 'tree',
                        'callers', 'time'], columns)
    views(['joint.ljp'], ['functions', 'lines', 'tree', 'callers', 'threads'],
          columns)
    views(['joint.ljm', 'joint.ljp'], ['functions', 'lines', 'tree'], columns)
    views(['heap.ljd'], ['summary', 'types', 'shapes', 'retained', 'sparse',
                         'tree'], columns)

# The size of the terminal can be overridden.
_, text = run(['--view=lines', 'mem.ljm'], COLUMNS='60')
fits('COLUMNS', text, 60)
need('COLUMNS: as wide as before', run(['--view=lines', 'mem.ljm'])[1] != text)

# The note before a table is wrapped.
_, text = run(['--view=lines', '--focus=' + 'x' * 200, 'mem.ljm'], 60)
fits('a long note', re.sub('.*matches no frame.*', '', text), 60)

# Colour and bars.
plain = ['--view=types', '--columns=type,bytes', 'mem.ljm']
need('no bold heading', '\033[1m' in run(plain)[1])
for args, env in ((['--color=never'], {}), ([], {'NO_COLOR': '1'}),
                  ([], {'TERM': 'dumb'})):
    text = run(args + ['--view=functions', 'mem.ljm'], **env)[1]
    need('colour with %s %s' % (args, env), '\033[' not in text, text)
need('--color is not heeded',
     '\033[1m' in run(['--color'] + plain, NO_COLOR='1')[1])
bars = ['--view=functions', '--columns=self,self-percent,name', 'mem.ljm']
need('no bar', '\u2588' in run(bars, 120)[1])
need('a bar in ASCII', '##' in run(bars, 120, LC_ALL='C')[1])

# Columns, sizes.
text = run(['--columns=name,self', '--color=never', 'mem.ljm'])[1]
need('--columns', re.search('^FUNCTION +self$', text, re.M), text)
table = ['--view=types', '--no-summary', 'mem.ljm']
need('no units', 'KiB' in run(table)[1])
need('--exact', 'KiB' not in run(['--exact'] + table)[1])

# A report that is longer than the screen is paged, and no other.
pager = "tr a-z A-Z"
for args, rows, paged in (([], 10, True), ([], 1000, False),
                          (['--no-pager'], 10, False)):
    status, text = run(args + ['mem.ljm'], rows=rows, PAGER=pager)
    need('pager %s %d' % (args, rows), ('INTERNAL HOLDS' in text) == paged, text)
    need('pager: status', status == 0)
need('LJPROF_PAGER', 'INTERNAL HOLDS' in run(
    ['mem.ljm'], rows=10, PAGER='cat', LJPROF_PAGER=pager)[1])
need('a missing pager', 'INTERNAL holds' in run(
    ['mem.ljm'], rows=10, PAGER='no-such-pager')[1])

# The status is the report's; to quit the pager is no error.
status, text = run(['--limit=bytes<1', 'mem.ljm'], rows=10, PAGER='true')
need('status with a pager: %d' % status, status == 3, text)
big = ['--format=json', 'mem.ljm', 'joint.ljm']
status, text = run(big, rows=10, PAGER='head -c 1 > /dev/null')
need('a pager that is quit: %d' % status, status == 0 and not text, text)

# Binary formats are not for terminals.
status, text = run(['--format=pprof', 'mem.ljm'])
need('pprof', status == 64 and text.count('\n') == 1 and '-o FILE' in text,
     text)

# Followed to its end: one report in place, not more than the screen.
status, text = run(['--follow', 'mem.ljm'], rows=12)
need('--follow: status', status == 0, text)
need('--follow: rows', 3 < text.count('\n') <= 11, text)
need('--follow: what is left', re.search(r'\(\d+ more lines\)', text), text)
need('--follow: the cursor', text.endswith('\033[?25h'), text)

sys.exit(failed)
