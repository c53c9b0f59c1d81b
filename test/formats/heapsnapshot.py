#!/usr/bin/env python3
"""--format=heapsnapshot: what viewers ask of the format, and that they would come
to the sizes that other formats show.

    heapsnapshot.py DIRECTORY... -- lj-parse-memprof

Who retains what is computed from the file alone, in another way than the
program's: by taking dominators to a fixed point. The dumps are those of heap.lua.
"""

import collections
import json
import re
import subprocess
import sys

import readers
from readers import must

KEYS = ["snapshot", "nodes", "edges", "trace_function_infos", "trace_tree", "samples", "locations",
        "strings"]
NODE = ["type", "name", "id", "self_size", "edge_count", "detachedness"]
EDGE = ["type", "name_or_index", "to_node"]
TYPES = {"string": "string", "table": "object", "upvalue": "object", "thread": "native",
         "userdata": "native", "cdata": "native", "function": "closure", "prototype": "code",
         "trace": "code"}
NUMBERED = ("element", "hidden")  # Edges whose name is a number.
CUT = 1024  # Bytes of a string that are in the file.


def rows(numbers, fields):
    must(len(numbers) % fields == 0, "%d numbers, %d each", len(numbers), fields)
    return [numbers[i:i + fields] for i in range(0, len(numbers), fields)]


class Snapshot:
    """A .heapsnapshot that is as viewers expect it."""

    def __init__(self, data):
        doc = json.loads(data.decode("utf-8"), object_pairs_hook=collections.OrderedDict)
        must(list(doc) == KEYS, "its members are %s", list(doc))
        head, self.strings = doc["snapshot"], doc["strings"]
        meta = head["meta"]
        must(meta["node_fields"] == NODE and meta["edge_fields"] == EDGE, "fields: %s", meta)
        must(len(meta["node_types"]) == len(NODE) and len(meta["edge_types"]) == len(EDGE),
             "not a type for each field")
        for part in ("nodes", "edges", "locations"):
            must(all(isinstance(n, int) and 0 <= n < 1 << 32 for n in doc[part]),
                 "%s: not all are numbers of 32 bits", part)
        must(all(isinstance(s, str) for s in self.strings), "a string is none")
        self.nodes, edges = rows(doc["nodes"], len(NODE)), rows(doc["edges"], len(EDGE))
        must(len(self.nodes) == head["node_count"], "node_count is %d", head["node_count"])
        must(len(edges) == head["edge_count"], "edge_count is %d", head["edge_count"])
        must(sum(n[4] for n in self.nodes) == len(edges), "edge_count of nodes do not add up")
        self.types, self.edge_types = meta["node_types"][0], meta["edge_types"][0]
        must(all(n[0] < len(self.types) and n[1] < len(self.strings) and n[5] == 0
                 for n in self.nodes), "a node's type or name is out of range")
        must(len({n[2] for n in self.nodes}) == len(self.nodes), "an id comes twice")
        self.check_locations(rows(doc["locations"], len(meta["location_fields"])))
        self.take_edges(iter(edges))
        self.compute()

    def take_edges(self, edges):
        """Each node's edges: (type, name or number, node)."""
        self.edges = []
        for node in self.nodes:
            mine = []
            for _ in range(node[4]):
                kind, name, to = next(edges)
                must(kind < len(self.edge_types), "an edge is of type %d", kind)
                must(to % len(NODE) == 0 and to // len(NODE) < len(self.nodes), "it leads to %d", to)
                kind = self.edge_types[kind]
                if kind not in NUMBERED:
                    must(name < len(self.strings), "an edge's name is string %d", name)
                    name = self.strings[name]
                mine.append((kind, name, to // len(NODE)))
            self.edges.append(mine)

    def check_locations(self, locations):
        for index, _, line, column in locations:
            must(index % len(NODE) == 0, "a location is of %d", index)
            node = self.nodes[index // len(NODE)]
            must(self.types[node[0]] in ("closure", "code") and column == 0, "location of %s", node)
            shown = re.search(r":(\d+)$", self.strings[node[1]])
            must(shown and max(int(shown[1]) - 1, 0) == line, "line %d of %s", line, shown)

    def compute(self):
        """The dominator of each node, and what it retains."""
        order, seen, stack = [], {0}, [(0, iter(self.strong(0)))]
        while stack:
            node, rest = stack[-1]
            for to in rest:
                if to not in seen:
                    seen.add(to)
                    stack.append((to, iter(self.strong(to))))
                    break
            else:
                order.append(node)
                stack.pop()
        must(len(order) == len(self.nodes), "%d nodes are not reached",
             len(self.nodes) - len(order))
        number = {node: i for i, node in enumerate(order)}
        self.dominator = self.fixed_point(order[::-1], number)
        self.retained = [n[3] for n in self.nodes]
        for node in order[:-1]:
            self.retained[self.dominator[node]] += self.retained[node]

    def strong(self, node):
        return [to for kind, _, to in self.edges[node] if kind != "weak"]

    def fixed_point(self, order, number):
        before = collections.defaultdict(list)
        for node in order:
            for to in self.strong(node):
                before[to].append(node)
        dominator = {0: 0}
        changed = True
        while changed:
            changed = False
            for node in order[1:]:
                new = None
                for a in before[node]:
                    if a not in dominator:
                        continue
                    b = new
                    while b is not None and a != b:
                        while number[a] < number[b]:
                            a = dominator[a]
                        while number[b] < number[a]:
                            b = dominator[b]
                    new = a
                if dominator.get(node) != new:
                    dominator[node] = new
                    changed = True
        return dominator

    def name(self, node):
        return self.strings[self.nodes[node][1]]

    def type(self, node):
        return self.types[self.nodes[node][0]]

    def is_object(self, node):
        """Ids of objects are odd."""
        return node > 0 and self.nodes[node][2] % 2 == 1

    def groups(self):
        """{group: how many objects}"""
        found = {}
        for node, edges in enumerate(self.edges):
            for kind, name, to in edges:
                shown = re.fullmatch(r"(\d+) objects?", str(name))
                if kind == "internal" and shown and not self.is_object(to):
                    must(to not in found and self.dominator[to] == node, "whose group is %d?", to)
                    found[to] = int(shown[1])
        return found


def id_of(address):
    return address >> 2 & 0xffffffff | 1


class Dump:
    """What other formats say of a dump."""

    def __init__(self, parser, path):
        doc = json.loads(readers.run(parser, "--format=json", "--view=objects", path))
        columns = [c["key"] for c in doc["columns"]]
        objects = [dict(zip(columns, row)) for row in doc["rows"]]
        self.objects = objects
        self.reached = [o for o in objects if o["name"] != "(unreachable)"]
        self.ids = collections.defaultdict(set)
        for o in self.reached:
            self.ids[id_of(int(o["address"], 16))].add(
                (TYPES[o["type"]], o["bytes"], o["retained"]))
        # The ids of addresses 16 GiB apart are equal, as under ASan: the snapshot then gives one
        # of the objects the next id that is free.
        self.any = set().union(*self.ids.values()) if len(self.ids) < len(self.reached) else None
        text = readers.run(parser, path).decode("utf-8")
        self.total = int(re.search(r": (\d+) bytes in all", text)[1])

    def facts(self, i):
        """Type, bytes and retained bytes of the objects that may have this id: mostly one."""
        return self.any or self.ids.get(i, set())


def check_sizes(snapshot, dump):
    """All that is in the dump is there, and retains the same."""
    must(snapshot.retained[0] == dump.total, "all of it: %d, not %d", snapshot.retained[0],
         dump.total)
    groups = snapshot.groups()
    by_type = collections.Counter()
    for node in range(1, len(snapshot.nodes)):
        if not snapshot.is_object(node):
            by_type[snapshot.type(node)] += groups.get(node, 0)
            continue
        found = snapshot.type(node), snapshot.nodes[node][3], snapshot.retained[node]
        expected = dump.facts(snapshot.nodes[node][2])
        must(found in expected, "node %d: %s, not one of %s", node, found, expected)
        by_type[snapshot.type(node)] += 1
    del by_type["synthetic"]
    must(by_type == collections.Counter(TYPES[o["type"]] for o in dump.objects),
         "objects: %s", by_type)
    return sum(snapshot.is_object(node) for node in range(len(snapshot.nodes)))


def snapshot_of(parser, path, *options):
    """The snapshot, and what was said on stderr."""
    p = subprocess.run([*parser, "--format=heapsnapshot", *options, path], capture_output=True,
                       check=False)
    must(p.returncode == 0, "status %d: %s", p.returncode, p.stderr)
    return Snapshot(p.stdout), p.stderr.decode("utf-8")


def check_parts(parser, path, dump):
    """Only what retains much has a node of its own."""
    largest = sorted((o["retained"] for o in dump.reached), reverse=True)
    share = sum(o["bytes"] for o in dump.objects) * 2 / 100
    for options, enough in ((("--top=50",), lambda n: n <= 50 and n > 0),
                            (("--top=1",), lambda n: n <= 1),
                            (("--min=1000",), lambda n: n == sum(r >= 1000 for r in largest)),
                            (("--min=2%",), lambda n: n == sum(r >= share for r in largest)),
                            (("--min=0", "--top=400"), lambda n: 200 < n <= 400)):
        snapshot, said = snapshot_of(parser, path, *options)
        own = check_sizes(snapshot, dump)
        must(enough(own), "%s: %d objects have nodes", options, own)
        must("%d of %d objects" % (len(dump.reached) - own, len(dump.reached)) in said,
             "%s: on stderr: %s", options, said)


def check_names(snapshot, path):
    """Strings by text, functions with chunk and line, references by kind."""
    names = collections.Counter((snapshot.type(n), snapshot.name(n))
                                for n in range(len(snapshot.nodes)))
    edges = collections.Counter((kind, name) for mine in snapshot.edges for kind, name, _ in mine)
    if path.endswith("private.ljd"):
        must(not any("user1" in s for s in snapshot.strings), "contents of strings are shown")
        return
    for kind, shown in (("closure", r"heap\.lua:\d+"), ("closure", r"insert in C"),
                        ("code", r"prototype .*heap\.lua:8"), ("native", r"thread .*heap\.lua:\d+"),
                        ("native", r"userdata"), ("object", "_G"), ("object", "registry"),
                        ("native", "main thread"), ("object", "upvalue")):
        must(any(t == kind and re.search(shown + "$", s) for t, s in names), "no %s", shown)
    for edge in (("element", 17), ("property", "users"), ("internal", "metatable"),
                 ("internal", "key"), ("context", "hits"), ("internal", "value"),
                 ("internal", "prototype"), ("weak", "1"), ("weak", "2"), ("weak", "named"),
                 ("weak", "key")):
        must(edges[edge] > 0, "no edge %s", edge)
    if not path.endswith("one.ljd"):
        return
    for text in ("user17", "weak 300", "nul\0value", "\ufffd\ufffd", '"\\</script>\n\t', "",
                 "\u00e9" * (CUT // 2) + "...", "s" * CUT + "..."):
        must(names["string", text] == 1, "no string %r", text[:20])
    for key in ("nul\0key", "bad\ufffd\ufffd", 'q"\\<', "\u00e9\u2603", "\ufffd\ufffd\ufffd", ""):
        must(edges["property", key] > 0, "no field %r", key)
    must(names["object", "table my.Class"] == 1, "no object of the class: %s", names)
    must(names["object", "table {id, name, tags}"] > 200, "no shape of users")


def check(parser, path):
    dump = Dump(parser, path)
    snapshot, said = snapshot_of(parser, path)
    must(said == "", "on stderr: %s", said)
    must(check_sizes(snapshot, dump) == len(dump.reached), "objects are missing")
    check_names(snapshot, path)
    check_parts(parser, path, dump)
    snapshot.collides = dump.any is not None
    return snapshot


def check_stable(snapshots):
    """What is in both dumps of a process has the same id: only it is compared."""
    if any(s.collides for s in snapshots):
        # Which object gets another's next id depends on all that are there.
        print("not compared: ids of several objects are equal")
        return
    one, two = ({s.nodes[n][2]: n for n in range(len(s.nodes)) if s.is_object(n)}
                for s in snapshots)

    def users(s, ids, keys):
        return sum(s.name(ids[i]) == "table {%s}" % keys for i in ids)

    new = {i: n for i, n in two.items() if i not in one}
    old = {i: n for i, n in one.items() if i not in two}
    must(len(new) < 500 and len(old) < 100, "%d are new, %d are gone", len(new), len(old))
    must(users(snapshots[1], new, "id, later") == 100, "%d new users", len(new))
    must(users(snapshots[0], old, "id, name, shared, tags") == 1, "%d old users", len(old))


def main():
    split = sys.argv.index("--")
    snapshots = {}

    def each(parser, path):
        snapshots[path.rsplit("/", 1)[-1]] = check(parser, path)

    if readers.each_stream(sys.argv[1:split], sys.argv[split + 1:], each):
        return 1
    try:
        check_stable([snapshots["one.ljd"], snapshots["two.ljd"]])
    except readers.Broken as e:
        print("FAILED:", e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
