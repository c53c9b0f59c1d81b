#!/usr/bin/env python3
"""--format=pprof of a heap dump: what profile.proto says, and what is added up for an
object is what it retains.

    heap_pprof.py DUMP|DIRECTORY... -- lj-parse-memprof
"""

import collections
import gzip
import sys

import readers
from heap_tables import table_of
from pprof_schema import message, references, samples, texts
from readers import must

TYPES = [("inuse_objects", "count"), ("inuse_space", "bytes")]


def profile_of(parser, path, *options):
    """Types of values, and {names from the root to the leaf: values}."""
    p = message("Profile", gzip.decompress(readers.run(parser, "--format=pprof", *options, path)))
    strings = p["string_table"]
    texts("Profile", p, strings)
    references(p)
    samples(p, False)
    must(p["time_nanos"] and p["period"] == 1, "time %s, period %s", p["time_nanos"], p["period"])
    name = {f["id"]: strings[f["name"]] for f in p["function"]}
    at = {l["id"]: name[l["line"][0]["function_id"]] for l in p["location"]}
    stacks = collections.defaultdict(lambda: [0, 0])
    for s in p["sample"]:
        must(min(s["value"]) >= 0, "a value below 0")
        stack = tuple(at[i] for i in reversed(s["location_id"]))
        stacks[stack] = [a + b for a, b in zip(stacks[stack], s["value"])]
    must([(strings[t["type"]], strings[t["unit"]]) for t in p["sample_type"]] == TYPES, "types")
    must(strings[p["default_sample_type"]] == "inuse_space", "the default type")
    return stacks


def retained(stacks, first):
    """[objects, bytes] of the stacks that begin with a name."""
    values = [v for stack, v in stacks.items() if stack[0].startswith(first + " = ")]
    must(values, "no stack of %s", first)
    return [sum(column) for column in zip(*values)]


def check(parser, path):
    stacks = profile_of(parser, path)
    total = {row[-1]: row for row in table_of(parser, "types", (), path)[1]}["total"]
    sums = [sum(column) for column in zip(*stacks.values())]
    must(sums == [total[2], total[0]], "%s objects and bytes, not %s", sums, total)
    garbage = stacks.get(("(garbage)",), [0, 0])
    must(garbage == [total[4], total[3]], "garbage %s, not %s", garbage, total)
    keeps = {row[-1]: row[0] for row in table_of(parser, "retained", ("--min=0",), path)[1]}
    for name in ("_G", "main thread"):
        must(retained(stacks, name)[1] == keeps[name], "%s keeps %s, not %d", name,
             retained(stacks, name), keeps[name])
    # Small ones are added up, and nothing is lost.
    few = profile_of(parser, path, "--min=5%")
    must(len(few) < len(stacks), "--min=5%% has %d stacks of %d", len(few), len(stacks))
    must([sum(column) for column in zip(*few.values())] == sums, "sums with --min")


def main():
    split = sys.argv.index("--")
    return readers.each_stream(sys.argv[1:split], sys.argv[split + 1:], check)


if __name__ == "__main__":
    sys.exit(main())
