"""Tests of the page of profiles: check_page.py PROGRAM STREAMS GROUP.

Spans of time, columns, CSV, sources, heads, narrow windows. Spans are compared
with reports of --from and --to, sources with the files."""

import csv
import io
import json
import math
import os
import re
import subprocess
import sys

import browser
import check
from check import STREAMS, TEMPORARY, Wrong, by_leaf, calm, click, folded, number, page
from check import report, rows, same, stream, texts, tiles

RECORDED = """
  local function leaf(n) local t = {n, tostring(n)} t[3] = {} return t end
  local function twice(n) return {leaf(n), leaf(n + 1)} end
  local function late(n) return {string.rep("x", n % 50)} end
  local kept = {}
  assert(misc.memprof.start(arg[1], {stack = 32}))
  local from = os.time and os.clock()
  for i = 1, 1e9 do
    local now = os.clock() - from
    if now > 0.12 then break end
    local t = now > 0.06 and late(i) or twice(i)
    if i % 10 == 0 and #kept < 3000 then kept[#kept + 1] = t end
  end
  repeat until os.clock() - from > 0.15 -- A quiet end.
  assert(misc.memprof.stop())
"""


def drag(b, a, z):
    """Drag over the time line, between two parts of its axis."""
    spots = b.run(f"""(() => {{
      const r = document.querySelector('#time svg').getBoundingClientRect();
      return [{a}, {z}].map(x => [r.left + 64 + (r.width - 74) * x,
                                  r.top + 40]); }})()""")
    b.mouse("mouseMoved", *spots[0])
    b.mouse("mousePressed", *spots[0], button="left", clickCount=1)
    b.mouse("mouseMoved", (spots[0][0] + spots[1][0]) / 2, spots[0][1],
            button="left")
    b.mouse("mouseMoved", *spots[1], button="left")
    b.mouse("mouseReleased", *spots[1], button="left", clickCount=1)
    b.settle()


def span(b):
    """The span of the address, in seconds, or None."""
    m = re.search(r"[#&]w=([\d.]+)-([\d.]+)", b.run("location.hash"))
    return [float(x) / 1000 for x in m.groups()] if m else None


def drag_span(b, a, z, step, end):
    """Drag, and compare the span with what was dragged; in seconds."""
    drag(b, a, z)
    wanted = (int(min(a, z) * end / step) * step,
              math.ceil(max(a, z) * end / step) * step)
    same(f"span of a drag from {a} to {z}",
         [abs(x - y) < step * 1.5 for x, y in zip(span(b) or (), wanted)],
         [True, True])


def check_span(b, path):
    """The page shows what reports of the span that it says it shows have."""
    at = span(b)
    cut = [f"--from={at[0]}", f"--to={at[1]}"]
    for metric in ("bytes", "allocations", "freed"):
        b.run("document.getElementById('metric').value = "
              f"{metric!r}; document.getElementById('metric')"
              ".dispatchEvent(new Event('change'))")
        b.settle()
        own = json.loads(report(path, "--format=json", *cut))
        total = own["summary"]["totals"][metric]["now"]
        if metric == "freed": # Of objects that came before, too.
            continue
        same(f"{metric} of {at}", tiles(b)[metric], total)
        want = {k: v for k, v in by_leaf(folded(path, metric, extra=cut))
                .items() if v}
        click(b, "#tab-rows")
        got = {r["name"].replace("~", ""): number(r["self"]) for r in rows(b)}
        same(f"lines of {at}", {k: v for k, v in got.items() if v}, want)
        click(b, "#tab-flame")
    return at


def group_span():
    """A drag over the time line selects a span; all follows."""
    path = os.path.join(TEMPORARY.name, "recorded.ljm")
    lua = os.path.join(TEMPORARY.name, "program.lua")
    with open(lua, "w", encoding="utf-8") as f:
        f.write(RECORDED)
    subprocess.run([os.environ["LUAJIT"], lua, path], check=True)
    series = json.loads(report(path, "--view=time", "--format=json"))
    live = {r[0]: r[1] for r in series["rows"]}
    step, end = min(live) / 1e9, max(live) / 1e9
    with browser.Browser() as b:
        b.open(page(path))
        whole = tiles(b)
        drag_span(b, 0.3, 0.7, step, end)
        check_span(b, path)
        if "peak" in tiles(b) or whole["bytes"] <= tiles(b)["bytes"]:
            raise Wrong(f"the span has {tiles(b)}")
        same("head of the time line", texts(b, "#span button"), ["All"])
        drag_span(b, 1, 0.55, step, end) # To the left, up to a quiet end.
        check_span(b, path)
        # What is live at the end of a span is what the time line says.
        same("live", tiles(b)["live"], live[round(span(b)[1] * 1e9)])
        click(b, "#tab-types")
        same("other tables", texts(b, "#panel-types .said"),
             ["Of the whole recording, not of the span"])
        b.run("history.back()")
        b.settle()
        # Keys: from the first tenth on, later, longer, all of it.
        click(b, "#span-all")
        same("no span", span(b), None)
        same("all", tiles(b), whole)
        b.run("document.querySelector('#time svg').focus()")
        b.key("ArrowRight")
        one = span(b)
        same("begins", one[0], 0)
        b.key("ArrowRight")
        two = span(b)
        same("later", two[0] > 0 and two[1] > one[1], True)
        check_span(b, path)
        b.run("document.querySelector('#time svg').focus()")
        b.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight",
               modifiers=8)
        b.settle()
        same("longer", (span(b)[0], span(b)[1] > two[1]), (two[0], True))
        # A late event of an older address reverts nothing.
        b.run("""document.getElementById('span-all').click(),
                 dispatchEvent(new HashChangeEvent('hashchange'))""")
        b.settle()
        same("no span", span(b), None)
        # A click is no drag.
        drag(b, 0.5, 0.5)
        same("no span", span(b), None)
        for bad in ("#w=9-1e9", "#w=-", "#w=99999999-999999999", "#w=5-5"):
            b.open(page(path), bad)
            same("tiles of " + bad, bool(tiles(b)), True)
        calm(b, path)
        # Of samples. Those of all spans together are all.
        cpu = stream("cpu.ljp")
        b.open(page(cpu))
        steps = b.run("JSON.stringify(0)") and json.loads(
            check.embedded(cpu, "samples"))["steps"]
        if "cpu" in steps:
            same("samples", sum(steps["cpu"]["samples"]),
                 tiles(b)["samples"])
        calm(b, cpu)


def saved(b, view):
    """What the button CSV of a view saves."""
    b.run("""(() => { window.saved = null; const make = URL.createObjectURL;
      URL.createObjectURL = blob => { blob.text().then(t => window.saved = t);
        return make.call(URL, blob); }; })()""")
    click(b, "#csv-" + view)
    b.wait("window.saved !== null")
    return list(csv.DictReader(io.StringIO(b.run("window.saved"))))


def group_tables():
    """Columns, CSV, names that stay, axes, tooltips, narrow windows."""
    path = stream("stacks.ljm")
    with browser.Browser() as b:
        b.open(page(path), "#v=rows")
        shown = list(rows(b)[0])
        same("a column that is rare", "peak-objects" in shown, False)
        click(b, "#columns-rows summary")
        click(b, "#columns-rows [data-name='column peak-objects']")
        click(b, "#columns-rows [data-name='column allocations']")
        now = list(rows(b)[0])
        same("columns", (set(now) - set(shown), set(shown) - set(now)),
             ({"peak-objects"}, {"allocations"}))
        b.open(page(path), b.run("location.hash"))
        same("columns of the address", list(rows(b)[0]), now)
        want = {r["name"]: number(r["self"]) for r in rows(b)}
        got = saved(b, "rows")
        same("columns of CSV", list(got[0]), now)
        same("CSV", {r["name"].removeprefix("'"): int(r["self"])
                     for r in got}, want)
        own = list(csv.DictReader(io.StringIO(
            report(path, "--view=types", "--format=csv"))))
        click(b, "#tab-types")
        same("types", {r["type"]: r["bytes"] for r in saved(b, "types")},
             {r["type"]: r["bytes"] for r in own if r["type"] != "total"})
        # Scrolled, names stay.
        b.call("Emulation.setDeviceMetricsOverride", width=500, height=700,
               deviceScaleFactor=1, mobile=False)
        b.open(page(path), "#v=types")
        at = b.run("""(() => { const box = document.querySelector(
          '#panel-types .scroll'); box.scrollLeft = 400;
          return [box.scrollLeft, box.getBoundingClientRect().left,
            box.querySelector('td').getBoundingClientRect().left]; })()""")
        same("scrolled", at[0] > 0, True)
        same("the name's place", at[2] - at[1] < 3, True)
        # At 400 pixels the name and the metric are in view, and no card is cut.
        b.call("Emulation.setDeviceMetricsOverride", width=400, height=800,
               deviceScaleFactor=1, mobile=False)
        b.open(page(path), "#v=rows")
        same("in view", b.run("""(() => { const box = document.getElementById(
          'rows').getBoundingClientRect();
          return Array.from(document.querySelectorAll('#rows tbody tr'),
            tr => tr.cells[0].getBoundingClientRect().width > 100 &&
              tr.cells[1].getBoundingClientRect().right <= box.right)
            .every(Boolean); })()"""), True)
        same("cut cards", b.run("""Array.from(document.querySelectorAll(
          '.tile *'), e => e.scrollWidth > e.clientWidth + 1 &&
            e.clientWidth > 0 ? e.textContent : '').filter(Boolean)"""), [])
        same("scrolls sideways", b.run(
            "document.documentElement.scrollWidth > innerWidth"), False)
        # Sizes have a title and a scale.
        b.open(page(path), "#v=sizes")
        same("title", texts(b, ".sizes figcaption"),
             ["Bytes allocated by size of the object"])
        same("scale", len(texts(b, ".levels .tick")) > 2, True)
        # A tooltip has no metric that is 0, but the drawn one.
        b.open(page(path), "#up=1")
        check.frame_quickly(b, 5, 1)
        zeros = [t for t in texts(b, "#tip tbody tr:not(.current)")
                 if re.search(r"^\D*0(\u00a0B)?–?0?", t)]
        same("zeros", zeros, [])
        calm(b, path)
        # Without stacks it opens on lines. A diff sorts by change.
        flat = stream("plain.ljm")
        b.open(page(flat))
        same("first view", texts(b, "[aria-selected=true]"), ["Lines"])
        other = os.path.join(TEMPORARY.name, "stacks.ljm")
        with open(path, "rb") as f, open(other, "wb") as to:
            to.write(f.read())
        b.open(page(other, "--diff=" + path), "#v=rows")
        title = texts(b, "#title")[0].split(" compared with ")
        same("titles", [title[0] != title[1],
                        [t.rsplit("/", 1)[-1] for t in title]],
             [True, ["stacks.ljm"] * 2])
        same("sorted by", b.run("document.querySelector('#rows [aria-sort] "
                                "button').dataset.name"), "self:change")
        same("curves", len(b.run("Array.from(document.querySelectorAll("
                                 "'#time .before'), e => e.outerHTML)")), 1)
        calm(b, other)


def group_source():
    """Sources beside their figures; of no other folder."""
    folder = os.path.join(TEMPORARY.name, "src")
    os.mkdir(folder)
    lua = os.path.join(folder, "app.lua")
    secret = os.path.join(TEMPORARY.name, "secret.lua")
    out = os.path.join(TEMPORARY.name, "app.ljm")
    with open(secret, "w", encoding="utf-8") as f:
        f.write("-- a secret\nreturn function() return {} end\n")
    os.symlink(secret, os.path.join(folder, "link.lua"))
    text = f"""local kept = {{}}
local other = dofile("{folder}/link.lua")
assert(misc.memprof.start(arg[1], {{stack = 8}}))
for i = 1, 100 do
  kept[i] = {{"<script>", {{}}}}
  other()
end
assert(misc.memprof.stop())
"""
    with open(lua, "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run([os.environ["LUAJIT"], lua, out], check=True)
    with browser.Browser() as b:
        b.open(page(out))
        same("no source", "Source" in texts(b, "#tabs button"), False)
        b.open(page(out, "--source=" + folder), "#v=source")
        same("files", [t.split("  ")[0] for t in texts(b, "#file option")],
             [lua])
        same("text", texts(b, ".source .code"), text.splitlines())
        want = by_leaf(folded(out))
        line = next(n for s, n in want.items() if s.endswith("line 5"))
        shown = b.run("document.querySelector('[data-line=\"5\"] td')"
                      ".textContent")
        same("line 5", shown, b.run(f"(n => n < 1024 ? n + '\\u00a0B' : "
                                    f"(n / 1024).toFixed(n < 10235 ? 2 : 1) + "
                                    f"'\\u00a0KiB')({line})"))
        click(b, "[data-line='5'] button")
        same("tab", texts(b, "[aria-selected=true]"), ["Flame graph"])
        # It has moved: found by --map, and the same in a diff.
        moved = os.path.join(TEMPORARY.name, "moved")
        os.rename(folder, moved)
        b.open(page(out, "--source=" + moved), "#v=source")
        same("no source", "Source" in texts(b, "#tabs button"), False)
        b.open(page(out, "--source=" + moved, f"--map={folder}={moved}"),
               "#v=source")
        same("text", texts(b, ".source .code"), text.splitlines())
        again = os.path.join(TEMPORARY.name, "again.ljm")
        os.unlink(os.path.join(moved, "link.lua"))
        with open(os.path.join(moved, "app.lua"), "w", encoding="utf-8") as f:
            f.write(text.replace(folder + "/link.lua", secret))
        subprocess.run([os.environ["LUAJIT"], os.path.join(moved, "app.lua"),
                        again], check=True)
        made = page(again, "--diff=" + out, f"--map={folder}={moved}",
                    "--source=" + moved)
        b.open(made, "#v=rows&q=app.lua")
        same("same lines", [r["name"] for r in rows(b) if number(
            r["self:base"]) == 0 and "line 5" in r["name"]], [])
        same("head", all(x in texts(b, "#facts")[0] for x in ("pid ", "app.lua",
                                                              os.uname()[1])),
             True)
        calm(b, made)


# What axe finds, in a line each.
VIOLATIONS = """axe.run(document, {resultTypes: ['violations']}).then(r =>
  r.violations.map(v => v.id + ': ' + v.nodes[0].html.slice(0, 120)))"""


def axe_script():
    """The text of axe, which test/obtain --all fetches. Skips the test without
    it."""
    place = os.path.join(os.environ["LJPROF_CACHE_DIR"], "npm", "axe")
    if not os.path.exists(place):
        print("skipped: no package axe: test/obtain --all did not get it")
        sys.exit(77)
    path = os.path.join(place, "node_modules", "axe-core", "axe.min.js")
    with open(path, encoding="utf-8") as f:
        return f.read()


def group_axe():
    """No view is a barrier, as far as axe can see."""
    script = axe_script()
    joint = page(stream("stacks.ljm"), stream("cpu.ljp"),
                 "--source=" + TEMPORARY.name)
    diff = page(stream("stacks.ljm"), "--diff=" + stream("plain.ljm"))
    views = [(joint, "#theme=light"), (joint, "#v=sizes"),
             (joint, "#v=rows&theme=dark"), (diff, "#theme=dark")]
    with browser.Browser(1200, 900) as b:
        for made, hash in views:
            b.open(made, hash)
            b.run(script + ";0")
            same("axe of " + hash, b.run(VIOLATIONS), [])


if __name__ == "__main__":
    sys.exit(check.main(globals()))
