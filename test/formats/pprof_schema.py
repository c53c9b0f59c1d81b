#!/usr/bin/env python3
"""--format=pprof, field by field: what profile.proto says, and what engines that
take such profiles ask for beyond it.

    pprof_schema.py [--fresh] STREAM|DIRECTORY... -- lj-parse-memprof

Each stream by itself, compared with another, and memory and CPU together. With
--fresh, they were recorded just now.
"""

import gzip
import itertools
import sys
import tempfile
import time

import readers
from readers import Broken, must

VARINT, LEN = 0, 2  # How a field goes on behind its number.
INT, ID, BOOL, TEXT = "int64", "uint64", "bool", "index"  # An index: of a string.

# Messages by name: {number: (name, type, repeated)}; other types are messages.
SCHEMA = {
    "Profile": {
        1: ("sample_type", "ValueType", True), 2: ("sample", "Sample", True),
        3: ("mapping", "Mapping", True), 4: ("location", "Location", True),
        5: ("function", "Function", True), 6: ("string_table", "string", True),
        7: ("drop_frames", TEXT, False), 8: ("keep_frames", TEXT, False),
        9: ("time_nanos", INT, False), 10: ("duration_nanos", INT, False),
        11: ("period_type", "ValueType", False), 12: ("period", INT, False),
        13: ("comment", TEXT, True), 14: ("default_sample_type", TEXT, False),
        15: ("doc_url", TEXT, False)},
    "ValueType": {1: ("type", TEXT, False), 2: ("unit", TEXT, False)},
    "Sample": {1: ("location_id", ID, True), 2: ("value", INT, True), 3: ("label", "Label", True)},
    "Label": {
        1: ("key", TEXT, False), 2: ("str", TEXT, False), 3: ("num", INT, False),
        4: ("num_unit", TEXT, False)},
    "Mapping": {
        1: ("id", ID, False), 2: ("memory_start", ID, False), 3: ("memory_limit", ID, False),
        4: ("file_offset", ID, False), 5: ("filename", TEXT, False), 6: ("build_id", TEXT, False),
        7: ("has_functions", BOOL, False), 8: ("has_filenames", BOOL, False),
        9: ("has_line_numbers", BOOL, False), 10: ("has_inline_frames", BOOL, False)},
    "Location": {
        1: ("id", ID, False), 2: ("mapping_id", ID, False), 3: ("address", ID, False),
        4: ("line", "Line", True), 5: ("is_folded", BOOL, False)},
    "Line": {1: ("function_id", ID, False), 2: ("line", INT, False), 3: ("column", INT, False)},
    "Function": {
        1: ("id", ID, False), 2: ("name", TEXT, False), 3: ("system_name", TEXT, False),
        4: ("filename", TEXT, False), 5: ("start_line", INT, False)},
}

# What engines know profiles by: types of values and their units.
TYPES = {
    ("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
    ("inuse_space", "bytes"), ("peak_objects", "count"), ("peak_space", "bytes"),
    ("temporary_objects", "count"), ("temporary_space", "bytes"), ("samples", "count"),
    ("cpu", "nanoseconds")}
GO_MEMORY = ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]
GO_CPU = ["samples", "cpu"]


# -- Bytes -> messages ---------------------------------------------------------


def varint(data, at, end):
    """An integer of at most 64 bits, in no more bytes than it needs."""
    value = 0
    for shift in range(0, 70, 7):
        must(at < end, "a number is cut")
        byte, at = data[at], at + 1
        value |= (byte & 127) << shift
        if byte < 128:
            must(value < 1 << 64 and (byte or not shift), "a number of too many bytes")
            return value, at
    raise Broken("a number has no end")


def scalar(kind, value):
    if kind == BOOL:
        must(value <= 1, "a bool of %d", value)
    return value - (1 << 64) if kind in (INT, TEXT) and value >> 63 else value


def field(kind, repeated, wire, data, at, end):
    """What is in a field: a list, and where it ends."""
    if wire == VARINT:
        must(kind in (INT, ID, BOOL, TEXT), "a number where a %s should be", kind)
        value, at = varint(data, at, end)
        return [scalar(kind, value)], at
    must(wire == LEN, "a field of wire type %d", wire)
    size, at = varint(data, at, end)
    must(at + size <= end, "a field is cut")
    end = at + size
    if kind == "string":
        return [data[at:end].decode("utf-8")], end
    if kind in SCHEMA:
        return [message(kind, data, at, end)], end
    must(repeated, "a list where one %s should be", kind)
    values = []
    while at < end:
        value, at = varint(data, at, end)
        values.append(scalar(kind, value))
    return values, end


def message(name, data, at=0, end=None):
    """{name: value, or list of values}; what is not there is None, or empty."""
    end = len(data) if end is None else end
    fields = SCHEMA[name]
    result = {n: [] if repeated else None for n, _, repeated in fields.values()}
    while at < end:
        tag, at = varint(data, at, end)
        must(tag >> 3 in fields, "%s has no field %d", name, tag >> 3)
        key, kind, repeated = fields[tag >> 3]
        values, at = field(kind, repeated, tag & 7, data, at, end)
        if repeated:
            result[key] += values
        else:
            must(result[key] is None, "%s.%s comes twice", name, key)
            result[key] = values[0]
    return result


# -- What must hold of them ----------------------------------------------------


def texts(name, msg, strings):
    """Every index, also of messages within, is of a string."""
    for key, kind, repeated in SCHEMA[name].values():
        values = msg[key] if repeated else [] if msg[key] is None else [msg[key]]
        for value in values:
            if kind == TEXT:
                must(0 <= value < len(strings), "%s.%s is %d", name, key, value)
            elif kind in SCHEMA:
                texts(kind, value, strings)


def ids(name, messages):
    """Ids are 1, 2, 3, ...: unique and not 0, as the schema has it, and in order
    without a gap, as Parca has it."""
    got = [m["id"] for m in messages]
    must(got == list(range(1, len(got) + 1)), "ids of %s: %s", name, got[:20])
    return range(1, len(got) + 1)


def references(p):
    mappings, functions = ids("mappings", p["mapping"]), ids("functions", p["function"])
    locations = ids("locations", p["location"])
    for at in p["location"]:
        must(at["mapping_id"] is None or at["mapping_id"] in mappings, "location %s", at)
        must(at["line"], "location %d has neither function nor line", at["id"])
        for line in at["line"]:
            must(line["function_id"] in functions and (line["line"] or 0) >= 0, "line %s", line)
        if at["address"] and at["mapping_id"]:
            m = p["mapping"][at["mapping_id"] - 1]
            must((m["memory_start"] or 0) <= at["address"] < m["memory_limit"], "address of %s", at)
    for f in p["function"]:
        must(f["name"] and (f["start_line"] or 0) >= 0, "function %s", f)
    for m in p["mapping"]:
        must(m["filename"] and m["has_functions"], "mapping %s", m)
    used = {i for s in p["sample"] for i in s["location_id"]}
    must(used == set(locations), "locations that are in no sample")


def samples(p, diff):
    for s in p["sample"]:
        must(s["location_id"], "a sample of nowhere")
        must(len(s["value"]) == len(p["sample_type"]), "a sample has %d values", len(s["value"]))
        must(any(s["value"]), "a sample of nothing")
        must(diff or min(s["value"]) >= 0, "values %s", s["value"])
        keys = [label["key"] for label in s["label"]]
        must(all(keys) and len(set(keys)) == len(keys), "labels %s", s["label"])
        for label in s["label"]:
            must((label["str"] is None) != (label["num"] is None), "label %s", label)
            must(label["num_unit"] is None or label["num"] is not None, "label %s", label)


def types(p, of, several):
    """Names and order of values, and of the period, as go's own profiles have them.
    Of SEVERAL streams, nobody may know what a sample is worth, or how far apart
    they are."""
    s = p["string_table"]
    have = [(s[t["type"] or 0], s[t["unit"] or 0]) for t in p["sample_type"]]
    names = [name for name, _ in have]
    must(have and len(set(names)) == len(names) and set(have) <= TYPES, "types %s", have)
    must(not any("-" in name for name in names), "types %s", names)
    must("memory" not in of or names[:4] == GO_MEMORY, "types %s", names)
    known = bool(p["period"])
    cpu = GO_CPU[:1 + known]
    must("cpu" not in of or names[-len(cpu):] == cpu, "types %s", names)
    default = s[p["default_sample_type"] or 0]
    must(default == (cpu[-1] if "cpu" in of else "alloc_space"), "default %s", default)
    period = p["period_type"]
    must(period, "no type of period")
    want = ("cpu", "nanoseconds") if "cpu" in of else ("space", "bytes")
    must((s[period["type"] or 0], s[period["unit"] or 0]) == want, "period %s", period)
    must(known or several, "period %s", p["period"])
    must((p["period"] or 0) >= 0, "period %s", p["period"])


def times(p, fresh):
    at, ns = p["time_nanos"] or 0, p["duration_nanos"] or 0
    must(at >= 0 and ns >= 0, "time %d, duration %d", at, ns)
    if fresh:
        must(time.time() - 3600 < at / 1e9 <= time.time() and 0 < ns < 3600e9,
             "time %d, duration %d", at, ns)


def check(data, of, fresh=False, several=False, diff=False):
    """A profile, unpacked, of a set of "memory" and "cpu". Returns its sums."""
    p = message("Profile", data)
    strings = p["string_table"]
    must(strings and strings[0] == "", "the first string is not empty")
    must(len(set(strings)) == len(strings), "a string comes twice")
    texts("Profile", p, strings)
    references(p)
    samples(p, diff)
    types(p, of, several)
    times(p, fresh)
    must(strings[p["comment"][0]].startswith("lj-parse-memprof "), "comments %s", p["comment"])
    must(p["doc_url"] is None and p["drop_frames"] is None, "fields that nobody needs")
    return {strings[t["type"]]: sum(s["value"][i] for s in p["sample"])
            for i, t in enumerate(p["sample_type"])}


# Behind a good profile, each of these makes a bad one.
BAD = [
    b"\x80\x01\x00", b"\x48\x01\x48\x01", b"\x49" + bytes(8), b"\x4a\x00", b"\x32\x01\xff",
    b"\x32\x00", b"\x12\x02\x10\x01", b"\x12\x06\x08\x80\x80\x40\x10\x01", b"\x22\x02\x08\x01",
    b"\x2a\x02\x08\x01", b"\x1a\x00", b"\x68\xff\x7f", b"\x0a\x02\x08\x01", b"\x50\xff",
    b"\x60\x80\x00", b"\x70\x00"]


def check_bad(good, of, several):
    """The checks above find something."""
    for more in BAD:
        try:
            check(good + more, of, several=several, diff=several)
        except (Broken, UnicodeDecodeError):
            continue
        raise Broken("not found: %s behind a good profile" % more.hex())


def tells_time(argument):
    """Recordings of version 0x10 do."""
    with open(argument.removeprefix("--diff="), "rb") as f:
        return f.read(4) == b"ljs\x10"


# -- All of it -----------------------------------------------------------------


def main():
    args = sys.argv[1:]
    fresh = args[0] == "--fresh"
    split = args.index("--")
    parser, alone, failed = args[split + 1:], {}, 0
    by_kind = {"memory": [], "cpu": []}

    def one(of, *streams, diff=False):
        nonlocal failed
        try:
            data = readers.run(parser, "--format=pprof", *streams, statuses=(0, 1))
            plain = gzip.decompress(data)
            several = len(streams) > 1
            sums = check(plain, of, fresh and all(map(tells_time, streams)), several, diff)
            check_bad(plain, of, several)
            if diff:
                old, new = (alone[s.removeprefix("--diff=")] for s in streams)
                want = {k: new[k] - old[k] for k in new if k in old}
                must({k: sums[k] for k in want} == want, "sums %s, not %s", sums, want)
            elif not several:
                alone[streams[0]] = sums
            print("ok:", *streams)
        except Broken as e:
            print("FAILED: %s: %s" % (" ".join(streams), e))
            failed = 1

    with tempfile.TemporaryDirectory() as directory:
        for path in readers.files(args[fresh:split]):
            name = readers.unpacked(path, directory)
            of = readers.Document(readers.run(parser, "--format=json", name, statuses=(0, 1))).of
            must(len(of) == 1, "%s is of %s", path, of)
            by_kind[of[0]].append(name)
        for kind, names in by_kind.items():
            for name in names:
                one({kind}, name)
            for new, old in itertools.pairwise(names):
                one({kind}, "--diff=" + old, new, diff=True)
            if len(names) > 1:
                one({kind}, *names)
        for memory, cpu in zip(*by_kind.values()):
            one(set(by_kind), memory, cpu)
    must(fresh or all(by_kind.values()), "streams of %s", by_kind)
    return failed or not any(by_kind.values())


if __name__ == "__main__":
    sys.exit(main())
