/* -- What was recorded ----------------------------------------------------- */

/* Metrics that belong together: bytes, and how many objects those are. */
const TILES = [
  {key: "bytes", count: "allocations", title: "Allocated"},
  {key: "peak", count: "peak-objects", title: "At peak"},
  {key: "live", count: "live-objects", title: "Live at the end"},
  {key: "leaked", count: "leaked-objects", title: "Leaked"},
  {key: "temporary", count: "temporary-objects", title: "Temporary"},
  {key: "freed", count: "deallocations", title: "Freed"},
  {key: "samples", title: "Samples"}
];

/* Names of files, for a title. */
function fileNames(names) {
  const shown = names.slice(0, 3)
    .map(n => safeText(shortText(baseName(n), 80)));
  if (names.length > 3)
    shown.push(`${names.length - 3} more`);
  return shown.join(", ");
}

/* Names of files of both sides of a diff. Where they are the same, so many of
** their folders are told that they differ.
*/
function bothNames(files, base) {
  const part = n => x => safeText(x.split("/").slice(-n).join("/"));
  for (let n = 1; n < 12; n++) {
    const a = files.map(part(n)).join(", "), b = base.map(part(n)).join(", ");
    if (a === b)
      continue;
    return n === 1 ? [fileNames(files), fileNames(base)]
      : [shortText(a, 160), shortText(b, 160)];
  }
  return [fileNames(files), "itself"];
}

/* How samples were taken. */
function sampledText(s) {
  const to = s.dense === s.sparse ? "" : ` to ${bytesText(s.sparse)}`;
  return `sampled every ${bytesText(s.dense)}${to} on average: ` +
    "all figures are estimates";
}

/* When and of whom it was recorded, as far as that is known. */
function originFacts(recorded) {
  const facts = [], r = recorded || {}, of = [r.memory, r.cpu].filter(Boolean);
  const pids = new Set(of.map(x => x.pid).filter(Boolean));
  const processes = Math.max(0, ...of.map(x => x.processes));
  const command = of.map(x => x.command).find(Boolean);
  if (r.realtime_ns)
    facts.push(dateText(r.realtime_ns / 1e6));
  if (r.host)
    facts.push(shortText(safeText(r.host), 64));
  if (pids.size)
    facts.push("pid " + Array.from(pids).join(", "));
  else if (processes > 1)
    facts.push(`${countText(processes)} processes`);
  if (command)
    facts.push(shortText(safeText(command), 120));
  return facts;
}

/* The facts below the title. */
function factsOf(p) {
  const doc = p.doc, s = doc.summary, facts = [];
  const of = doc.of.map(x => x === "cpu" ? "CPU" : x).join(" and ");
  facts.push(of ? of[0].toUpperCase() + of.slice(1) + " profile"
    : "Empty profile");
  if (s.duration_ns)
    facts.push(timeText(s.duration_ns));
  if (s.sampled)
    facts.push(sampledText(s.sampled));
  else if (doc.of.includes("memory"))
    facts.push("every event");
  if (s.books && s.books.hz)
    facts.push(`${s.books.event || "sampled"} at ${s.books.hz}\u00a0Hz`);
  facts.push(...originFacts(s.recorded));
  facts.push(`${countText(p.n - 1)} call paths`);
  facts.push(doc.generator);
  return facts;
}

/* Reasons why samples were dropped or truncated, most frequent first. */
function reasonsText(reasons) {
  return Object.keys(reasons || {}).filter(k => reasons[k] > 0)
    .sort((a, b) => reasons[b] - reasons[a])
    .map(k => `${safeText(k.replace(/_/g, " "))} ${countText(reasons[k])}`)
    .join(", ");
}

/* One place where a file is damaged. */
function damageText(d) {
  let s = `${safeText(d.file)}: offset ${countText(d.offset)}: ` +
    safeText(d.what);
  if (d.bytes)
    s += `; ${countText(d.bytes)} bytes lost`;
  if (d.events)
    s += `; ${countText(d.events)} events lost`;
  return s;
}

/* A warning, with details to unfold. */
function noteEl(title, lines) {
  return lines.length > 1 || (lines[0] || "").length > 140
    ? el("details", {class: "note", role: "status"}, el("summary", null, title),
      el("ul", null, ...lines.map(x => el("li", null, x))))
    : el("p", {class: "note", role: "status"}, el("strong", null, title), " ",
      ...lines);
}

/* Memory that C modules take from the VM's allocator. */
function outsideText(o) {
  let s = `${bytesText(o.live_bytes)} live, ${bytesText(o.bytes)} allocated, ` +
    `${countText(o.allocations)} allocations, ` +
    `${countText(o.deallocations)} deallocations`;
  if (o.older_deallocations)
    s += `; ${bytesText(o.older_bytes)} of ` +
      `${countText(o.older_deallocations)} objects from before the start ` +
      "were freed";
  return s;
}

/* Warnings about all that makes figures inexact. */
function showNotes(p) {
  const s = p.doc.summary, notes = [], damage = s.damage || [];
  if (damage.length) {
    const lines = damage.map(damageText);
    if (s.more_damage)
      lines.push(`and ${countText(s.more_damage)} more`);
    notes.push(noteEl("Damaged: a part could not be read.", lines));
  }
  if (s.approximate)
    notes.push(noteEl("Live figures are approximate:", [s.approximate]));
  if (s.outside)
    notes.push(noteEl("Outside of the VM\u2019s count:",
      [outsideText(s.outside)]));
  if (s.books && s.books.missing)
    notes.push(noteEl("The end of a recording is missing:",
      ["how much was dropped is not known."]));
  fill(byId("notes"), ...notes);
}

/* How a number has changed. */
function changeEl(now, base, unit) {
  const d = now - base;
  return el("span", {class: d > 0 ? "more" : d < 0 ? "less" : "same"},
    d === 0 ? "unchanged" : changeText(d, unit) +
      (base > 0 ? ` (${d > 0 ? "+" : ""}${shareText(d, base)})` : ""));
}

/* A tile: a metric in bytes and, below it, its count of objects. */
function tileEl(p, tile, state, choose) {
  const m = metricOf(p, tile.key);
  const count = tile.count && metricOf(p, tile.count);
  const on = state.metric === tile.key || count && state.metric === count.key;
  const now = totalOf(p, tile.key, "now");
  const button = (metric, text, name) => el("button", {
    type: "button", class: name, "data-name": metric.key,
    "data-value": totalOf(p, metric.key, "now"),
    "aria-pressed": String(state.metric === metric.key),
    title: exactText(totalOf(p, metric.key, "now"), metric.unit),
    onclick: () => choose(metric.key)
  }, text);
  return el("div", {class: "tile", "data-on": String(Boolean(on))},
  el("h2", null, tile.title),
  button(m, unitText(now, m.unit), "big"),
  p.diff && changeEl(now, totalOf(p, tile.key, "base"), m.unit),
  count && button(count, `${countText(totalOf(p, count.key, "now"))} ` +
    (tile.of || (tile.key === "bytes" ? "allocations" : "objects")), "small"));
}

/* A tile without a button. */
function factTile(title, big, small, warn) {
  return el("div", {class: "tile fact" + (warn ? " warn" : "")},
    el("h2", null, title), el("span", {class: "big"}, big),
    small && el("span", {class: "small"}, small));
}

/* Tiles of the sampler's statistics. */
function bookTiles(b) {
  const tiles = [], counts = b.counts || {}, fired = counts.fired || 0;
  if (counts.cpu_ns)
    tiles.push(factTile("CPU time", timeText(counts.cpu_ns),
      counts.ns ? "in " + timeText(counts.ns) : ""));
  if (b.expected)
    tiles.push(factTile("Coverage", shareText(fired, b.expected),
      `${countText(fired)} of ${countText(b.expected)} expected`,
      fired < 0.95 * b.expected));
  if (fired)
    tiles.push(factTile("Dropped", shareText(counts.dropped || 0, fired),
      reasonsText(b.dropped) || "none", counts.dropped > 0.01 * fired));
  if (b.samples)
    tiles.push(factTile("Truncated", shareText(b.not_whole || 0, b.samples),
      reasonsText(b.truncated) || "none", b.not_whole > 0.05 * b.samples));
  if (b.unsure || b.approximate)
    tiles.push(factTile("Line approximate",
      shareText(b.approximate, b.samples),
      "function not proven: " + shareText(b.unsure, b.samples)));
  return tiles;
}

/* Tiles of all metrics of the profile. */
function showTiles(p, state, choose) {
  const tiles = p.heap ? heapTiles(p, choose)
    : TILES.filter(t => metricOf(p, t.key))
      .map(t => tileEl(p, t, state, choose));
  if (p.doc.summary.books)
    tiles.push(...bookTiles(p.doc.summary.books));
  refill(byId("tiles"), ...tiles);
}

/* The head of the page. */
function showHeader(p) {
  const doc = p.doc, names = fileNames(doc.files);
  const title = p.ladder ? `${countText(doc.dumps)} dumps, ` +
    bothNames(doc.base, doc.files.slice(0, 1)).join(" to ")
    : p.diff ? bothNames(doc.files, doc.base).join(" compared with ")
    : names;
  document.title = title + " \u2013 ljprof";
  fill(byId("title"), nameEl(title,
    {title: shortText(doc.files.join("\n"), 999)}));
  const facts = p.heap ? heapFacts(p) : factsOf(p);
  fill(byId("facts"), ...facts.map(f => el("span", null, f)));
  showNotes(p);
}
