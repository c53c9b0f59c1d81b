#!/usr/bin/env python3
"""go's pprof reads --format=pprof, and finds in it what readers.py does.

    go_pprof.py STREAM|DIRECTORY... -- lj-parse-memprof
"""

import collections
import datetime
import os
import re
import sys
import tempfile

import readers
from readers import must

GO = ["go", "tool", "pprof"]


def raw(text):
    """What `pprof -raw` prints: comments, types, {stack: values}, {label: values},
    other lines."""
    part, comments, types, samples, location, head = "", [], [], [], {}, {}
    labels = {}
    for line in text.split("\n"):
        if line in ("Samples:", "Locations", "Mappings"):
            part = line
        elif part == "" and line.startswith("Comment: "):
            comments.append(line[len("Comment: "):])
        elif part == "" and ": " in line:
            head.update([line.split(": ", 1)])
        elif part == "Samples:" and not types:
            types = line.split()
        elif part == "Samples:":
            if line.startswith(" " * 16):
                for label in re.findall(r"(?:^| )((?:part|pid|tid):\[[\w-]+\])", line):
                    before = labels.get(label, [0] * len(types))
                    labels[label] = [a + b for a, b in zip(before, samples[-1][1])]
                continue
            match = re.match(r" *((?:-?\d+ *)+): ((?:\d+ )+)$", line)
            must(match, "not a sample: %r", line)
            samples.append((match[2].split(), [int(n) for n in match[1].split()]))
        elif part == "Locations" and line:
            match = re.match(r" *(\d+): (0x[0-9a-f]+) (?:M=\d+ )?(.*)$", line)
            must(match, "not a location: %r", line)
            location[match[1]] = match[2] + " " + match[3]
    stacks = collections.defaultdict(lambda: [0] * len(types))
    for ids, values in samples:
        key = tuple(location[i] for i in reversed(ids))
        stacks[key] = [a + b for a, b in zip(stacks[key], values)]
    return comments, types, dict(stacks), labels, head


def check_parts(parser, path, types, labels):
    """What Lua lines did is a label: its sums are those of the document."""
    totals = readers.strict_json(readers.run(parser, "--format=json", path, statuses=(0, 1)))[
        "summary"]["totals"]
    parts = {"part:[%s]" % m: n["now"] for m, n in totals.items()
             if n and m in ("interpreted", "compiled", "c", "alloc-gc", "jit", "kernel", "unnamed")}
    if "part:[interpreted]" not in parts:
        parts = {}
    at = types.index("samples/count") if parts else 0
    must({k: v[at] for k, v in labels.items() if k.startswith("part:")}
         == {k: n for k, n in parts.items() if n}, "labels %s, not %s", labels, parts)


def check_threads(parser, path, ours, labels):
    """Processes and threads are labels: their sums are those of the views."""
    want = collections.Counter()
    if "samples" not in (t for t, _ in ours.types):
        return
    head, rows = readers.csv_table(readers.run(
        parser, "--view=threads", "--format=csv", path, statuses=(0, 1)))
    for row in (dict(zip(head, r)) for r in rows):
        for key in ("pid", "tid"):
            if int(row[key]):
                want[key, int(row[key])] += int(row["samples"])
    found = collections.Counter()
    for (_, values), labels_of in zip(ours.samples, ours.labels):
        for key in ("pid", "tid") if "pid" in labels_of else ():
            found[key, labels_of[key]] += values[0]
    must(found == want, "threads %s, not %s", found, want)
    found = {k: v[0] for k, v in labels.items() if not k.startswith("part:")}
    must(found == {"%s:[%d]" % k: n for k, n in want.items()}, "labels %s, not %s", found, want)


def shown(at):
    """A location as pprof prints it."""
    text = "%#x %s %s:%d s=%d" % (at["address"], at["name"], at["file"], at["line"], at["start"])
    return text + "(%s)" % at["system"] if at["system"] != at["name"] else text


def check(parser, path):
    data = readers.run(parser, "--format=pprof", path, statuses=(0, 1))
    ours = readers.Pprof(data)
    with tempfile.TemporaryDirectory() as directory:
        name = os.path.join(directory, "profile.pb.gz")
        with open(name, "wb") as f:
            f.write(data)
        comments, types, stacks, labels, head = raw(readers.run(GO, "-raw", name).decode("utf-8"))
        if ours.samples:
            must(readers.run(GO, "-top", name).count(b"\n") > 4, "-top shows nothing")
    must(comments == ours.comments, "comments %s", comments)
    want = [("%s/%s" % t) + "[dflt]" * (t[0] == ours.default) for t in ours.types]
    must(types == want, "types %s, not %s", types, want)
    must(head.get("Period", "0") == str(ours.period), "period %s", head.get("Period"))
    must(("Time" in head) == bool(ours.time), "time %s", head.get("Time"))
    if ours.time:
        at = datetime.datetime.fromtimestamp(ours.time // 10**9, datetime.timezone.utc)
        must(head["Time"].startswith(at.strftime("%Y-%m-%d %H:%M:%S")), "time %s", head["Time"])
    sums = collections.defaultdict(lambda: [0] * len(types))
    for ids, values in ours.samples:
        key = tuple(shown(ours.location[i]) for i in ids)
        sums[key] = [a + b for a, b in zip(sums[key], values)]
    check_parts(parser, path, types, labels)
    check_threads(parser, path, ours, labels)
    must(stacks == dict(sums), "stacks differ:\n%s\n%s", stacks, dict(sums))


def main():
    split = sys.argv.index("--")
    return readers.each_stream(sys.argv[1:split], sys.argv[split + 1:], check)


if __name__ == "__main__":
    sys.exit(main())
