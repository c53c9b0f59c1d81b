#!/usr/bin/env python3
"""--diff of two heap dumps says what their own reports say, subtracted.

    heap_diff.py DIRECTORY -- lj-parse-memprof

The directory has one.ljd and two.ljd, of heap.lua."""

import collections
import os
import sys

import readers
from readers import must


def table(parser, view, *args):
    doc = readers.strict_json(readers.run(parser, "--format=json", "--view=" + view, *args))
    keys = [c["key"] for c in doc["columns"]]
    must(len(set(keys)) == len(keys), "columns %s", keys)
    return [dict(zip(keys, row)) for row in doc["rows"]]


def sums(rows, *keys):
    """Figures by name: shapes of one dump may share theirs."""
    found = collections.defaultdict(lambda: [0] * len(keys))
    for row in rows:
        for i, key in enumerate(keys):
            found[row["name"]][i] += row[key]
    return found


def check_view(parser, old, new, view, keys, *options):
    """All rows whose figures differ are there, with right changes and new figures."""
    now = sums(table(parser, view, *options, new), *keys)
    base = sums(table(parser, view, *options, old), *keys)
    diff = {row["name"]: row for row in table(parser, view, *options, "--diff=" + old, new)}
    changed = 0
    for name in now.keys() | base.keys():
        was, is_now = base.get(name, [0] * len(keys)), now.get(name, [0] * len(keys))
        must(was == is_now or name in diff, "%s: no row of %s", view, name)
        for key, a, b in zip(keys, was, is_now):
            if name in diff:
                must((diff[name][key], diff[name][key + "-change"]) == (b, b - a),
                     "%s of %s: %s, not %d after %d", key, name, diff[name], b, a)
        changed += was != is_now
    must(changed >= 3, "%s: only %d rows changed", view, changed)


def check_paths(parser, old, new):
    """heap.lua adds to cache.users, and to nothing else that is that large."""
    rows = {row["name"]: row for row in table(parser, "retained", "--min=0", "--diff=" + old, new)}
    row = rows["_G.cache.users"]
    must(row["retained"] - row["base-retained"] == row["retained-change"] > 5000, "%s", row)
    for row in rows.values():
        known = [row[k] for k in ("retained", "base-retained", "retained-change")]
        must(None in known or known[0] - known[1] == known[2], "%s", row)
    text = readers.run(parser, "--diff=" + old, new).decode()
    must("is kept by _G.cache.users, " in text, "the summary names no growth:\n%s", text[:800])
    must("; it held 300 objects, and holds 399" in text, "entries:\n%s", text[:800])
    back = readers.run(parser, "--diff=" + new, old).decode()
    must(" less in use (-" in back and "is kept by" not in back, "it shrank:\n%s", back[:800])


def main():
    split = sys.argv.index("--")
    parser = sys.argv[split + 1:]
    old, new = (os.path.join(sys.argv[1], name + ".ljd") for name in ("one", "two"))
    check_view(parser, old, new, "types", ("bytes", "objects"))
    check_view(parser, old, new, "shapes", ("bytes", "objects"), "--min=0")
    check_paths(parser, old, new)


if __name__ == "__main__":
    main()
