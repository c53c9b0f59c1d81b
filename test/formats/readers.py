"""Reads every format that lj-parse-memprof writes, each in its own way.

Knows the formats' documents and the manual, not the program. Names are text:
bytes that are no UTF-8 are replaced, as the formats that hold only text have it.
"""

import collections
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile


class Broken(Exception):
    """A format is not as it should be."""


def must(holds, what, *args):
    if not holds:
        raise Broken(what % args)


def run(command, *args, statuses=(0,)):
    """What a command prints; its status must be one of STATUSES."""
    p = subprocess.run([*command, *args], capture_output=True, check=False)
    must(p.returncode in statuses, "%s: status %d: %s", args, p.returncode,
         p.stderr.decode("utf-8", "replace"))
    return p.stdout


def skip(why):
    """End as a test that is skipped."""
    print("skipped:", why)
    sys.exit(77)


def npm_package(name):
    """The folder in which test/obtain --all has put it."""
    place = os.path.join(os.environ["LJPROF_CACHE_DIR"], "npm", name)
    if not os.path.exists(place):
        skip("no package %s: test/obtain --all did not get it" % name)
    return place


# -- Text ----------------------------------------------------------------------


def lines_of(data):
    text = data.decode("utf-8", "replace")
    must(not text or text.endswith("\n"), "the last line does not end")
    return text.split("\n")[:-1]


ROW = re.compile(r"(.*): (\d+) (\d+) (\d+)( \(.*\))?$")
HOLDS = re.compile(r"(.*) holds (\d+) bytes: (\d+) allocations, (\d+) deallocations( \(.*\))?$")


def text_sites(data):
    """--view=sites: {section: {label: numbers}}."""
    found = collections.defaultdict(dict)
    section = None
    for line in lines_of(data):
        if line.split(" (approximate: ")[0] in ("ALLOCATIONS", "REALLOCATIONS", "DEALLOCATIONS",
                                                "HEAP SUMMARY"):
            section = line.split(" (")[0]
            continue
        match = (HOLDS if section == "HEAP SUMMARY" else ROW).match(line)
        if section is None or not line or line[0] == "\t":
            continue
        must(match, "not a row: %r", line)
        label = match[1] + (match[5] or "")
        numbers = [int(n) for n in match.group(2, 3, 4)]
        before = found[section].get(label, [0, 0, 0])
        found[section][label] = [a + b for a, b in zip(before, numbers)]
    return found


NODE = re.compile(r" *(-?\d+) +(-?[\d.]+)% +(\d+) +(-?\d+) +(-?[\d.]+)%  ( *)(.*)$")
CALL = re.compile(r" *(\d+) +([\d.]+)% +(\d+) +([\d.]+)%  ( *)(.*)$")


def text_tree(data, cpu):
    """--view=tree: {path: (bytes, allocations, live)} or {path: (total, self)}."""
    found = collections.Counter()
    path, tree = [], False
    result = {}
    for line in lines_of(data):
        if "  CALL TREE" in line:
            tree = True
            continue
        if not tree:
            continue
        match = (CALL if cpu else NODE).match(line)
        must(match, "not a node: %r", line)
        depth = len(match[match.lastindex - 1]) // 2
        path[depth:] = [match[match.lastindex]]
        numbers = (int(match[1]), int(match[3])) + (() if cpu else (int(match[4]),))
        key = tuple(path[1:])
        before = result.get(key, (0,) * len(numbers))
        result[key] = tuple(a + b for a, b in zip(before, numbers))
    must(tree, "there is no tree in it: %r", found)
    return result


def text_rows(data, title):
    """--view=functions or lines of a CPU profile: {label: (self, total)}."""
    result = {}
    seen = 0
    for line in lines_of(data):
        if re.search("  " + title + "(,|$)", line):
            seen = len(re.split("  +", line.strip()))
        elif seen:
            match = re.match(r" *(\d+) +[\d.]+% +(\d+) +[\d.]+%(?: +(?:\d+|\?)){" + str(seen - 5) +
                             "}  (.*)$", line)
            must(match, "not a row: %r", line)
            before = result.get(match[3], (0, 0))
            result[match[3]] = (before[0] + int(match[1]), before[1] + int(match[2]))
    must(seen, "there is no table of %s", title)
    return result


def folded(data):
    """--format=folded: {path: number}."""
    result = collections.Counter()
    for line in lines_of(data):
        stack, number = line.rsplit(" ", 1)
        result[tuple(stack.split(";"))] += int(number)
    return result


# -- JSON ----------------------------------------------------------------------


def unique(pairs):
    """An object has no name twice."""
    must(len({k for k, _ in pairs}) == len(pairs), "a name comes twice: %s", pairs)
    return dict(pairs)


def strict_json(data):
    must(b"<" not in data, "a '<' is in the JSON")
    return json.loads(data.decode("utf-8"), object_pairs_hook=unique)


class Document:
    """--format=json"""

    def __init__(self, data):
        self.raw = d = strict_json(data)
        self.of = d["of"]
        self.metrics = [m["key"] for m in d["metrics"]]
        # null: not known, as alloc-gc of a VM whose collector was not found.
        self.totals = {k: v and v["now"] for k, v in d["summary"]["totals"].items()}
        self.sampled = d["summary"]["sampled"] is not None
        self.tables = d["tables"]
        tree = d["tree"]
        self.n = len(tree["parent"])
        must(tree["parent"][0] == 0 and tree["site"][0] == -1, "the root is not the first node")
        must(all(p < i for i, p in enumerate(tree["parent"]) if i), "a child is before its parent")
        for column in (*tree["self"].values(), tree["site"]):
            must(len(column) == self.n, "a column has another length")
        for part in ("functions", "sites"):
            must(len({len(c) for c in d[part].values()}) == 1, "columns of %s differ", part)
        must({s for s in tree["site"] if s >= 0} == set(range(len(d["sites"]["label"]))),
             "sites are not those of the tree")
        must(set(d["sites"]["function"]) == set(range(len(d["functions"]["label"]))),
             "functions are not those of the sites")
        self.paths = [()]
        for i in range(1, self.n):
            self.paths.append(self.paths[tree["parent"][i]] + (tree["site"][i],))

    def self_of(self, metric):
        return self.raw["tree"]["self"].get(metric, [0] * self.n)

    def site(self, s):
        return self.raw["sites"]["label"][s]

    def function(self, s):
        return self.raw["functions"]["label"][self.raw["sites"]["function"][s]]

    def line(self, s):
        return (self.function(s), self.raw["sites"]["line"][s] or 0)

    def stacks(self, metric, name):
        """{path of names: number}"""
        result = collections.Counter()
        for path, n in zip(self.paths, self.self_of(metric)):
            if n:
                result[tuple(name(s) for s in path)] += n
        return result


# -- Others --------------------------------------------------------------------


def speedscope(data):
    """--format=speedscope: {name of the profile: {path: number}}; by the rules of
    the format's description."""
    d = strict_json(data)
    must(d["$schema"] == "https://www.speedscope.app/file-format-schema.json", "no $schema")
    must(set(d) == {"$schema", "exporter", "name", "shared", "profiles", "activeProfileIndex"},
         "its members are %s", list(d))
    frames = d["shared"]["frames"]
    for f in frames:
        must(isinstance(f["name"], str) and set(f) <= {"name", "file", "line", "col"}, "frame %s", f)
        must(isinstance(f.get("file", ""), str) and isinstance(f.get("line", 0), int), "frame %s", f)
    must(0 <= d["activeProfileIndex"] < len(d["profiles"]), "no profile is active")
    result = {}
    for p in d["profiles"]:
        must(set(p) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"},
             "a profile's members are %s", list(p))
        must(p["type"] == "sampled" and p["unit"] in ("none", "bytes", "nanoseconds"),
             "type %s, unit %s", p["type"], p["unit"])
        must(len(p["samples"]) == len(p["weights"]), "not a weight for each sample")
        must(p["startValue"] == 0 and p["endValue"] == sum(p["weights"]), "it ends at %s", p["endValue"])
        must(all(w > 0 for w in p["weights"]), "a weight is not above 0")
        result[p["name"]] = stacks = collections.Counter()
        for path, w in zip(p["samples"], p["weights"]):
            must(path and all(0 <= f < len(frames) for f in path), "frames %s", path)
            stacks[tuple(frames[f]["name"] for f in path)] += w
    return result


def csv_table(data):
    """--format=csv: a header, rows; texts as they were before they were marked."""
    text = data.decode("utf-8")
    must("\r" not in text, "a line ends with CR")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    must(len({len(r) for r in rows}) == 1, "rows are not equally long")
    for row in rows[1:]:
        for field in row:
            must(re.fullmatch(r"-?\d+(\.\d+)?(e[-+]\d+)?", field) or field[:1] not in tuple("=+-\t\r")
                 and not (field[:1] == "@" and re.search(r"""["'|!&*^=+%;{}#$\\]""", field)),
                 "a spreadsheet would take it for a formula: %r", field)
    return rows[0], [[f[1:] if f[:1] == "'" else f for f in row] for row in rows[1:]]


class Pprof:
    """--format=pprof, by profile.proto."""

    def __init__(self, data):
        fields = self.message(gzip.decompress(data))
        self.strings = [s.decode("utf-8") for s in fields[6]]
        must(self.strings[0] == "", "the first string is not empty")
        self.types = [(self.text(f, 1), self.text(f, 2)) for f in map(self.message, fields[1])]
        functions = self.by_id(fields[5])
        mappings = self.by_id(fields[3])
        self.location = {}
        for i, f in self.by_id(fields[4]).items():
            lines = [self.message(line) for line in f[4]]
            must(len(lines) == 1, "location %d has %d lines", i, len(lines))
            function = functions[self.number(lines[0], 1)]
            mapping = self.number(f, 2)
            must(mapping == 0 or mapping in mappings, "location %d has no mapping", i)
            self.location[i] = {
                "address": self.number(f, 3), "line": self.number(lines[0], 2),
                "name": self.text(function, 2), "system": self.text(function, 3),
                "file": self.text(function, 4), "start": self.number(function, 5),
                "mapping": mapping and self.text(mappings[mapping], 5)}
        self.samples, self.labels = [], []
        for f in map(self.message, fields[2]):
            ids, values = self.packed(f[1]), [self.signed(v) for v in self.packed(f[2])]
            must(len(values) == len(self.types), "a sample has %d values", len(values))
            must(ids and all(i in self.location for i in ids), "locations %s", ids)
            self.samples.append((tuple(reversed(ids)), values))
            self.labels.append(dict(map(self.label, map(self.message, f[3]))))
        self.comments = [self.strings[i] for i in self.packed(fields[13])]
        self.default = self.text(fields, 14)
        self.period = self.number(fields, 12)
        self.time, self.duration = self.number(fields, 9), self.number(fields, 10)

    def label(self, fields):
        """(key, text or number) of a label."""
        return self.text(fields, 1), self.text(fields, 2) or self.number(fields, 3)

    @staticmethod
    def varint(data, at):
        value = shift = 0
        while True:
            must(at < len(data) and shift < 70, "a number is cut, or too long")
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value, at

    @classmethod
    def message(cls, data):
        """{field: list of what it is}"""
        fields = collections.defaultdict(list)
        at = 0
        while at < len(data):
            tag, at = cls.varint(data, at)
            must(tag & 7 in (0, 2), "a field is of type %d", tag & 7)
            value, at = cls.varint(data, at)
            if tag & 7 == 2:
                must(at + value <= len(data), "a field is cut")
                value, at = data[at:at + value], at + value
            fields[tag >> 3].append(value)
        return fields

    @classmethod
    def packed(cls, values):
        """Numbers, packed or not."""
        result = []
        for v in values:
            if isinstance(v, int):
                result.append(v)
                continue
            at = 0
            while at < len(v):
                n, at = cls.varint(v, at)
                result.append(n)
        return result

    @staticmethod
    def number(fields, field):
        must(len(fields[field]) <= 1, "field %d comes twice", field)
        return fields[field][0] if fields[field] else 0

    @staticmethod
    def signed(n):
        return n - (1 << 64) if n >> 63 else n

    def text(self, fields, field):
        return self.strings[self.number(fields, field)]

    def by_id(self, messages):
        result = {}
        for f in map(self.message, messages):
            i = self.number(f, 1)
            must(i and i not in result, "an id is 0, or comes twice: %d", i)
            result[i] = f
        return result

    def stacks(self, kind, name):
        """{path of names: number} of a type of values."""
        at = [t for t, _ in self.types].index(kind)
        result = collections.Counter()
        for ids, values in self.samples:
            if values[at]:
                result[tuple(name(self.location[i]) for i in ids)] += values[at]
        return result


# -- Tests ---------------------------------------------------------------------


def files(names):
    """Files, and all that are in directories."""
    for name in names:
        if os.path.isdir(name):
            yield from sorted(e.path for e in os.scandir(name) if re.search(r"\.(lj.|gz)$", e.name))
        else:
            yield name


def unpacked(path, directory):
    """The file itself, or what is in it."""
    if not path.endswith(".gz"):
        return path
    name = os.path.join(directory, os.path.basename(path)[:-3])
    with open(path, "rb") as packed, open(name, "wb") as f:
        f.write(gzip.decompress(packed.read()))
    return name


def each_stream(names, parser, check):
    """Calls CHECK with the parser and each stream. Returns the exit status."""
    streams = list(files(names))
    failed = not streams
    with tempfile.TemporaryDirectory() as directory:
        for path in streams:
            try:
                check(parser, unpacked(path, directory))
                print("ok:", path)
            except Broken as e:
                print("FAILED: %s: %s" % (path, e))
                failed = True
    return failed
