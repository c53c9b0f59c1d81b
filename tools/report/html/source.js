/* -- Sources, with figures beside each line -------------------------------- */

/* The files that the page has the source of. */
function sourceFiles(p) {
  return p.doc.sources ? p.doc.sources.files : [];
}

/* Figures of the lines of a file: self and total by side, and the frame, which
** is the widest of those of a line.
*/
function sourceLines(p, file, metric) {
  const frames = framesOf(p, "line"), lines = new Map();
  const sides = p.diff ? ["now", "base"] : ["now"];
  const sums = sides.map(side => [frameSums(p, "line", metric, side, false),
    frameSums(p, "line", metric, side, true)]);
  const {sites} = p.doc, seen = new Set();
  for (let s = 0; s < sites.function.length; s++) {
    const i = frames.of[s], at = sites.line[s];
    if (p.doc.sources.of[sites.function[s]] !== file || at === null ||
        seen.has(i))
      continue;
    seen.add(i);
    if (!lines.has(at))
      lines.set(at, {frame: i, self: [0, 0], total: [0, 0], most: -1});
    const line = lines.get(at);
    sums.forEach(([self, total], k) => {
      line.self[k] += self[i];
      line.total[k] += total[i];
    });
    if (sums[0][1][i] > line.most) {
      line.most = sums[0][1][i];
      line.frame = i;
    }
  }
  return lines;
}

/* By file, the sum of the self values of its lines. */
function sourceSums(p, metric) {
  return once(p, `sources ${metric}`, () => {
    const files = sourceFiles(p).map(() => 0), of = p.doc.sources.of;
    const self = frameSums(p, "line", metric, "now", false);
    const frames = framesOf(p, "line").list;
    frames.forEach((f, i) => {
      if (of[f.fn] >= 0)
        files[of[f.fn]] += self[i];
    });
    return files;
  });
}

/* The file that is shown: the chosen one, or that with most. */
function sourceChosen(p, state) {
  const sums = sourceSums(p, state.metric), files = sourceFiles(p);
  if (state.file < files.length && state.file >= 0)
    return state.file;
  return sums.indexOf(Math.max(...sums));
}

/* One line: its figures, its number, its text. */
function sourceRow(p, text, at, line, most, unit) {
  const value = (v, k) => v ? unitText(v[k], unit) : "";
  const cells = !line ? ["", ""] : p.diff
    ? [value(line.self, 0), line.self[0] === line.self[1] ? ""
      : changeText(line.self[0] - line.self[1], unit)]
    : [line.self[0] ? value(line.self, 0) : "", line.total[0]
      ? value(line.total, 0) : ""];
  const bar = line && line.self[0] > 0 && el("span", {class: "share"});
  if (bar)
    bar.style.width = 100 * line.self[0] / Math.max(1, most) + "%";
  const some = line && (line.self[0] || line.total[0] || line.self[1]);
  return el("tr", {class: some ? "pick hot" : null, "data-line": at,
    onclick: some ? () => {
      if (state.merge !== "line")
        go({merge: "line", zoom: [], focus: -1}, false);
      focusOn(line.frame);
    } : null},
  el("td", {class: "number barred"}, bar, cells[0]),
  el("td", {class: "number"}, cells[1]),
  el("th", {scope: "row", class: "number"}, some
    ? el("button", {type: "button", "data-name": "line " + at,
      title: "Callers and callees"}, String(at)) : String(at)),
  el("td", {class: "code"}, safeCode(text)));
}

/* Text of a line, of which tabs are as wide as eight characters. */
function safeCode(text) {
  return text.split("\t").map(safeText).join("        ");
}

/* The select of files: most first. */
function sourceSelect(p, metric, chosen) {
  const sums = sourceSums(p, metric.key), files = sourceFiles(p);
  const order = files.map((f, i) => i).sort((a, b) => sums[b] - sums[a]);
  return el("label", null, "File ", el("select", {id: "file",
    "data-name": "file", onchange: e => go({file: Number(e.target.value)}, true)},
  ...order.map(i => el("option", {value: i, selected: i === chosen},
    `${safeText(shortText(files[i].name, 70))}  ` +
      unitText(sums[i], metric.unit)))));
}

/* The view: one file, scrolled to its line with most. */
function showSource(p, state) {
  const panel = byId("panel-source"), metric = metricOf(p, state.metric);
  const chosen = sourceChosen(p, state), file = sourceFiles(p)[chosen];
  const lines = sourceLines(p, chosen, metric.key);
  const most = Math.max(0, ...Array.from(lines.values(), x => x.self[0]));
  const rows = file.text.replace(/\r?\n$/, "").split(/\r?\n/)
    .map((text, i) => sourceRow(p, text, i + 1, lines.get(i + 1), most,
      metric.unit));
  const head = ["self", p.diff ? "change" : "total", "line",
    "source"];
  const box = el("div", {class: "scroll source", tabindex: "0",
    "aria-label": "Source"}, el("table", {class: "grid"},
    el("thead", null, el("tr", null, ...head.map((t, i) => el("th",
      {scope: "col", class: i < 3 ? "number" : null}, t)))),
    el("tbody", null, ...rows)));
  const {left} = p.doc.sources;
  refill(panel, el("div", {class: "above"},
    sourceSelect(p, metric, chosen),
    el("span", {class: "said"}, file.changed
      ? "The file was changed after the recording: lines may have moved" : "",
    left ? ` ${countText(left)} files were left out` : "")), box);
  const hot = Array.from(lines).reduce((a, b) => b[1].self[0] > a[1].self[0]
    ? b : a, [1, {self: [0]}])[0];
  const row = rows[hot - 1];
  if (row && most > 0)
    requestAnimationFrame(() => box.scrollTop = row.offsetTop -
      box.clientHeight / 3);
}
