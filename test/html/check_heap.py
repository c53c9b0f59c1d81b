"""Tests of the page of heap dumps: check_heap.py PROGRAM STREAMS GROUP.

The dumps are those of heap.lua. What the page shows is compared with what the
tables of the same dump tell."""

import collections
import csv
import io
import json
import os
import re
import sys

import browser
import check
from check import Wrong, same, texts

ROOM = 8 << 20  # Bytes of a page, whatever the heap is.


def dump(name):
    return check.stream(name + ".ljd")


def table(path, view, *options, status=0):
    """The rows of a table, by column."""
    text = check.report(path, "--view=" + view, "--format=csv", *options,
                        status=status)
    return list(csv.DictReader(io.StringIO(text)))


def document(path, *options, status=0):
    """What a page has inside."""
    text = check.report(path, "--format=html", *options, status=status)
    if len(text.encode()) > ROOM:
        raise Wrong(f"the page of {path} has {len(text)} bytes")
    body = re.search(r'(?s)<script type="application/json"[^>]*>(.*?)</script>',
                     text).group(1)
    if "<" in body:
        raise Wrong("there is a < in the document")
    return json.loads(body)


def retained(doc, key):
    """A figure of each box with all that is below it."""
    total = list(doc["tree"]["self"][key])
    for i in range(len(total) - 1, 0, -1):
        parent = doc["tree"]["parent"][i]
        if not parent < i:
            raise Wrong(f"box {i} comes before its parent {parent}")
        total[parent] += total[i]
    return total


def step(doc, site):
    """How the object of a label is reached."""
    return doc["texts"][doc["sites"]["step"][site]]


def name(doc, site):
    return doc["texts"][doc["sites"]["name"][site]]


def way(doc, box):
    """The path to the object of a box."""
    steps = []
    at = doc["tree"]["way"][box]
    while at >= 0:
        steps.insert(0, step(doc, doc["ways"]["site"][at]))
        at = doc["ways"]["from"][at]
    return "".join(steps)


def steps(doc, box):
    """The same as the page shows it: a step without a name is its object's."""
    shown = []
    at = doc["tree"]["way"][box]
    while at >= 0:
        site = doc["ways"]["site"][at]
        shown.insert(0, step(doc, site) or name(doc, site))
        at = doc["ways"]["from"][at]
    return shown


def check_sums(path, *options, status=0):
    """The boxes have all that is in the dump. Returns the document."""
    doc = document(path, *options, status=status)
    total = next(r for r in table(path, "types", status=status)
                 if r["name"] == "total")
    for key in ("bytes", "objects"):
        own = doc["tree"]["self"][key]
        same(f"{key} of {path}", sum(own), int(total[key]))
        same(f"least {key}", min(own) >= 0, True)
        same(f"total {key}", doc["summary"]["totals"][key]["now"],
             int(total[key]))
    garbage = int(total["garbage"])
    named = sum(n for n, site in zip(doc["tree"]["self"]["bytes"],
                                     doc["tree"]["site"])
                if site >= 0 and name(doc, site) == "(garbage)")
    same("garbage", named, garbage)
    return doc


def show(b, path, hash="", width=None, status=0):
    b.open(check.page(path, status=status), hash)
    b.wait("document.documentElement.dataset.ready")
    b.settle()


def group_sums():
    """Boxes keep what the tables say."""
    path = dump("app")
    doc = check_sums(path)
    total = retained(doc, "bytes")
    rows = table(path, "retained", "--top=100000")
    often = collections.Counter(r["name"] for r in rows)
    want = {r["name"]: int(r["retained"]) for r in rows
            if often[r["name"]] == 1}
    found = 0
    for box in range(1, len(total)):
        if doc["tree"]["self"]["objects"][box] != 1:
            continue
        at = way(doc, box)
        if at in want and doc["tree"]["way"][box] >= 0:
            same(f"what {at} keeps", total[box], want[at])
            found += 1
    if found < 20:
        raise Wrong(f"only {found} boxes were looked at")
    shapes = {r["name"]: r for r in table(path, "shapes")}
    sessions = shapes["table Session"]
    boxes = [i for i, site in enumerate(doc["tree"]["site"])
             if site >= 0 and name(doc, site) == "table Session"]
    same("boxes of sessions", len(boxes), 1)
    same("sessions", doc["tree"]["self"]["objects"][boxes[0]], 2000)
    same("what they keep", total[boxes[0]], int(sessions["retained"]))
    same("where", way(doc, doc["tree"]["parent"][boxes[0]]), "_G.cache.users")
    # With a limit there are fewer boxes, and the sums are the same.
    few = check_sums(path, "--min=5%")
    if not len(few["tree"]["site"]) < 30:
        raise Wrong(f"{len(few['tree']['site'])} boxes of 5% and more")
    for box, n in enumerate(retained(few, "bytes")):
        site = few["tree"]["site"][box]
        if n < 0.05 * total[0] and not name(few, site).startswith("("):
            raise Wrong(f"a box of {n} bytes: {name(few, site)}")


def group_cut():
    """A dump without its end."""
    path = os.path.join(check.TEMPORARY.name, "cut.ljd")
    with open(dump("app"), "rb") as whole, open(path, "wb") as cut:
        cut.write(whole.read()[:90000])
    check_sums(path, status=1)
    with browser.Browser() as b:
        show(b, path, status=1)
        if "Damaged" not in " ".join(texts(b, ".note")):
            raise Wrong("damage is not told")
        if "the end of the dump is missing" not in \
                " ".join(texts(b, "#tiles .fact")):
            raise Wrong("the end is not missed")
        check.calm(b, path)


def check_zoom(b, path):
    """A suspect leads to its box, and the box has its path."""
    said = texts(b, "#suspects li")
    for i, want in enumerate(("is kept by _G.cache.users, a table",
                              "is kept by main thread<local log>")):
        if want not in said[i]:
            raise Wrong(f"suspects: {said}")
    if "2000 x table Session keep" not in said[0]:
        raise Wrong(f"suspects: {said}")
    check.click(b, "#suspects li button")
    same("crumbs", check.crumbs(b), ["all", "_G", ".cache", ".users"])
    same("way", texts(b, "#way ol li .first"), ["_G", ".cache", ".users"])
    kept = {r["name"]: int(r["retained"]) for r in table(path, "retained")}
    same("users", check.picked(b, "ArrowDown")[1], kept["_G.cache.users"])
    check.frame(b, 20, 1, "move")
    if "2,000 \u00d7 table Session" not in texts(b, "#tip h3")[0]:
        raise Wrong(f"tip: {texts(b, '#tip h3')}")
    b.run("history.back()")
    b.settle()
    same("crumbs", check.crumbs(b), ["all"])
    check.click(b, "#suspects li button", 1)
    way_of_list = texts(b, "#way ol li .first")
    same("way of a list", (len(way_of_list), way_of_list[0],
                           way_of_list[1].startswith("<local log>")),
         (2, "main thread", True))
    # A way is there for boxes that keys lead to, too.
    b.run("location.hash = '#'")
    b.settle()
    check.picked(b, "Escape", "ArrowDown", "ArrowDown")
    same("way of a picked box", texts(b, "#way ol li .first"), ["_G"])


def check_around(b, path):
    """What keeps a shape; rows of tables lead to boxes."""
    b.run("location.hash = '#v=shapes'")
    b.settle()
    want = {r["name"]: (int(r["bytes"]), int(r["objects"]))
            for r in table(path, "shapes")}
    got = {r["name"]: (check.number(r["bytes"]), check.number(r["objects"]))
           for r in check.rows(b, "#panel-shapes")}
    if len(got) < 20:
        raise Wrong(f"only {len(got)} shapes")
    same("shapes", got, {k: v for k, v in want.items() if k in got})
    names = texts(b, "#panel-shapes .first")
    check.click(b, "#panel-shapes .first", names.index("table Session"))
    same("crumbs", check.crumbs(b)[1],
         "What keeps and what is kept by table Session")
    b.run("location.hash = '#v=retained'")
    b.settle()
    names = texts(b, "#panel-retained .first")
    check.click(b, "#panel-retained .first", names.index("_G.cache"))
    same("crumbs", check.crumbs(b), ["all", "_G", ".cache"])
    # From where memory is to who keeps it.
    b.run("location.hash = '#up=1&by=function'")
    b.settle()
    check.frame(b, 20, 1, "move")
    most = max(n for n, _ in want.values())
    same("widest", want[texts(b, "#tip h3")[0]][0], most)
    same("of it", check.picked(b, "ArrowDown", "ArrowDown")[1], most)


def check_search(b, path):
    """It marks boxes and filters tables."""
    b.run("location.hash = '#'")
    b.settle()
    b.key("/")
    b.type("table Session")
    sessions = next(r for r in table(path, "shapes")
                    if r["name"] == "table Session")
    same("found", b.run("document.getElementById('found').dataset.value"),
         sessions["retained"])
    b.run("document.activeElement.blur()")
    b.run("location.hash = '#v=shapes&q=table+session'")
    b.settle()
    same("filtered", texts(b, "#panel-shapes .first"), ["table Session"])
    b.run("location.hash = '#'")
    b.settle()


def check_map(b):
    """The tree map: the largest box in it, by a click, and out again."""
    b.run("location.hash = '#v=map'")
    b.settle()
    r = b.run("""(() => { const r = document.getElementById('map')
      .getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()""")
    b.mouse("mouseMoved", r[0] + 12, r[1] + 30)
    b.settle()
    name = texts(b, "#tip h3")[0]
    same("a tooltip", len(texts(b, "#tip tbody tr")), 2)
    b.click(r[0] + 12, r[1] + 30)
    zoom = b.run("location.hash")
    if "z=" not in zoom:
        raise Wrong(f"no zoom of {name}: {zoom}")
    same("the same box", texts(b, "#panel-map .said bdi"), [name])
    # The graph is zoomed to it, too.
    check.click(b, "#tab-flame")
    same("crumbs", check.crumbs(b)[-1].split("  ")[0] in name, True)
    check.click(b, "#tab-map")
    while texts(b, "#map-out"):
        check.click(b, "#map-out")
    same("out", texts(b, "#panel-map .said bdi"), ["All objects"])
    b.run("location.hash = '#'")
    b.settle()


def group_use():
    """Zoom, paths, search, keys, tables."""
    path = dump("app")
    total = next(r for r in table(path, "types") if r["name"] == "total")
    with browser.Browser() as b:
        show(b, path)
        same("tiles", check.tiles(b), {"bytes": int(total["bytes"]),
                                       "objects": int(total["objects"])})
        same("root", check.picked(b, "ArrowDown")[1], int(total["bytes"]))
        b.key("Escape")
        check_zoom(b, path)
        check_around(b, path)
        check_search(b, path)
        check_map(b)
        seen = set()
        for _ in range(9):
            b.key("t")
            seen.add(texts(b, "#tabs [aria-selected=true]")[0])
        same("views", seen, {"Who keeps it", "Tree map", "Shapes", "Largest", "Types",
                             "Shared", "Empty slots", "Threads", "Process"})
        # Addresses that no page makes.
        for bad in ("#z=zzzz.1&f=999999&m=none&v=rows&h=7", "#v=time&by=x"):
            b.run(f"location.hash = '{bad}'")
            b.settle()
        check.calm(b, path)
        if len(b.call("Page.printToPDF")["data"]) < 10000:
            raise Wrong("nothing is printed")
        check.calm(b, "paper")


def group_rows():
    """Each row of the largest leads to the box that its object is in."""
    path = dump("equal")
    doc = check_sums(path)
    want = table(path, "retained")
    boxes = doc["tables"]["retained"]["box"]
    same("boxes", len(boxes), len(want))
    alone = 0
    for row, box in zip(want, boxes):
        if doc["tree"]["self"]["objects"][box] == 1:
            same("path", way(doc, box), row["name"])
            alone += 1
        else:  # One of many that look alike, with a name for all of them.
            group = name(doc, doc["tree"]["site"][box])
            if not set(group.split()) <= set(row["object"].split()):
                raise Wrong(f"{row} is in the box of {group}")
    figures = collections.Counter(r["retained"] for r in want)
    if max(figures.values()) < 4 or alone < 15:
        raise Wrong(f"{alone} rows have boxes of their own; {figures}")
    with browser.Browser() as b:
        show(b, path)
        for row in range(0, 60, 3):
            b.run("location.hash = '#v=retained'")
            b.settle()
            # The rows that are out of view are not in the page.
            b.run(f"document.querySelector('#panel-retained .grid')"
                  f".parentNode.scrollTop = {27 * row}")  # Pixels.
            b.settle()
            cell = f"#panel-retained [aria-rowindex='{row + 2}'] .first"
            same("row", texts(b, cell), [want[row]["name"]])
            check.click(b, cell)
            same("what is shown", texts(b, "#way ol li .first"),
                 steps(doc, boxes[row]))
        check.calm(b, path)


def group_shared():
    """What two tables keep: a row, which leads to its box with both."""
    path = dump("shared")
    check_sums(path)
    want = next(r for r in table(path, "shared")
                if r["shape"] == "table {name, way}")
    same("holders", (want["name"], want["holders"]),
         ("_G.by_name and _G.units", "2"))
    with browser.Browser() as b:
        show(b, path, "#v=shared")
        got = [r for r in check.rows(b, "#panel-shared")
               if r["name"] == want["name"]]
        same("rows", len(got), 1)
        for key in ("retained", "freed", "objects"):
            same(key, check.number(got[0][key]), int(want[key]))
        names = texts(b, "#panel-shared .first")
        check.click(b, "#panel-shared .first", names.index(want["name"]))
        same("crumbs", check.crumbs(b), ["all", "_G", "table {name, way}"])
        said = texts(b, "#way .holders")
        if len(said) != 1 or \
                not said[0].startswith("By _G.by_name and _G.units: without"):
            raise Wrong(f"holders: {said}")
        got = sorted(re.sub("unit-\\d+", "unit-N", s) for s in texts(b, ".retainers li"))
        same("retainers", got, [
            '["unit-N"] \u2026_G.by_name  table, map of tables2,000 \u00d7',
            "[1] \u2026_G.units  table, list of tables2,000 \u00d7"])
        names = texts(b, ".retainers .second")
        check.click(b, ".retainers button",
                    [n.startswith("_G.by_name") for n in names].index(True))
        same("crumbs", check.crumbs(b), ["all", "_G", ".by_name"])
        same("retainers of that", texts(b, ".retainers li"), [".by_name_G  table, map of strings, functions, tables"])
        b.run("location.hash = '#'")
        b.settle()
        check.picked(b, "Escape", "ArrowDown", "ArrowDown", "ArrowRight")
        same("others", texts(b, "#way .holders"), [])
        check.calm(b, path)


def check_finalizers(b):
    """That memory of C is not in a dump is said as in the text."""
    path = dump("handles")
    show(b, path)
    said = texts(b, "#suspects .note")
    same("sentences", len(said), 1)
    if not re.match(r"50 x cdata int32_t\[4\], finalizer function release .*: memory of C that ",
                    said[0]) or f"  {said[0]}\n" not in check.report(path):
        raise Wrong(f"said: {said[0]}")


def group_weak():
    """A cache whose values refer to its keys: a sentence, and a row, which leads to
    the table. Finalizers."""
    path = dump("weak")
    want = table(path, "weak")
    same("rows", [(r["name"], r["by-values"], r["mode"]) for r in want],
         [("_G.thumbnails", "1000", "keys"), ("total", "1000", "")])
    with browser.Browser() as b:
        show(b, path, "#v=weak")
        got = check.rows(b, "#panel-weak")
        same("names", [r["name"] for r in got], ["_G.thumbnails"])
        for key in ("freed", "entries", "weak", "held", "by-values"):
            same(key, check.number(got[0][key]), int(want[0][key]))
        check_finalizers(b)
        show(b, path, "#v=weak")
        check.click(b, "#panel-weak .first")
        same("crumbs", check.crumbs(b), ["all", "_G", ".thumbnails"])
        b.run("location.hash = '#'")
        b.settle()
        said = texts(b, "#suspects li")
        if not said[-1].startswith("1000 of 1000 keys of _G.thumbnails, a table"):
            raise Wrong(f"suspects: {said}")
        check.click(b, "#suspects li button", len(said) - 1)
        same("crumbs", check.crumbs(b), ["all", "_G", ".thumbnails"])
        check.calm(b, path)


def both_sums(doc, after, before):
    """Each side of a comparison has what its dump has alone, and objects at the same path
    keep what they keep alone."""
    totals = [retained(doc, "bytes")]
    doc["tree"]["self"], now = doc["tree"]["base"], doc["tree"]["self"]
    totals.append(retained(doc, "bytes"))
    doc["tree"]["self"] = now
    for side, total, path in (("self", totals[0], after), ("base", totals[1], before)):
        whole = next(r for r in table(path, "types") if r["name"] == "total")
        for key in ("bytes", "objects"):
            same(f"{key} of {path}", sum(doc["tree"][side][key]), int(whole[key]))
        kept = {r["name"]: int(r["retained"]) for r in table(path, "retained")}
        boxes = {way(doc, i): i for i in range(1, len(total)) if doc["tree"]["way"][i] >= 0
                 and 1 in (doc["tree"]["self"]["objects"][i], doc["tree"]["base"]["objects"][i])}
        for at in ("_G.app", "_G.app.users", "_G.app.old", "_G.app.pages", "_G.app.same",
                   "_G.app.small", "_G.sessions"):
            same(f"{side} of {at}", total[boxes[at]], kept.get(at, total[boxes[at]] if at ==
                                                               "_G.app.small" else 0))


def check_change(b, after, before):
    """What a page of a comparison shows: sentences, boxes, tables lead to each other."""
    said = texts(b, "#suspects li")
    want = check.report(after, "--diff=" + before, "--view=summary")
    same("sentences", [s for s in said if f"  {s}\n" not in want], [])
    same("how many", len(said), want.count(" of it ("))
    same("grown", f"  {texts(b, '#grown')[0]}\n" in want, True)
    same("drawn", texts(b, "#side [aria-pressed=true]"), ["Change"])
    check.click(b, "#suspects li button")
    same("crumbs", check.crumbs(b), ["all", "_G", ".app", ".users"])
    head = " ".join(texts(b, "#way > p"))
    if "It keeps " not in head or ", before " not in head:
        raise Wrong(f"the way says {head}")
    # A list that went: its row leads to it, though it is not there now.
    b.run("location.hash = '#v=retained'")
    b.settle()
    names = texts(b, "#panel-retained .first")
    check.click(b, "#panel-retained .first", names.index("_G.app.old"))
    same("crumbs", check.crumbs(b), ["all", "_G", ".app", ".old"])
    if ", and is gone:" not in " ".join(texts(b, "#way > p")):
        raise Wrong(f"the way says {texts(b, '#way > p')}")
    same("retainers", [s[:18] for s in texts(b, ".retainers li")], [".old_G.app  table "])
    check.frame(b, 20, 0, "move")
    same("columns", texts(b, "#tip thead th")[1:], ["now", "before", "change"])
    same("now", texts(b, "#tip tbody td")[0], "0\u00a0B")


def check_changed_shapes(b, after, before):
    """Rows of shapes are those of the text, and lead to their boxes."""
    b.run("location.hash = '#v=shapes'")
    b.settle()
    want = {r["name"]: r for r in table(after, "shapes", "--diff=" + before, "--min=0")}
    got = check.rows(b, "#panel-shapes")
    for row in got:
        for key in ("new", "deleted", "objects-change"):
            same(f"{key} of {row['name']}", check.number(row[key]), int(want[row["name"]][key]))
    same("gone", [(r["new"], check.number(r["deleted"])) for r in got
                  if r["name"] == "table {stale}"], [("0", 2000)])
    same("replaced", [(check.number(r["new"]), check.number(r["deleted"])) for r in got
                      if r["name"] == "table {page}"], [(1000, 1000)])
    names = texts(b, "#panel-shapes .first")
    check.click(b, "#panel-shapes .first", names.index("table {stale}"))
    same("crumbs", check.crumbs(b)[1], "What keeps and what is kept by table {stale}")


def check_sides(b):
    """The tree map is of what changed, of now, or of before."""
    b.run("location.hash = '#v=map'")
    b.settle()
    said = [texts(b, "#panel-map .said")[0]]
    for side in range(2):
        check.click(b, "#side button", side)
        said.append(texts(b, "#panel-map .said")[0])
    same("areas", [s.split("areas are ")[1] for s in said],
         ["how much has changed", "what is kept", "what was kept"])
    check.click(b, "#side button", 2)


def group_changed():
    """Two dumps compared."""
    after, before = dump("after"), dump("before")
    doc = document(after, "--diff=" + before)
    both_sums(doc, after, before)
    page = check.page(after, "--diff=" + before)
    for width in (1200, 400):
        with browser.Browser(width, 860) as b:
            b.open(page, "")
            b.wait("document.documentElement.dataset.ready")
            b.settle()
            check_change(b, after, before)
            check_changed_shapes(b, after, before)
            check_sides(b)
            b.run("location.hash = '#q=stale'")
            b.settle()
            if not texts(b, "#found")[0].startswith("2 match: 0\u00a0B, before 2"):
                raise Wrong(f"found: {texts(b, '#found')}")
            same("scrolls sideways", b.run(
                "document.documentElement.scrollWidth > innerWidth"), False)
            check.calm(b, page)
    # An address of a page of one dump; a dump compared with itself.
    page = check.page(after, "--diff=" + after)
    with browser.Browser() as b:
        b.open(page, "#d=now&v=shared")
        b.wait("document.documentElement.dataset.ready")
        same("sentence", texts(b, "#grown")[0].startswith("As much is in use as before"), True)
        check.calm(b, page)
        # Of a dump without its end it is not known what has changed.
        path = os.path.join(check.TEMPORARY.name, "part.ljd")
        with open(after, "rb") as whole, open(path, "wb") as cut:
            cut.write(whole.read()[:90000])
        page = check.page(path, "--diff=" + before, status=1)
        b.open(page, "#v=shapes")
        b.wait("document.documentElement.dataset.ready")
        same("sentences", (texts(b, "#grown"), texts(b, "#suspects li"),
                           texts(b, "#suspects p")[0][:8]), ([], [], "Unknown:"))
        same("columns", [t for t in texts(b, "#panel-shapes th") if t in ("new", "deleted")], [])
        check.calm(b, page)


def ladder_table(view, *dumps):
    text = check.report(dumps[-1], "--growth", "--format=csv", "--view=" + view, "--min=0",
                        *dumps[:-1])
    return list(csv.DictReader(io.StringIO(text)))


def check_growth(b, page, dumps):
    """Rows have the figures of each dump, and lead to boxes, also of what is gone."""
    b.open(page, "#v=growth")
    b.wait("document.documentElement.dataset.ready")
    b.settle()
    want = {r["name"]: r for r in ladder_table("retained", *dumps)}
    got = check.rows(b, "#panel-growth")
    for row in got:
        for key in ("growth", "dump-1", "dump-2", "dump-3"):
            same(f"{key} of {row['name']}", check.number(row[key]) if row[key] != "\u2013" else "",
                 int(want[row["name"]][key]) if want[row["name"]][key] else "")
        same("verdict", row["verdict"], want[row["name"]]["verdict"])
    for name, crumbs in (("_G.app.users", [".app", ".users"]), ("_G.app.old", [".app", ".old"]),
                         ("_G.sessions", [".sessions"])):
        b.run(f"location.hash = '#v=growth&q={name}'")
        b.settle()
        names = texts(b, "#panel-growth .first")
        check.click(b, "#panel-growth .first", names.index(name))
        same("crumbs", check.crumbs(b), ["all", "_G"] + crumbs)
    b.run("location.hash = '#v=kinds'")
    b.settle()
    kinds = {r["name"]: r["dump-2"] for r in ladder_table("shapes", *dumps)}
    rows = check.rows(b, "#panel-kinds")
    same("rows of kinds", len(rows) > 5, True)
    for row in rows:
        same(f"bytes of {row['name']}", check.number(row["dump-2"]), int(kinds[row["name"]]))


def group_ladder():
    """Dumps one after another: the newest is compared with the oldest, and tables have all."""
    dumps = [dump("before"), dump("between"), dump("after")]
    doc = document(dumps[2], "--growth", *dumps[:2])
    both_sums(doc, dumps[2], dumps[0])
    same("files", (doc["files"], doc["base"], doc["dumps"]), (dumps[::-1], dumps[:1], 3))
    said = check.report(dumps[2], "--growth", *dumps[:2])
    page = check.page(dumps[2], "--growth", *dumps[:2])
    for width in (1200, 400):
        with browser.Browser(width, 860) as b:
            check_growth(b, page, dumps)
            b.run("location.hash = '#'")
            b.settle()
            same("title", texts(b, "#title"), ["3 dumps, before.ljd to after.ljd"])
            lines = texts(b, "#suspects li")
            same("lines", len(lines) > 2, True)
            same("sentences", [s for s in lines if s.split(": ", 1)[1] not in said], [])
            same("grew", [s for s in lines if s.startswith("Grew at each step: _G.app.users, ")],
                 lines[:1])
            same("gone again", [s[:27] for s in texts(b, "#suspects li p")],
                 ["Came and went: _G.app.batch"])
            check.click(b, "#suspects li button")
            same("crumbs", check.crumbs(b), ["all", "_G", ".app", ".users"])
            same("in use", texts(b, "#grown")[0] in said, True)
            same("scrolls sideways", b.run(
                "document.documentElement.scrollWidth > innerWidth"), False)
            check.calm(b, page)
    # Of a dump between them that is not whole nothing is said, nor of older ones.
    path = os.path.join(check.TEMPORARY.name, "between.ljd")
    with open(dumps[1], "rb") as whole, open(path, "wb") as cut:
        cut.write(whole.read()[:90000])
    page = check.page(dumps[2], "--growth", dumps[0], path, status=1)
    with browser.Browser() as b:
        b.open(page, "#v=growth")
        b.wait("document.documentElement.dataset.ready")
        b.settle()
        same("said", texts(b, "#suspects p")[1][:22], "A dump is not whole: w")
        same("rate", " a dump" in texts(b, "#grown")[0], False)
        same("views", [t for t in texts(b, "#tabs button") if t in ("Growth", "Shapes by dump")],
             ["Shapes by dump"])
        check.calm(b, page)


def group_process():
    """One bar for the memory of the process: widths are shares of what is
    resident, and the legend says how much."""
    path = dump("app")
    *parts, total = table(path, "rss")
    for width in (1200, 400):
        with browser.Browser(width, 860) as b:
            show(b, path)
            got = b.run("""Array.from(document.querySelectorAll('#rss .parts span'),
                e => e.getBoundingClientRect().width)""")
            same("parts", len(got), len(parts))
            for part, shown in zip(parts, got):
                share = int(part["resident"]) / int(total["resident"])
                if abs(shown / sum(got) - share) > 0.01 + 6 / sum(got):
                    raise Wrong(f"{part['name']} has {shown} of {sum(got)}, not {share}")
            legend = texts(b, "#rss li")
            same("legend", [t.startswith(p["name"]) for t, p in zip(legend, parts)],
                 [True] * len(parts))
            if not texts(b, "#rss h2")[0].startswith("RSS "):
                raise Wrong("no RSS")
            same("rows", [r["name"] for r in sorted(parts, reverse=True, key=lambda r:
                                                    int(r["resident"]))],
                 process_rows(b, path))
            check.calm(b, path)


def process_rows(b, path):
    """The names of the view's rows."""
    show(b, path, "#v=rss")
    return [r["name"] for r in check.rows(b, "#panel-rss")]


def group_joined():
    """Who made what is kept."""
    path = dump("made")
    both = check.page(path, path.replace(".ljd", ".ljm"))
    rows = table(path, "keepers", path.replace(".ljd", ".ljm"))
    want = next(r for r in rows if r["name"] == "_G.cache")
    if "remember (" not in want["site"]:
        raise Wrong(f"made at {want['site']}")
    with browser.Browser() as b:
        b.open(both, "#v=keepers")
        b.wait("document.documentElement.dataset.ready")
        said = [s for s in texts(b, "#suspects p") if "_G.cache, made at" in s]
        same("sentences", len(said), 1)
        got = [r for r in check.rows(b, "#panel-keepers")
               if r["name"] == "_G.cache" and r["site"] == want["site"]]
        same("rows", len(got), 1)
        same("bytes", check.number(got[0]["bytes"]), int(want["bytes"]))
        check.calm(b, both)


def group_narrow():
    """At 400 pixels all of it can be read."""
    with browser.Browser(400, 860) as b:
        for view in ("", "#v=shapes", "#v=retained", "#z=0.1.2"):
            show(b, dump("app"), view)
            same("scrolls sideways", b.run(
                "document.documentElement.scrollWidth > innerWidth"), False)
            check.calm(b, "a narrow window")
        check.click(b, "#suspects li button")
        same("crumbs", check.crumbs(b), ["all", "_G", ".cache", ".users"])
        same("way", texts(b, "#way ol li .first"), ["_G", ".cache", ".users"])


def group_hostile():
    """Names stay text."""
    path = dump("hostile")
    doc = check_sums(path)
    with browser.Browser() as b:
        show(b, path, "#v=retained")
        same("scripts", b.run("document.scripts.length"), 2)
        same("images", b.run("document.images.length"), 0)
        names = texts(b, "#panel-retained .first")
        script = '_G["</script><script>window.pwned=1</script>"]'
        if script not in names:
            raise Wrong(f"{script} is not in {names}")
        for view in ("shapes", "types", "sparse", "threads"):
            b.run(f"location.hash = '#v={view}'")
            b.settle()
            names += texts(b, f"#panel-{view} tbody td:first-child")
        for text in names + texts(b, "#suspects li"):
            if re.search("[\u0000-\u001f\u2028-\u202e\u2066-\u2069]", text):
                raise Wrong(f"{text!r} turns what is around it")
        for hash in ("#", "#up=1", "#by=function", "#by=function&up=1"):
            b.run(f"location.hash = '{hash}'")
            b.settle()
            for x in range(20, 900, 20):
                for row in range(1, 7):
                    check.frame_quickly(b, x, row)
            for x in (20, 300, 760):
                check.frame(b, x, 2)
                b.key("Escape")
        steps = {step(doc, site) for site in doc["ways"]["site"]}
        if not any("</script>" in s for s in steps):
            raise Wrong("no path has a hostile name")
        same("pwned", b.run("window.pwned"), None)
        check.calm(b, path)


def group_large():
    """The page is bounded, and says so."""
    path = dump("large")
    doc = check_sums(path)
    same("full", doc["summary"]["heap"]["full"], 1)
    if len(doc["tree"]["site"]) > 30000 or \
            len(doc["tree"]["site"]) < 1000:
        raise Wrong(f"{len(doc['tree']['site'])} boxes")
    if max(map(len, doc["texts"])) > 160:
        raise Wrong("names are not cut")
    with browser.Browser() as b:
        show(b, path)
        if "boxes that keep most are drawn" not in texts(b, "#facts")[0]:
            raise Wrong(f"nothing is told: {texts(b, '#facts')}")
        check.calm(b, path)


if __name__ == "__main__":
    sys.exit(check.main(globals()))
