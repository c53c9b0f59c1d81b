#!/usr/bin/env python3
"""Every format shows the same numbers.

    same.py STREAM|DIRECTORY... -- lj-parse-memprof

Takes each format of each stream apart and compares what it tells by stack, by
line, by function and overall. Of whole recordings all numbers are equal; of
samples, numbers are rounded, each in its own place, and only their sums are.
"""

import collections
import re
import subprocess
import sys

import readers
from readers import must

# Values of pprof and profiles of speedscope, by metric.
PPROF = {"allocations": "alloc_objects", "bytes": "alloc_space", "live-objects": "inuse_objects",
         "live": "inuse_space", "peak-objects": "peak_objects", "peak": "peak_space",
         "temporary-objects": "temporary_objects", "temporary": "temporary_space",
         "samples": "samples"}
FOLDED = ("bytes", "allocations", "live")
VIEWS = {"memory": ("types", "sizes", "time", "functions", "lines", "processes"),
         "cpu": ("threads", "time", "functions", "lines", "processes")}
EVERY = {"functions": ("--min=0",), "lines": ("--min=0",)}


def by(stacks, *, leaf=lambda frame: frame):
    """What stacks have in their innermost frames."""
    result = collections.Counter()
    for path, n in stacks.items():
        result[leaf(path[-1])] += n
    return result


def in_total(stacks):
    """What stacks have that a frame is in, once for each stack."""
    result = collections.Counter()
    for path, n in stacks.items():
        for frame in set(path):
            result[frame] += n
    return result


def some(counter):
    return {k: n for k, n in counter.items() if n}


class Stream:
    """A stream, and what its formats have in common."""

    def __init__(self, parser, path):
        self.parser, self.path = parser, path
        status = subprocess.run([*parser, "--format=json", path], capture_output=True, check=False)
        self.status = status.returncode
        must(self.status in (0, 1), "status %d: %s", self.status, status.stderr)
        self.doc = readers.Document(status.stdout)
        self.cpu = self.doc.of == ["cpu"]
        must(self.doc.of in (["cpu"], ["memory"]), "it is of %s", self.doc.of)
        must(self.doc.raw["files"] == [path], "the document is of %s", self.doc.raw["files"])
        damage = self.doc.raw["summary"]["damage"]
        must(bool(damage) == bool(self.status), "status %d, damage %s", self.status, damage)
        must(all(d["file"] == path and d["what"] for d in damage), "damage %s", damage)

    def read(self, *args):
        return readers.run(self.parser, *args, self.path, statuses=(self.status,))

    def equal(self, what, ours, theirs, near=None):
        """Two sets of numbers are the same; of samples, nearly. NEAR tells how many
        roundings a number may have seen."""
        for key in sorted(set(ours) | set(theirs), key=str):
            slack = (0 if near is None else near[key]) if self.doc.sampled else 0
            a, b = ours.get(key, 0), theirs.get(key, 0)
            must(abs(a - b) <= slack, "%s: %r is %d in the document, %d there", what, key, a, b)

    def roundings(self, name):
        """So many nodes, each rounded, are in what a name has."""
        result = collections.defaultdict(lambda: 3)
        for path in self.doc.paths:
            for s in set(map(name, path)):
                result[s] += 1
            result[tuple(map(name, path))] += 1
        return result


def check_document(s):
    """Sums are the totals."""
    doc = s.doc
    for metric in doc.metrics:
        if doc.totals[metric] is None:
            must(not any(doc.self_of(metric)), "%s is not known", metric)
            continue
        must(sum(doc.self_of(metric)) == doc.totals[metric], "total of %s", metric)
    functions = doc.raw["functions"]
    for label, line, kind in zip(functions["label"], functions["line"], functions["kind"]):
        must(line is None or kind == "lua" and ":%d" % line in label, "%s, line %s", label, line)
    if s.cpu:
        must(doc.totals["samples"] == doc.raw["summary"]["books"]["samples"], "samples")
    for name, table in doc.tables.items():
        keys = [c["key"] for c in table["columns"]]
        must(all(len(r) == len(keys) for r in table["rows"]), "rows of %s", name)


def check_sites(s):
    """--view=sites"""
    text = readers.text_sites(s.read("--view=sites"))
    near = s.roundings(s.doc.site)
    at = {m: by(s.doc.stacks(m, s.doc.site)) for m in s.doc.metrics}
    made, moved, held = text["ALLOCATIONS"], text["REALLOCATIONS"], text["HEAP SUMMARY"]
    for i, metric in enumerate(("allocations", "bytes")):
        there = collections.Counter({k: v[i] for k, v in made.items()})
        there.update({k: v[i] for k, v in moved.items()})
        s.equal("sites, " + metric, at[metric], there, near)
    s.equal("sites, reallocations", at["reallocations"], {k: v[0] for k, v in moved.items()}, near)
    s.equal("sites, live", {k: n for k, n in at["live"].items() if n > 0 or k in held},
            {k: v[0] for k, v in held.items()}, near)
    if not s.status:
        s.equal("sites, deallocations", {k: at["deallocations"][k] for k in held},
                {k: v[2] for k, v in held.items()}, near)
    freed = sum(v[2] for v in text["DEALLOCATIONS"].values()) + sum(v[2] for v in moved.values())
    if s.doc.sampled: # A row is not shown if only what was reallocated is a sample.
        must(freed <= s.doc.totals["freed"] + 2 * len(near), "sites, freed: %d", freed)
    else:
        must(freed == s.doc.totals["freed"], "sites, freed: %d", freed)


def check_tree(s):
    """--view=tree"""
    tree = readers.text_tree(s.read("--view=tree", "--min=0"), s.cpu)
    near = s.roundings(s.doc.site)
    for i, metric in enumerate(("samples",) if s.cpu else ("bytes", "allocations", "live")):
        stacks = s.doc.stacks(metric, s.doc.site)
        total = collections.Counter()
        for path, n in stacks.items():
            for end in range(len(path) + 1):
                total[path[:end]] += n
        slack = collections.defaultdict(lambda: s.doc.n)
        s.equal("tree, " + metric, {p: n for p, n in total.items() if n and p in tree or n > 0},
                {p: v[i] for p, v in tree.items()}, slack)
        if s.cpu:
            s.equal("tree, self", stacks, {p: v[1] for p, v in tree.items()}, near)


def plain(label):
    """A site's label as frames of stacks have it, without marks."""
    return re.sub(r"(:\d+)\?(, )", r"\1\2", label).replace(", ~line ", ", line ").replace(";", "\\x3b")


def check_stacks(s):
    """--format=folded, speedscope"""
    doc = s.doc
    scope = readers.speedscope(s.read("--format=speedscope"))
    title = {m["key"]: m["title"] for m in doc.raw["metrics"]}
    near = s.roundings(lambda site: plain(doc.site(site)))
    for metric in ("samples",) if s.cpu else FOLDED:
        option = () if s.cpu else ("--metric=" + metric,)
        lines = readers.folded(s.read("--format=folded", *option))
        must(some(lines) == some(scope[title[metric]]), "folded and speedscope differ in %s", metric)
        if s.cpu: # Frames have other names there.
            must(sum(lines.values()) == doc.totals["samples"], "folded has %d", sum(lines.values()))
            continue
        ours = doc.stacks(metric, lambda site: plain(doc.site(site)))
        s.equal("folded, " + metric, {p: n for p, n in ours.items() if n > 0}, lines, near)
        if all(n >= 0 for n in ours.values()):
            must(sum(lines.values()) == doc.totals[metric], "folded has %d", sum(lines.values()))
    return scope, title


def check_functions(s, pprof):
    """pprof has the functions of the document: names, whole paths of files, lines."""
    columns = s.doc.raw["functions"]
    ours = collections.defaultdict(set)
    for row in zip(*columns.values()):
        row = dict(zip(columns, row))
        ours[row["label"]].add((row["name"] or "", row["file"] or "", row["line"] or 0,
                                row["module"] or ""))
    for at in pprof.location.values():
        file = at["file"]
        known = {(name, file if cut[:3] == "..." and file.endswith(cut[3:].lstrip("\ufffd")) else cut, line, module)
                 for name, cut, line, module in ours[at["name"]]}
        must((at["system"], file, at["start"], at["mapping"] or "") in known,
             "pprof: function %s, not one of %s", at, known)


def check_pprof(s, scope, title):
    """--format=pprof"""
    doc = s.doc
    pprof = readers.Pprof(s.read("--format=pprof"))
    kinds = [kind for kind, _ in pprof.types]
    check_functions(s, pprof)
    must(pprof.default == ("cpu" if s.cpu else "alloc_space"), "default %s", pprof.default)
    must(bool(doc.raw["summary"]["sampled"]) == any("Sampled" in c for c in pprof.comments),
         "comments %s", pprof.comments)
    lines, funcs = s.roundings(doc.line), s.roundings(doc.function)
    for metric in doc.metrics:
        if PPROF.get(metric) not in kinds:
            must(metric not in PPROF, "%s is not in pprof's values", metric)
            continue
        there = pprof.stacks(PPROF[metric], lambda at: (at["name"], at["line"]))
        s.equal("pprof, lines, " + metric, doc.stacks(metric, doc.line), there, lines)
        there = pprof.stacks(PPROF[metric], lambda at: at["name"])
        ours = doc.stacks(metric, doc.function)
        s.equal("pprof, functions, " + metric, by(ours), by(there), funcs)
        s.equal("pprof, functions in total, " + metric, in_total(ours), in_total(there), funcs)
        must(sum(there.values()) == doc.totals[metric], "pprof's sum of %s", metric)
        if title[metric] in scope and all(n >= 0 for n in there.values()):
            must(sum(scope[title[metric]].values()) == sum(there.values()),
                 "speedscope's sum of %s", metric)
    if "cpu" in kinds:
        must(pprof.stacks("cpu", str) == collections.Counter(
            {p: n * pprof.period for p, n in pprof.stacks("samples", str).items()}), "CPU time")


def cell(value):
    return "" if value is None else "%.6g" % value if isinstance(value, float) else str(value)


def columns_of(table):
    """{key: column}"""
    keys = [c["key"] for c in table["columns"]]
    must(len(set(keys)) == len(keys), "columns %s", keys)
    return dict(zip(keys, zip(*table["rows"]) if table["rows"] else [()] * len(keys)))


def check_tables(s):
    """Views as JSON and as CSV; those of the document are the same."""
    for view in VIEWS[s.doc.of[0]]:
        options = ("--view=" + view, *EVERY.get(view, ()))
        table = readers.strict_json(s.read("--format=json", *options))
        must(table["view"] == view and table["of"] == s.doc.of, "it is %s", table["view"])
        columns = columns_of(table)
        if view in s.doc.tables: # There, more is counted.
            more = columns_of(s.doc.tables[view])
            must(all(columns[key] == more[key] for key in columns), "the document's %s", view)
        head, rows = readers.csv_table(s.read("--format=csv", *options))
        must(head == [c["key"] for c in table["columns"]], "columns %s", head)
        must(rows == [[cell(v) for v in r] for r in table["rows"]], "csv of %s", view)
        if view == "types":
            check_text(s, table)
        elif view in ("functions", "lines"):
            check_rows(s, view, columns)
        elif view == "processes":
            check_processes(s, columns)


def check_processes(s, columns):
    """Processes add up to the totals."""
    near = len(s.doc.tables["types"]["rows"]) if s.doc.sampled else 0
    for key in {"allocations", "bytes", "live", "samples"} & set(columns):
        must(abs(sum(columns[key]) - s.doc.totals[key]) <= near, "processes: sum of %s is %d, not %d",
             key, sum(columns[key]), s.doc.totals[key])


def check_text(s, table):
    """--view=types as text."""
    texts = [re.split("  +", line) for line in readers.lines_of(s.read("--view=types"))]
    texts = texts[texts.index([c["title"] for c in table["columns"]]) + 1:]
    must(texts == [["-" if v is None else str(v) for v in r] for r in table["rows"]], "text of types")


def unmarked(label):
    """A function's label without the mark that some of it is unsure."""
    return label[1:] if label[:1] == "~" else label


def check_rows(s, view, columns):
    """--view=functions and lines: what each has itself, of all metrics, and in total."""
    name = s.doc.function if view == "functions" else s.doc.site
    labels = [unmarked(n) if view == "functions" else n for n in columns["name"]]
    near = s.roundings(name)
    main = "samples" if s.cpu else "bytes"
    stacks = s.doc.stacks(main, name)
    there = {key: collections.Counter() for key in columns}
    for key, column in columns.items():
        if key == "name" or key.endswith("percent"):
            continue
        for label, n in zip(labels, column):
            there[key][label] += n or 0
    if len(set(labels)) == len(labels): # Else a stack may count twice.
        s.equal(view + ", total", in_total(stacks), there["total"], near)
    s.equal(view + ", self", by(stacks), there["self"], near)
    for metric in set(columns) & set(s.doc.metrics):
        s.equal("%s, %s" % (view, metric), by(s.doc.stacks(metric, name)), there[metric], near)
    if s.cpu:
        text = readers.text_rows(s.read("--view=" + view, "--min=0"), view.upper()[:-1])
        must({k: v[0] for k, v in text.items()} ==
             {k: n for k, n in zip(columns["name"], columns["self"])}, "text of %s", view)


def check_sums(s):
    """Steps, sizes and threads add up to the totals."""
    summary = s.doc.raw["summary"]
    if not s.cpu:
        must(abs(summary["peak"]["bytes"] - s.doc.totals["peak"]) <= s.doc.sampled, "peak")
    for view in ("time", "sizes", "threads"):
        columns = columns_of(s.doc.tables[view]) if view in s.doc.tables else {}
        for key in ("allocations", "bytes", "deallocations", "freed", "samples"):
            if columns.get(key):
                near = len(columns[key]) if s.doc.sampled else 0
                must(abs(sum(columns[key]) - s.doc.totals[key]) <= near, "%s: sum of %s is %d, not %d",
                     view, key, sum(columns[key]), s.doc.totals[key])
    if s.cpu:
        must("threads" in s.doc.tables, "there are no threads")


def check_steps(steps, tree, sampled):
    """Steps of time have all that the nodes of a page's tree have themselves."""
    for kind in steps.values():
        must(sum(kind["count"]) == len(kind["node"]), "%d entries in steps of %d", len(kind["node"]), sum(kind["count"]))
        at = 0
        for n in kind["count"]: # Within a step, each node is a difference to the one before.
            node = 0
            for d in kind["node"][at:at + n]:
                node += d
            must(0 <= node < len(tree["parent"]), "a step of node %d of %d", node, len(tree["parent"]))
            at += n
        for key in ("allocations", "bytes", "deallocations", "freed", "samples"):
            if key in kind:
                have, want = sum(kind[key]), sum(tree["self"].get(key, []))
                near = len(kind[key]) if sampled else 0 # Each is rounded.
                must(abs(have - want) <= near, "%s in steps: %d, not %d", key, have, want)


def of_page(doc, sampled):
    """A page's document as --format=json has it: all rows of columns, no steps."""
    tree, steps = doc["tree"], doc.pop("steps", {})
    for key, column in tree["self"].items():
        if isinstance(column, dict): # Rows that are not 0.
            tree["self"][key] = [0] * len(tree["parent"])
            row = 0
            for distance, value in zip(column["at"], column["value"], strict=True):
                row += distance
                tree["self"][key][row] = value
    check_steps(steps, tree, sampled)
    return doc


def check_html(s):
    """The page has the document inside, and the call tree of --native."""
    page = s.read("--format=html").decode("utf-8")
    found = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    must(len(found) == 1, "%d documents", len(found))
    doc = readers.strict_json(found[0].encode())
    native = doc.pop("native", None)
    must(of_page(doc, s.doc.sampled) == s.doc.raw, "the page")
    if native:
        of_page(native, s.doc.sampled)
        want = readers.strict_json(s.read("--format=json", "--native"))
        must(native == {"totals": want["summary"]["totals"], **{
            key: want[key] for key in ("metrics", "functions", "sites", "tree")}}, "native")


def check_types(s):
    """The sum of all types is the total, and that of the tree."""
    table = s.doc.tables["types"]
    sums = dict(zip([c["key"] for c in table["columns"]], zip(*table["rows"])))
    for metric, column in sums.items():
        if metric == "type":
            continue
        must(column[-1] == s.doc.totals[metric], "types: total of %s", metric)
        must(abs(sum(n or 0 for n in column[:-1]) - column[-1]) <= (len(column) if s.doc.sampled else 0),
             "types: sum of %s", metric)


def check(parser, path):
    s = Stream(parser, path)
    check_document(s)
    check_tree(s)
    scope, title = check_stacks(s)
    check_pprof(s, scope, title)
    check_tables(s)
    check_sums(s)
    check_html(s)
    if not s.cpu:
        check_sites(s)
        check_types(s)


def main():
    split = sys.argv.index("--")
    return readers.each_stream(sys.argv[1:split], sys.argv[split + 1:], check)


if __name__ == "__main__":
    sys.exit(main())
