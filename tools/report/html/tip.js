/* -- Tooltip of the frame below the mouse ---------------------------------- */

/* Show a tooltip beside a point, inside of the window. */
function showTip(x, y, inside) {
  const tip = byId("tip");
  fill(tip, inside);
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  const left = x + 16 + w > window.innerWidth ? x - w - 12 : x + 16;
  const top = y + 18 + h > window.innerHeight ? y - h - 12 : y + 18;
  const within = (at, size, all) => Math.max(4, Math.min(at, all - size - 4));
  tip.style.left = within(left, w, window.innerWidth) + "px";
  tip.style.top = within(top, h, window.innerHeight) + "px";
}

/* Hide the tooltip. */
function hideTip() {
  byId("tip").hidden = true;
}

/* The row of a metric; none if it is 0 here, and not the drawn one. */
function tipRow(p, half, spot, m, current) {
  const cells = [], leads = half.tree.how.up && spot.up;
  const now = spotValue(half.tree, spot, m.key, "now");
  if (m.key !== current && !now.total && !now.self && (!p.diff ||
      !spotValue(half.tree, spot, m.key, "base").total))
    return null;
  const all = totalOf(p, m.key, "now");
  if (p.diff) {
    const base = spotValue(half.tree, spot, m.key, "base");
    cells.push(unitText(now.total, m.unit), unitText(base.total, m.unit),
      changeText(now.total - base.total, m.unit));
  } else {
    cells.push(unitText(now.total, m.unit), shareText(now.total, all));
    if (!leads)
      cells.push(unitText(now.self, m.unit), shareText(now.self, all));
  }
  return el("tr", {class: m.key === current ? "current" : null},
    el("th", {scope: "row"}, m.title),
    ...cells.map(c => el("td", {class: /^0(\.0)?(\u00a0B|%)?$/.test(c) ? "zero"
      : null}, c)));
}

/* Metrics whose total is not 0. */
function toldMetrics(p) {
  return p.metrics.filter(m => totalOf(p, m.key, "now") ||
    totalOf(p, m.key, "base"));
}

/* The CPU time that the samples stand for. */
function tipTime(p, half, spot) {
  const b = p.doc.summary.books;
  if (!b || !b.hz || b.hz !== b.hz_least || !metricOf(p, "samples"))
    return null;
  const v = spotValue(half.tree, spot, "samples", "now");
  return el("p", {class: "where"}, "about " + timeText(1e9 * v.total / b.hz) +
    " of CPU time");
}

/* The tooltip of a spot. */
function tipOf(p, half, spot, state) {
  if (p.heap)
    return heapTip(p, half, spot);
  const frame = spot.frame >= 0 ? half.frames[spot.frame] : null;
  const leads = half.tree.how.up && spot.up;
  const titles = p.diff ? ["now", "before", "change"]
    : leads ? ["leads to", "%"] : ["total", "%", "self", "%"];
  const kind = frame ? (KINDS[frame.kind] || KINDS.special).title : "";
  return el("div", null,
    el("h3", null, nameEl(shortText(frame ? frame.first : "All stacks", 300))),
    frame && el("p", {class: "where"}, kind + " \u00b7 ",
      nameEl(shortText(frame.label, 500))),
    frame && frame.approximate && el("p", {class: "where"},
      "The line is approximate: compiled code did not tell more."),
    tipTime(p, half, spot),
    el("table", null, el("thead", null, el("tr", null, el("th"),
      ...titles.map(t => el("th", {scope: "col"}, t)))),
    el("tbody", null, ...toldMetrics(p).map(m =>
      tipRow(p, half, spot, m, state.metric)))));
}

/* The tooltip of frames that are too narrow to be drawn. */
function tipOfRest() {
  return el("p", {class: "where"}, "Smaller frames: zoom in to see them");
}
