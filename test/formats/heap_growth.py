#!/usr/bin/env python3
"""--growth of heap dumps says what their own reports say.

    heap_growth.py DIRECTORY -- lj-parse-memprof

The directory has one.ljd and two.ljd, of heap.lua; DIRECTORY.ljm is their recording."""

import os
import subprocess
import sys
import tempfile

import readers
from heap_diff import sums, table
from readers import must

VERDICTS = {"grew at each step", "shrank", "same", "came and went"}


def check_view(parser, files, view, key, least):
    """Figures are those of each dump's own report, where a name is there once."""
    rows = table(parser, view, "--min=0", "--growth", *files)
    own = [table(parser, view, "--min=0", file) for file in files]
    compared = 0
    for row in rows:
        cells = [row["dump-1"], row["dump-2"]]
        if row["verdict"] == "not comparable":
            must(row["growth"] is None, "%s", row)
            continue
        must(cells[1] - cells[0] == row["growth"] and row["verdict"] in VERDICTS, "%s", row)
        for cell, was in zip(cells, own):
            named = [r[key] for r in was if r["name"] == row["name"]]
            compared += bool(named)
            must(len(named) != 1 or cell == named[0], "%s: %s, not %s", row["name"], cell, named)
    must(compared >= least, "%s: only %d figures compared", view, compared)


def check_shapes(parser, files):
    """All shapes whose bytes differ are there."""
    rows = {row["name"]: row for row in table(parser, "shapes", "--min=0", "--growth", *files)}
    old, new = (sums(table(parser, "shapes", "--min=0", file), "bytes") for file in files)
    changed = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    must(changed and changed == rows.keys(), "shapes: %s", changed ^ rows.keys())
    for name, row in rows.items():
        want = old.get(name, [0]) + new.get(name, [0])
        must([row["dump-1"], row["dump-2"]] == want, "%s, not %s", row, want)


def made(parser, recording, file):
    """What each line made of what is in use in one dump."""
    rows = [row for row in table(parser, "makers", "--min=0", recording, file)
            if row["keeper"] not in ("(garbage)", "(unknown)")]
    return {name: n for name, (n,) in sums(rows, "bytes").items()}


def check_makers(parser, recording, files):
    """All lines whose bytes differ are there, and each dump has as much as it has alone."""
    rows = {row["name"]: row
            for row in table(parser, "makers", "--min=0", "--growth", recording, *files)}
    old, new = (made(parser, recording, file) for file in files)
    changed = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    must(len(changed) >= 2 and changed == rows.keys(), "makers: %s", changed ^ rows.keys())
    for name, row in rows.items():
        cells = [row["dump-1"], row["dump-2"]]
        must(cells == [old.get(name, 0), new.get(name, 0)] and cells[1] - cells[0] == row["growth"],
             "%s, not %s, %s", row, old.get(name), new.get(name))


def check_cut(parser, recording, files):
    """What is wrong with the recording is printed once, and what is missing for each dump."""
    with tempfile.TemporaryDirectory() as directory:
        cut = os.path.join(directory, "cut.ljm")
        with open(recording, "rb") as whole, open(cut, "wb") as f:
            f.write(whole.read(3000))
        p = subprocess.run([*parser, "--growth", cut, *files], capture_output=True, text=True,
                           check=False)
    must(p.returncode == 1 and "    _G.cache.users, a table" in p.stdout, "status %d:\n%s",
         p.returncode, p.stdout[:800])
    must(p.stderr.count("cut.ljm: killed or still recording") == 1 and
         all(file + ": " + cut + " has lost the record" in p.stderr for file in files) and
         p.stderr.count("\n") == 1 + len(files), "a cut recording:\n%s", p.stderr)


def main():
    split = sys.argv.index("--")
    parser = sys.argv[split + 1:]
    files = [os.path.join(sys.argv[1], name + ".ljd") for name in ("one", "two")]
    check_view(parser, files, "retained", "retained", 5)
    check_view(parser, files, "shared", "retained", 0)
    check_shapes(parser, files)
    recording = sys.argv[1] + ".ljm"
    check_makers(parser, recording, files)
    check_cut(parser, recording, files)
    text = readers.run(parser, "--growth", *files).decode()
    must("  Grew at each step:\n    _G.cache.users, a table" in text, "the summary:\n%s", text[:800])
    must(" made at " not in text, "nobody knows who made it:\n%s", text[:800])
    text = readers.run(parser, "--growth", recording, *files).decode()
    line = text[text.index("    _G.cache.users, a table"):].split("\n")[0]
    must(" made at users (" in line and line.endswith("heap.lua:16)"), "who made it: %s", line)
    must("\nLINES THAT MADE IT\n" in text, "the summary:\n%s", text)


if __name__ == "__main__":
    main()
