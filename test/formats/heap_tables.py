#!/usr/bin/env python3
"""Views of a heap dump have the same rows as text, JSON and CSV, and they agree with
the list of all objects.

    heap_tables.py DUMP|DIRECTORY... -- lj-parse-memprof
"""

import collections
import itertools
import re
import sys

import readers
from readers import must

# Views, and the options without which text leaves out what is small.
VIEWS = {"types": (), "shapes": ("--min=0",), "retained": ("--min=0", "--top=5000"),
         "sparse": ("--min=0", "--top=5000"), "weak": ("--min=0",), "threads": (), "tree": ("--min=0",),
         "rss": (),
         "paths": ("--path=list of",), "objects": ()}
HIDDEN = ("path", "depth")  # Columns that text shows otherwise.
UNITS = {"bytes", "percent", "count", "text"}


def table_of(parser, view, options, path):
    """--format=json: [(key, title, unit)], rows."""
    doc = readers.strict_json(readers.run(parser, "--format=json", "--view=" + view, *options, path))
    must(doc["of"] == ["heap"] and doc["view"] == view and doc["format"] == 1, "of %s, view %s",
         doc["of"], doc["view"])
    columns = [(c["key"], c["title"], c["unit"]) for c in doc["columns"]]
    must(len({key for key, _, _ in columns}) == len(columns), "a column comes twice")
    for row in doc["rows"]:
        must(len(row) == len(columns), "a row of %d columns", len(row))
        for value, (key, _, unit) in zip(row, columns):
            must(unit in UNITS, "unit %s of %s", unit, key)
            kind = {"text": str, "percent": (int, float)}.get(unit, int)
            must(value is None or (isinstance(value, kind) and (unit == "text" or value >= 0)),
                 "%s is %r", key, value)
    return columns, doc["rows"]


def check_csv(parser, view, options, path, columns, rows):
    head, found = readers.csv_table(
        readers.run(parser, "--format=csv", "--view=" + view, *options, path))
    must(head == [key for key, _, _ in columns], "CSV has columns %s", head)
    must(len(found) == len(rows), "%d rows of CSV, %d of JSON", len(found), len(rows))
    for csv, row in zip(found, rows):
        for field, value, (key, _, unit) in zip(csv, row, columns):
            same = field == (value or "") if unit == "text" else (
                float(field or "nan") == value or (value is None and field == ""))
            must(same, "%s: %r of CSV, %r of JSON", key, field, value)


def shown(value, unit):
    """What text may have for it. JSON rounds, too: its 16.05 may be 16.04996 or 16.05004."""
    if unit == "text":
        return {value}
    if value is None:
        return {"-"}
    if unit == "percent":
        return {"%.1f%%" % (value + rounded) for rounded in (-0.00005, 0.00005)}
    return {str(value)}


def check_text(parser, view, options, path, columns, rows):
    """Each row, but for spaces: what is text is escaped alike."""
    data = readers.run(parser, "--view=" + view, *options, path).decode("utf-8")
    found = {re.sub(r"\s+", "", line) for line in data.splitlines()}
    titles = {t for _, t, _ in columns}

    def lines(row):
        cells = [shown(value, unit) for value, (key, _, unit) in zip(row, columns)
                 if key not in HIDDEN]
        return {re.sub(r"\s+", "", "".join(texts)) for texts in itertools.product(*cells)}

    missing = [row for row in rows if not lines(row) & found]
    must(not missing, "%d of %d rows are not in the text: %s, of %s", len(missing), len(rows),
         missing[:3], titles)


def check_sums(tables):
    """Types, and what is retained, follow from the list of objects."""
    objects = [dict(zip((k for k, _, _ in tables["objects"][0]), row))
               for row in tables["objects"][1]]
    types = {row[-1]: row[:-1] for row in tables["types"][1]}
    for name, row in types.items():
        mine = [o for o in objects if name in (o["type"], "total")]
        lost = [o for o in mine if o["name"] == "(unreachable)"]
        must(row[0] == sum(o["bytes"] for o in mine) and row[2] == len(mine), "type %s: %s", name,
             row)
        must(row[3] == sum(o["bytes"] for o in lost) and row[4] == len(lost), "garbage %s: %s",
             name, row)
    must(sum(row[0] for row in tables["shapes"][1]) ==
         sum(o["bytes"] for o in objects if o["name"] != "(unreachable)"), "bytes of shapes")
    paths = collections.Counter((o["retained"], o["bytes"], o["name"]) for o in objects)
    for retained, _, size, _, name in tables["retained"][1]:
        must(paths[retained, size, name] > 0, "%s retains %d", name, retained)


def check_rss(parser, path, columns, rows):
    """All that is resident is in one part, and the summary says the same."""
    there = [c[0] for c in columns].index("resident")
    *parts, (total, *_) = [(row[there], row[-1]) for row in rows]
    must(sum(n for n, _ in parts) == total > 2 ** 20, "parts of %d: %s", total, parts)
    text = readers.run(parser, path).decode("utf-8")
    said = re.search(r"\n  RSS ([\d.]+)MiB: Lua in use ([\d.]+)(\w+), .*, C and others ", text)
    must(said and abs(float(said[1]) * 2 ** 20 - total) < 2 ** 17, "RSS of %d: %s", total, text[:500])


def check_named(parser, path):
    """An object is found by its path, and by the address that this tells."""
    # Without contents of strings, fields have no names.
    name, steps = ("_G", 1) if path.endswith("private.ljd") else ("_G.cache.users[17]", 4)
    columns, rows = table_of(parser, "paths", ("--path=" + name,), path)
    address = [key for key, _, _ in columns].index("address")
    must(len(rows) == steps, "%s: %s", name, rows)
    must(table_of(parser, "paths", ("--path=" + rows[-1][address],), path)[1] == rows,
         "by address: not %s", rows)
    if steps > 1:  # A metatable, which has a name of its own, is what other views say.
        last = table_of(parser, "paths", ("--path=_G.Class",), path)[1][-1][-1]
        what = {row[-1]: row[-2] for row in table_of(parser, "retained", ("--min=0",), path)[1]}
        must(last == "  .Class  " + what["_G.Class"], "%r, not %s", last, what["_G.Class"])


def check(parser, path):
    check_named(parser, path)
    tables = {}
    for view, options in VIEWS.items():
        columns, rows = tables[view] = table_of(parser, view, options, path)
        must(rows, "--view=%s has no rows", view)
        check_csv(parser, view, options, path, columns, rows)
        if view != "objects":  # As text that is a list of another form.
            check_text(parser, view, options, path, columns, rows)
    check_sums(tables)
    check_rss(parser, path, *tables["rss"])


def main():
    split = sys.argv.index("--")
    return readers.each_stream(sys.argv[1:split], sys.argv[split + 1:], check)


if __name__ == "__main__":
    sys.exit(main())
