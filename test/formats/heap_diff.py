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


def check_births(parser, old, new):
    """heap.lua makes 100 tables and drops one. New objects are those at addresses where none
    of their shape was: at addresses where none at all was, or an object of another shape."""
    def addresses(file):
        return {o["address"] for o in table(parser, "objects", "--top=1000000", file)
                if o["name"] != "(unreachable)"}
    now, base = addresses(new), addresses(old)
    rows = {row["name"]: row for row in table(parser, "shapes", "--min=0", "--diff=" + old, new)}
    for row in rows.values():
        must(row["new"] - row["deleted"] == row["objects-change"], "%s", row)
    made, lost = rows["table {id, later}"], rows["table {id, name, shared, tags}"]
    must((made["new"], made["deleted"]) == (100, 0), "%s", made)
    must((lost["new"], lost["deleted"]) == (0, 1), "%s", lost)
    fresh, gone = (sum(row[key] for row in rows.values()) for key in ("new", "deleted"))
    must(fresh - len(now - base) == gone - len(base - now) >= 0,
         "%d new objects at %d addresses, %d deleted ones at %d", fresh, len(now - base), gone,
         len(base - now))


def check_tree(parser, old, new):
    """Lines of what changed, in both directions; all changes are below the root."""
    total = [sum(o["bytes"] for o in table(parser, "objects", "--top=1000000", file)
                 if o["name"] != "(unreachable)") for file in (old, new)]
    there = table(parser, "tree", "--min=0", "--diff=" + old, new)
    back = table(parser, "tree", "--min=0", "--diff=" + new, old)
    for rows, change in ((there, total[1] - total[0]), (back, total[0] - total[1])):
        for row, below in zip(rows, rows[1:] + [{"depth": 0}]):
            must(row["retained"] - row["base-retained"] == row["retained-change"], "%s", row)
            must(row["retained-change"] or below["depth"] > row["depth"], "no change: %s", row)
        must(sum(row["retained-change"] for row in rows if row["depth"] == 0) == change,
             "the lines do not say what changed")
    must(sorted(-row["retained-change"] for row in back) ==
         sorted(row["retained-change"] for row in there), "other lines the other way round")
    must(any(row["name"].strip().startswith(".users ") for row in there), "no line of users")


def check_moved(parser, old, new):
    """A list that another one replaced is told though the sum is the same; entries of a queue
    that moved are the same; what is new below a key without a name is no other object."""
    tree = table(parser, "tree", "--diff=" + old, new)
    def lines(name):
        found = [row for row in tree if row["name"].strip().startswith(name)]
        return [(row["retained-change"] > 0) - (row["retained-change"] < 0) for row in found]
    must((lines(".one "), lines(".two ")) == ([-1], [1]), "replaced: %s", tree)
    at = next(i for i, row in enumerate(tree) if row["name"].strip().startswith(".queue "))
    below = [row for row in tree[at + 1:] if row["depth"] == tree[at]["depth"] + 1]
    below = below[:next((i for i, row in enumerate(tree[at + 1:])
                         if row["depth"] <= tree[at]["depth"]), len(tree))]
    entries = [row for row in below if row["name"].strip().startswith("[")
               and "list of tables" in row["name"] and row["base-retained"] < 200000]
    must([(row["name"].split()[0], row["retained"]) for row in entries] == [("[1]", 0)],
         "entries: %s", entries)
    big = max(tree, key=lambda row: row["name"].strip().startswith("[table]") and row["retained"])
    must(big["base-retained"] == 0 and big["retained"] > 300000, "new, by a table: %s", big)
    rows = {row["name"]: row for row in table(parser, "shapes", "--diff=" + old, new)}
    must([(rows[n]["new"], rows[n]["deleted"]) for n in
          ("table {fresh}", "table {stale}", "table {job}", "table {value}")] ==
         [(4000, 0), (0, 4000), (0, 1000), (6000, 0)], "shapes: %s", rows)


def check_cut(parser, old, new, cut):
    """Of a dump that is not whole it is not known what is new, nor what keeps more."""
    with open(new, "rb") as whole, open(cut, "wb") as part:
        part.write(whole.read()[:20000])
    for first, second in ((old, cut), (cut, new), (cut, cut)):
        def view(*args):
            return readers.run(parser, *args, "--diff=" + first, second, statuses=(0, 1))
        doc = readers.strict_json(view("--format=json", "--view=shapes"))
        keys = [c["key"] for c in doc["columns"]]
        for row in doc["rows"]:
            row = dict(zip(keys, row))
            must(row["new"] is None and row["deleted"] is None, "%s", row)
        must(b"Unknown: " in view("--view=summary"), "the summary knows too much")
        page = view("--format=html")
        must(b'"grown":"' not in page and b'"keeps":0' in page, "the page knows too much")


def main():
    split = sys.argv.index("--")
    parser = sys.argv[split + 1:]
    old, new = (os.path.join(sys.argv[1], name + ".ljd") for name in ("one", "two"))
    check_view(parser, old, new, "types", ("bytes", "objects"))
    check_view(parser, old, new, "shapes", ("bytes", "objects"), "--min=0")
    check_paths(parser, old, new)
    check_births(parser, old, new)
    check_tree(parser, old, new)
    old, new, cut = (os.path.join(sys.argv[1], name + ".moved")
                     for name in ("three", "four", "cut"))
    check_moved(parser, old, new)
    check_cut(parser, old, new, cut)


if __name__ == "__main__":
    main()
