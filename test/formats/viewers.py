#!/usr/bin/env python3
"""Viewers of .heapsnapshot open ours, and come to the same sizes.

    viewers.py devtools|memlab DUMP|DIRECTORY... -- lj-parse-memprof

DevTools' own code, or memlab's, runs in node. test/obtain --all fetches it.
Without it, or node, the test is skipped.
"""

import json
import os
import sys
import tempfile

import heapsnapshot
import readers
from readers import must

HERE = os.path.dirname(os.path.abspath(__file__))


def seen_by(viewer, place, *files):
    """What it makes of files; it may print what it wants."""
    out = os.path.join(os.path.dirname(files[0]), "seen.json")
    readers.run(["node", os.path.join(HERE, "viewers.mjs")], place, viewer, out, *files)
    with open(out, encoding="utf-8") as f:
        return json.load(f)


def check_sizes(viewer, place, parser, dump, path):
    """Every node is there, and every object retains what other formats say."""
    with open(path, "rb") as f:
        nodes = json.load(f)["snapshot"]["node_count"]
    seen = seen_by(viewer, place, path)
    must(seen["nodes"] == nodes, "%d nodes, not %d", seen["nodes"], nodes)
    must(seen["total"] == dump.total, "%d bytes, not %d", seen["total"], dump.total)
    objects = {int(i): n for i, n in seen["retained"].items() if int(i) % 2 and int(i) > 1}
    must(objects, "there are no objects")
    for i, n in objects.items():
        must(n in [retained for _, _, retained in dump.facts(i)], "%s: %d", dump.facts(i), n)
    return len(objects)


def main():
    viewer = sys.argv[1]
    split = sys.argv.index("--")
    place = readers.npm_package(viewer)
    written = {}
    with tempfile.TemporaryDirectory() as directory:

        def check(parser, path):
            dump = heapsnapshot.Dump(parser, path)
            name = os.path.join(directory, os.path.basename(path))
            for option in ("--min=1000", "--min=0"):
                readers.run(parser, "--format=heapsnapshot", option, "-o", name, path)
                found = check_sizes(viewer, place, parser, dump, name)
            must(found == len(dump.reached), "%d objects", found)
            written[os.path.basename(path)] = name

        failed = readers.each_stream(sys.argv[2:split], sys.argv[split + 1:], check)
        if failed or viewer != "devtools":
            return failed
        diff = seen_by(viewer, place, written["one.ljd"], written["two.ljd"])["diff"]
        if diff.get("table {id, later}") != [100, 0]:
            print("FAILED: Comparison says:", diff)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
