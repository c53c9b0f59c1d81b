"""Tests of the page of --format=html: check.py PROGRAM STREAMS GROUP.

What the page shows is compared with what reports of text tell; what it does is
seen by doing it, with a mouse and keys, in a browser."""

import json
import os
import re
import subprocess
import sys
import tempfile

import browser

PROGRAM, STREAMS, GROUP = sys.argv[1:4]
TEMPORARY = tempfile.TemporaryDirectory()


class Wrong(Exception):
    """The page is not as it should be."""


def same(what, got, want):
    if got != want:
        raise Wrong(f"{what}: {got!r}, not {want!r}")


def report(stream, *options, status=0):
    """What the program prints."""
    r = subprocess.run([PROGRAM, *options, stream], capture_output=True,
                       check=False)
    same(f"status of {options}", r.returncode, status)
    return r.stdout.decode(errors="replace")


def page(stream, *options, change=None, status=0):
    """The path of a page, of which the document may be changed."""
    text = report(stream, "--format=html", *options, status=status)
    if change:
        head, rest = re.match(
            r'(?s)(.*?<script type="application/json"[^>]*>)(.*)',
            text).groups()
        document, tail = rest.split("</script>", 1)
        document = json.loads(document)
        change(document)
        text = head + json.dumps(document).replace("<", "\\u003c") + \
            "</script>" + tail
    number_of = len(os.listdir(TEMPORARY.name))
    path = os.path.join(TEMPORARY.name, f"page{number_of}.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def stream(name):
    return os.path.join(STREAMS, name)


# -- What the page shows ------------------------------------------------------

def number(text):
    """A number as the page writes it, to the last digit."""
    return int(re.sub(r" bytes|,", "", text).replace("\u2212", "-"))


def texts(b, selector):
    return b.run(f"Array.from(document.querySelectorAll({selector!r}), "
                 "e => e.textContent)")


def tiles(b):
    """The totals that the page shows, by metric."""
    found = b.run("Array.from(document.querySelectorAll('#tiles button'), "
                  "e => [e.dataset.name, e.dataset.value])")
    return {key: int(value) for key, value in found}


def rows(b, selector="#rows"):
    """The rows of a table: names, and numbers by column."""
    b.wait(f"document.querySelector('{selector} tbody tr')")
    return b.run(f"""(() => {{
      const box = document.querySelector({selector!r});
      const keys = Array.from(box.querySelectorAll('th button'),
                              e => e.dataset.name);
      return Array.from(box.querySelectorAll('tbody tr:not(.room)'), tr => {{
        const row = {{}};
        Array.from(tr.cells).forEach((td, i) => row[keys[i]] = td.title || (
          td.querySelector('button') ? td.querySelector('button').title
            : td.textContent));
        return row;
      }});
    }})()""")


def click(b, selector, n=0):
    """Click on an element with the mouse."""
    spot = b.run(f"""(() => {{
      const e = document.querySelectorAll({selector!r})[{n}];
      e.scrollIntoView({{block: 'nearest'}});
      const r = e.getBoundingClientRect();
      return [r.left + r.width / 2, r.top + r.height / 2];
    }})()""")
    b.click(*spot)


def frame(b, x, row, do="click", modifiers=0):
    """Do something at a place of the flame graph."""
    spot = b.run("(() => { const e = document.getElementById('flame'), "
                 "r = e.getBoundingClientRect(); "
                 "return [r.left + e.clientLeft, r.top + e.clientTop]; })()")
    at = spot[0] + x, spot[1] + 20 * row + 10
    if do == "click":
        b.click(*at, modifiers=modifiers)
    else:
        b.mouse("mouseMoved", *at)
        b.settle()


def frame_quickly(b, x, row):
    """Have the mouse over a place of the flame graph, for the page alone."""
    b.run(f"""(() => {{ const e = document.getElementById('flame');
      const r = e.getBoundingClientRect();
      e.dispatchEvent(new MouseEvent('mousemove', {{bubbles: true,
        clientX: r.left + e.clientLeft + {x},
        clientY: r.top + e.clientTop + {20 * row + 10}}})); }})()""")


def crumbs(b):
    return texts(b, "#crumbs li button")


def said(b):
    return texts(b, "#said")[0]


def calm(b, what):
    """Nothing may have gone wrong."""
    same("trouble with " + what, b.trouble(), [])


def picked(b, *keys):
    """What the page says of the frame that keys lead to: its name, a number."""
    b.run("document.getElementById('flame').focus()")
    for key in keys:
        b.key(key)
    name, value = said(b).rsplit(": ", 1)
    return name.strip(), number(value.rsplit(", ", 1)[0])


# -- What text tells ----------------------------------------------------------

def folded(path, metric=None, extra=(), **how):
    """Stacks and their numbers."""
    options = (["--metric=" + metric] if metric else []) + list(extra)
    lines = report(path, "--format=folded", *options, **how).splitlines()
    return [(s.split(";"), int(n)) for s, n in
            (line.rsplit(" ", 1) for line in lines)]


def by_leaf(stacks):
    sums = {}
    for frames, n in stacks:
        leaf = frames[-1].replace("\\x3b", ";").replace("~", "")
        sums[leaf] = sums.get(leaf, 0) + n
    return sums


def types_total(path, **how):
    """The last row of the table of types."""
    lines = report(path, "--view=types", **how).splitlines()
    row = next(line for line in reversed(lines) if line.startswith("total"))
    keys = ("allocations", "bytes", "reallocations", "deallocations", "freed",
            "live-objects", "live")
    return dict(zip(keys, map(int, row.split()[1:])))


def grown(stacks, up):
    """The tree that a flame graph of stacks is: value, and more by frame."""
    root = [0, {}]
    for frames, n in stacks:
        node = root
        node[0] += n
        for name in reversed(frames) if up else frames:
            name = name.replace("\\x3b", ";").replace("~", "")
            node = node[1].setdefault(name, [0, {}])
            node[0] += n
    return root


def check_graph(b, stacks, up):
    """Each frame that can be seen is where it must be, as wide as it must."""
    wide = b.run("document.getElementById('canvas').clientWidth")
    todo = [(grown(stacks, up), 0, 0)]
    seen = 0
    scale = wide / todo[0][0][0]
    while todo:
        (_, inside), x, row = todo.pop()
        kids = sorted(inside.items(), key=lambda kid: -kid[1][0])
        values = [kid[1][0] for kid in kids]
        for name, kid in kids:
            # Of frames that are equally wide any may come first.
            if values.count(kid[0]) == 1 and kid[0] * scale > 4:
                for at in (x + 1, x + kid[0] * scale - 2):
                    frame(b, at, row + 1, "move")
                    told = texts(b, "#tip .where")[0].replace("~", "")
                    same("frame", told.split(" \u00b7 ", 1)[1], name)
                    seen += 1
                todo.append((kid, x, row + 1))
            x += kid[0] * scale
    if seen < 6:
        raise Wrong(f"only {seen} frames were looked at")


# -- Groups -------------------------------------------------------------------

def check_memory(path, status=0):
    """All totals, and all lines, of a memory profile."""
    with browser.Browser() as b:
        b.open(page(path, status=status), "#v=rows")
        shown = tiles(b)
        total = types_total(path, status=status)
        same("totals", {k: v for k, v in shown.items() if k in total},
             {k: v for k, v in total.items() if k in shown})
        for key in ("bytes", "live", "allocations", "freed"):
            if key not in shown:
                raise Wrong(f"no tile of {key}")
        for metric in ("bytes", "allocations", "live"):
            b.run(f"location.hash = '#v=rows&m={metric}'")
            b.settle()
            got = {r["name"].replace("~", ""): number(r["self"])
                   for r in rows(b) if number(r["self"]) > 0}
            want = by_leaf(folded(path, metric, status=status))
            want.pop("(before start)", None)
            got.pop("(before start)", None)
            same(f"lines by {metric}", got, want)
        calm(b, path)


def embedded(path, metric="bytes"):
    """The document that a page has inside."""
    options = [] if metric == "bytes" else ["--metric=" + metric]
    text = report(path, "--format=html", *options)
    return text.split(f'data-metric="{metric}">', 1)[1].split("</script>", 1)[0]


def dense(column, n):
    """A column of the document, which may have only what is not 0."""
    if isinstance(column, list):
        return column
    values, at = [0] * n, 0
    for by, value in zip(column["at"], column["value"]):
        at += by
        values[at] = value
    return values


def group_memory():
    path = stream("stacks.ljm")
    document = json.loads(embedded(path))
    steps = document.pop("steps")["memory"]
    for key in ("allocations", "bytes", "deallocations", "freed"):
        same(f"{key} of all steps", sum(steps[key]),
             document["summary"]["totals"][key]["now"])
    nodes = len(document["tree"]["parent"])
    document["tree"]["self"] = {
        key: dense(column, nodes)
        for key, column in document["tree"]["self"].items()}
    same("document", document, json.loads(report(path, "--format=json")))
    for name in ("plain.ljm", "stacks.ljm"):
        check_memory(stream(name))


def group_samples():
    check_memory(stream("samples.ljm"))
    with browser.Browser() as b:
        b.open(page(stream("samples.ljm")))
        facts = texts(b, "#facts")[0]
        if "sampled every 512\u00a0B on average: all figures are estimates" \
                not in facts:
            raise Wrong("samples are not called estimates")


def group_cpu():
    path = stream("cpu.ljp")
    with browser.Browser() as b:
        b.open(page(path), "#v=rows")
        same("tiles", tiles(b), {"samples": 100})
        got = {r["name"]: (number(r["self"]), number(r["total"]))
               for r in rows(b)}
        text = report(path, "--view=functions", "--min=0")
        head, table = re.search(r"(?m)^( *self .*FUNCTION)\n((?s:.*))", text).groups()
        table = table.splitlines()
        # Titles may have a space, but not two.
        columns = len(re.split("  +", head.strip()))
        want = {}
        for line in table:
            own, _, total, _, *_, name = line.split(None, columns - 1)
            want[name] = (int(own), int(total))
        # A row of text is marked if some of it is unsure.
        same("functions", {k.lstrip("~"): v for k, v in got.items()},
             {k.lstrip("~"): v for k, v in want.items()})
        shown = " ".join(texts(b, "#tiles .fact"))
        for fact in ("1.05", "98.1%", "103 of 105 expected", "full 2, late 1",
                     "norow 3, native 2"):
            if fact not in shown:
                raise Wrong(f"{fact} is not in {shown}")
        calm(b, path)


def group_damaged():
    path = stream("damaged.ljm")
    check_memory(path, status=1)
    with browser.Browser() as b:
        b.open(page(path, status=1))
        notes = " ".join(texts(b, ".note"))
        if "Damaged" not in notes or "offset" not in notes or \
                "Live figures are approximate" not in notes:
            raise Wrong(f"notes: {notes}")
        calm(b, path)


def group_empty():
    with browser.Browser() as b:
        b.open(page(stream("empty.ljm")))
        same("totals", set(tiles(b).values()), {0})
        for tab in range(b.run("document.querySelectorAll('#tabs button')"
                               ".length")):
            click(b, "#tabs button", tab)
        b.key("/")
        b.type("x")
        same("found", texts(b, "#found"), ["0 match: 0\u00a0B, \u2013"])
        b.run("location.hash = '#up=1&f=3&z=1.2'")
        b.settle()
        calm(b, "nothing")


def group_hostile():
    path = stream("hostile.ljm")
    with browser.Browser() as b:
        b.open(page(path), "#v=rows")
        same("scripts", b.run("document.scripts.length"), 2)
        same("images", b.run("document.images.length"), 0)
        names = texts(b, "#rows .first")
        same("rows", len(names), 13)
        for want in ("</script><script>window.pwned=1</script>", "<!--<script>",
                     "<img src=x onerror=window.pwned=1>", "__proto__",
                     "\"'`${window.pwned=1}&lt;", "\U0001f525 fire", ".*("):
            if want not in names:
                raise Wrong(f"{want} is not in {names}")
        for name in names:
            if re.search("[\u0000-\u001f\u2028-\u202e\u2066-\u2069]", name):
                raise Wrong(f"{name!r} turns what is around it")
        same("rtl", sum(n.startswith("\\u202ertl ") for n in names), 1)
        b.key("/")
        b.type(".*(")
        same("found", texts(b, "#found")[0].split(":")[0], "1 match")
        click(b, "#regex")
        same("a bad expression", texts(b, "#found"),
             ["Not a regular expression"])
        b.run("location.hash = '#'")
        b.settle()
        for x in range(40, 1340, 100):
            frame(b, x, 1, "move")
            frame(b, x, 1)
            b.key("c")
            b.key("Escape")
            b.key("Escape")
        same("pwned", b.run("window.pwned"), None)
        calm(b, path)
        b.run("""(() => { const s = document.createElement('script');
          s.textContent = 'window.pwned = 2'; document.body.append(s); })()""")
        same("pwned in spite of the policy", b.run("window.pwned"), None)


def group_use():
    path = stream("stacks.ljm")
    with browser.Browser() as b:
        b.open(page(path))
        total = types_total(path)
        live = folded(path, "live")

        # Keys, and the metric.
        same("root", picked(b, "ArrowDown")[1], total["bytes"])
        click(b, "#tiles [data-name=allocations]")
        same("pressed", b.run("document.querySelector('#tiles "
                              "[data-name=allocations]').ariaPressed"), "true")
        b.key("Escape")
        same("root", picked(b, "ArrowDown")[1], total["allocations"])
        same("metric", b.run("document.getElementById('metric').value"),
             "allocations")

        # Where frames are.
        for hash in ("#", "#up=1", "#m=live", "#m=live&up=1"):
            b.run(f"location.hash = '{hash}'")
            b.settle()
            check_graph(b, live if "live" in hash else folded(path),
                        "up" in hash)

        # Zoom.
        b.run("location.hash = '#'")
        b.settle()
        frame(b, 900, 1)
        deep = crumbs(b)
        frame(b, 20, 1)
        same("crumbs", len(crumbs(b)), 3)
        b.run("history.back()")
        b.settle()
        same("crumbs after Back", crumbs(b), deep)
        b.key("Escape")
        frame(b, 20, 1)
        zoomed = crumbs(b)
        same("crumbs", len(zoomed), 2)
        frame(b, 20, 0, "move")
        tip = texts(b, "#tip")[0]
        if zoomed[1] not in tip or "bytes allocated" not in tip:
            raise Wrong(f"tip {tip} at {zoomed}")
        b.run("history.back()")
        b.settle()
        same("crumbs after Back", crumbs(b), ["all"])
        b.run("history.forward()")
        b.settle()
        same("crumbs after Forward", crumbs(b), zoomed)
        b.key("Escape")
        same("crumbs after Esc", crumbs(b), ["all"])

        # A function, its callers and its callees.
        frame(b, 20, 1, modifiers=8)
        if not crumbs(b)[1].startswith("callers and callees of "):
            raise Wrong(f"no callers: {crumbs(b)}")
        b.key("Escape")

        # Search.
        b.key("/")
        b.type("line 14")
        got = int(b.run("document.getElementById('found').dataset.value"))
        want = sum(n for s, n in folded(path) if any("line 14" in f for f in s))
        same("found", got, want)
        click(b, "#metric")
        b.key("Escape")
        b.run("location.hash = '#m=live&re=1&q=' + "
              "encodeURIComponent('line (14|26)')")
        b.settle()
        got = int(b.run("document.getElementById('found').dataset.value"))
        same("found live", got, sum(
            n for s, n in live if any(re.search("line (14|26)", f) for f in s)))

        # Tables.
        click(b, "#tab-rows")
        for r in rows(b):
            if not re.search("line (14|26)", r["name"]):
                raise Wrong(f"{r['name']} does not match")
        b.run("location.hash = '#v=rows'")
        b.settle()
        for key in ("total", "allocations"):
            for down in (True, False):
                click(b, f"#rows th [data-name={key}]")
                column = [number(r[key]) for r in rows(b)]
                same(f"sorted by {key}", column, sorted(column, reverse=down))
        same("aria-sort", b.run("document.querySelector('#rows th[aria-sort]')"
                                ".ariaSort"), "ascending")
        click(b, "#rows tbody tr", 0)
        same("tab", b.run("document.querySelector('[role=tab]"
                          "[aria-selected=true]').id"), "tab-flame")
        if not crumbs(b)[1].startswith("callers and callees of "):
            raise Wrong(f"no callers of a row: {crumbs(b)}")

        # Switches, by keys.
        for key, part in (("i", "up=1"), ("f", "by=function"), ("m", "m=")):
            b.key(key)
            if part not in b.run("location.hash"):
                raise Wrong(f"{key} does not lead to {part}")
        dark = b.run("document.documentElement.dataset.theme")
        click(b, "#theme")
        same("theme", {dark, b.run("document.documentElement.dataset.theme")},
             {"light", "dark"})
        b.key("?")
        same("help", b.run("document.getElementById('help').open"), True)
        b.key("Escape")
        calm(b, path)


def group_state():
    """What the address keeps, paper, callers, narrow windows."""
    path = stream("stacks.ljm")
    made = page(path)
    with browser.Browser() as b:
        b.open(made, "#m=live&by=function")
        frame(b, 20, 1)
        frame(b, 20, 1)
        way, hash = crumbs(b), b.run("location.hash")
        b.open(made, hash)
        same("crumbs", crumbs(b), way)
        for bad in ("#z=zzzz.1&f=999999&m=none&v=none&s=none&h=7", "#%",
                    "#q=%F0", "#f=-1&z=..&by=x&re=1&q=("):
            b.open(made, bad)
            same("metric", bool(b.run(
                "document.getElementById('metric').value")), True)
            b.run("location.hash = '#m=live'")
            b.settle()
            same("crumbs", crumbs(b), ["all"])

        # All that is below the root has its place among the callers.
        b.open(made, "#up=1")
        leaves = by_leaf(folded(path))
        name, value = picked(b, "ArrowDown", "ArrowDown")
        same("widest caller", value, max(leaves.values()))
        calm(b, path)
        printed = b.call("Page.printToPDF")["data"]
        if len(printed) < 10000:
            raise Wrong("nothing is printed")
        calm(b, "paper")
    with browser.Browser(360, 700) as b:
        b.open(made)
        same("scrolls sideways", b.run(
            "document.documentElement.scrollWidth > innerWidth"), False)
        calm(b, "a narrow window")


def group_diff():
    """Two numbers for everything."""
    path, base = stream("stacks.ljm"), stream("plain.ljm")
    want = {"self": by_leaf(folded(path)), "self:base": by_leaf(folded(base))}
    with browser.Browser() as b:
        b.open(page(path, "--diff=" + base))
        same("title", texts(b, "#title"),
             ["stacks.ljm compared with plain.ljm"])
        frame(b, 20, 1, "move")
        head = texts(b, "#tip thead th")
        same("tip", head[1:], ["now", "before", "change"])
        shown = "#tip tr.current td"
        same("INTERNAL", texts(b, shown), ["2.98\u00a0KiB", "4.50\u00a0KiB",
                                           "\u22121.52\u00a0KiB"])
        # What has gone has a place where widths are what was there.
        b.run("location.hash = '#q=lua_cjson_new'")
        b.settle()
        for side, x in (("base", 1), ("change", 1), ("now", 0)):
            click(b, f"#side [data-name={side}]")
            b.key("Escape")
            kids = []
            for at in range(5, 1390, 4):
                frame_quickly(b, at, 1)
                kids += texts(b, "#tip h3")
            same(f"lua_cjson_new, {side}", "lua_cjson_new" in kids, bool(x))
        click(b, "#tab-rows")
        for r in rows(b):
            now, was = number(r["self"]), number(r["self:base"])
            name = r["name"].replace("~", "")
            same(name, (now, was), (want["self"].get(name, 0),
                                    want["self:base"].get(name, 0)))
            same(name, number(r["self:change"]), now - was)
        calm(b, path)


def group_time():
    """The time line, snapshots, sizes, threads."""
    def column(key, unit):
        return {"key": key, "title": key, "unit": unit}

    def add(d):
        d["summary"]["peak"] = {"bytes": 9000, "ns": 3000000}
        d["tables"]["time"] = {
            "columns": [column("ns", "ns"), column("live", "bytes"),
                        column("highest", "bytes"), column("bytes", "bytes")],
            "rows": [[i * 1000000, i * 1000, i * 1000 + 500, 700]
                     for i in range(1, 9)]}
        d["tables"]["snapshots"] = {
            "columns": [column("ns", "ns"), column("site", "text"),
                        column("live", "bytes")],
            "rows": [[t, "<b>site</b>" + str(s), 100 * s] for t in (1, 2, 3)
                     for s in range(12)]}
        d["tables"]["sizes"] = {
            "columns": [column("from", "bytes"), column("to", "bytes"),
                        column("bytes", "bytes")],
            "rows": [[1, 16, 100], [17, 32, 900], [33, None, 50]]}
        d["tables"]["threads"] = {
            "columns": [column("thread", "text"), column("samples", "samples")],
            "rows": [["a<b>", 3], [None, 5]]}

    with browser.Browser() as b:
        b.open(page(stream("stacks.ljm"), change=add))
        same("peak", texts(b, ".peak text"),
             ["peak 8.79\u00a0KiB at 3.0\u00a0ms"])
        where = b.run("""(() => { const r = document.querySelector('#time svg')
          .getBoundingClientRect();
          return [r.left + r.width * 0.6, r.top + 40]; })()""")
        b.mouse("mouseMoved", *where)
        b.settle()
        if "at 5.0\u00a0ms" not in texts(b, "#tip")[0] or \
                "4.88\u00a0KiB" not in texts(b, "#tip")[0]:
            raise Wrong(f"the time line says {texts(b, '#tip')}")
        for n in range(3):
            click(b, "#series button", n)
        same("sites", len(texts(b, ".keys li")), 8)
        same("a name", texts(b, ".keys li")[0], "<b>site</b>11")
        click(b, "#tab-sizes")
        same("buckets", len(texts(b, ".bucket")), 3)
        click(b, "#panel-sizes th [data-name=bytes]")
        same("largest", rows(b, "#panel-sizes")[0]["bytes"], "900 bytes")
        click(b, "#tab-threads")
        same("threads", len(rows(b, "#panel-threads")), 2)
        calm(b, "tables")

        # As the program counts them.
        b.open(page(stream("plain.ljm"), "--heap-snap-interval=0.01"))
        same("series", texts(b, "#series button"),
             ["Live", "Allocated", "Live by site"])
        if len(texts(b, ".peak text")) != 1:
            raise Wrong("the peak is not marked")
        click(b, "#series button", 2)
        if "INTERNAL" not in texts(b, ".keys li"):
            raise Wrong(f"sites: {texts(b, '.keys li')}")
        click(b, "#tab-sizes")
        same("sizes", len(texts(b, ".bucket")) > 3, True)
        calm(b, "what is counted")

        # Of a sampler whose program does more in the end.
        def two_halves(d):
            d["tables"]["time"] = {
                "columns": [column("ns", "ns"), column("samples", "samples")],
                "rows": [[(i + 1) * 100000000, 2 if i < 5 else 4]
                         for i in range(10)]}
        b.open(page(stream("cpu.ljp"), change=two_halves))
        for part, rate in ((0.3, 20), (0.8, 40)):
            where = b.run(f"""(() => {{
              const r = document.querySelector('#time svg')
                .getBoundingClientRect();
              return [r.left + r.width * {part}, r.top + 40]; }})()""")
            b.mouse("mouseMoved", *where)
            b.settle()
            told = dict(zip(texts(b, "#tip th"), texts(b, "#tip td")))
            same(f"rate at {part}", told, {"samples": str(rate // 10),
                                           "samples per second": str(rate)})
        calm(b, "rates")


def group_joint():
    """Memory and CPU, on one time line or not."""
    both = [stream("stacks.ljm"), stream("cpu.ljp")]
    columns = [{"key": "ns", "title": "seconds", "unit": "ns"},
               {"key": "live", "title": "live", "unit": "bytes"},
               {"key": "bytes", "title": "bytes", "unit": "bytes"},
               {"key": "samples", "title": "samples", "unit": "samples"}]

    def course(d):
        # The recording of memory begins after 4 steps, and ends before 2.
        d["tables"]["time"] = {"columns": columns, "rows": [
            [(i + 1) * 100000000, 1024 * i if 4 <= i < 8 else 0, 10, i + 1]
            for i in range(10)]}

    def shared(d):
        course(d)
        d["summary"]["timeline"] = {
            "memory": {"from_ns": 400000000, "to_ns": 800000000},
            "cpu": {"from_ns": 0, "to_ns": 1000000000}}

    def lines(b):
        return b.run("Array.from(document.querySelectorAll('#time .moment'), "
                     "e => [e.getAttribute('visibility'), "
                     "e.getAttribute('x1')])")

    with browser.Browser() as b:
        # Recorded at different times: one of them is shown.
        b.open(page(both[0], both[1], change=course))
        same("pictures", len(texts(b, "#time svg")), 1)
        same("series", texts(b, "#series button"),
             ["Live", "Allocated", "Samples per second"])

        b.open(page(both[0], both[1], change=shared))
        same("pictures", len(texts(b, "#time svg")), 2)
        same("series", texts(b, "#series button"), ["Live", "Allocated"])
        tiled = tiles(b)
        if not tiled["bytes"] or not tiled["samples"]:
            raise Wrong(f"not both: {tiled}")
        for n in (0, 1):
            where = b.run(f"""(() => {{
              const r = document.querySelectorAll('#time svg')[{n}]
                .getBoundingClientRect(), wide = r.width - 74;
              return [r.left + 64 + wide * 0.59, r.top + 40]; }})()""")
            b.mouse("mouseMoved", *where)
            b.settle()
            told = dict(zip(texts(b, "#tip th"), texts(b, "#tip td")))
            same("moment", texts(b, "#tip h3"), ["at 600\u00a0ms"])
            same("told", told, {"live": "5.00\u00a0KiB", "bytes": "10\u00a0B",
                                "samples": "6", "samples per second": "60"})
            marks = lines(b)
            same("marks", [m[0] for m in marks], [None, None])
            same("one moment", marks[0][1], marks[1][1])
        # Of another series of memory, too.
        click(b, "#series button", 1)
        same("pictures", len(texts(b, "#time svg")), 2)
        same("bars", len(b.run("Array.from(document.querySelectorAll("
                               "'#time .bars'), e => e.outerHTML)")), 2)
        b.mouse("mouseMoved", 5, 5)
        b.settle()
        same("marks", [m[0] for m in lines(b)], ["hidden", "hidden"])
        calm(b, both[1])


def group_recorded():
    """What a real program did."""
    program = """
      local function leaf(n)
        local t = {n, tostring(n)}
        t[3] = {}
        return t
      end
      local function twice(n) return {leaf(n), leaf(n + 1)} end
      local kept = {}
      assert(misc.memprof.start(arg[1], {stack = 32}))
      for i = 1, 3000 do
        local t = twice(i)
        if i % 10 == 0 then kept[#kept + 1] = t end
        loadstring("return function() return " .. i % 7 .. " end")()
      end
      assert(misc.memprof.stop())
    """
    lua = os.path.join(TEMPORARY.name, "program.lua")
    out = os.path.join(TEMPORARY.name, "recorded.ljm")
    with open(lua, "w", encoding="utf-8") as f:
        f.write(program)
    subprocess.run([os.environ["LUAJIT"], lua, out], check=True)
    with browser.Browser() as b:
        b.open(page(out), "#v=rows")
        total = types_total(out)
        same("totals", {k: v for k, v in tiles(b).items() if k in total},
             {k: v for k, v in total.items() if k in tiles(b)})
        want = by_leaf(folded(out))
        for r in rows(b)[:20]:
            same(r["name"], number(r["self"]),
                 want.get(r["name"].replace("~", ""), 0))
        b.run("location.hash = '#'")
        b.settle()
        same("all", picked(b, "ArrowDown")[1], total["bytes"])
        b.key("Escape")
        functions = [([re.sub(r", ~?line \S+", "", f) for f in frames], n)
                     for frames, n in folded(out)]
        for hash in ("#by=function", "#by=function&up=1"):
            b.run(f"location.hash = '{hash}'")
            b.settle()
            check_graph(b, functions, "up" in hash)
        calm(b, out)


def main(groups):
    """Run the group of the command line, of these. Returns the exit status."""
    if not browser.find():
        print("There is no Chromium here.")
        return 77
    try:
        groups["group_" + GROUP]()
    except (Wrong, browser.Failure) as e:
        print(f"FAILED: {e}")
        return 1
    finally:
        TEMPORARY.cleanup()
    return 0


if __name__ == "__main__":
    sys.exit(main(globals()))
