/* -- Heap dumps: who keeps what, drawn as a flame graph -------------------- */

/* The document has the dominator tree in the form of a call tree: functions are
** shapes, sites are objects by how they are reached, a total is what is kept.
*/

/* What the page says of heap dumps where it would speak of calls. */
const HEAP_WORDS = {
  graph: "Who keeps it", all: "All objects",
  around: "What keeps and what is kept by", aroundAction: "What keeps it",
  merge: [
    {value: "line", title: "Objects", hint: "A box is an object, or those of " +
      "one shape that the same object keeps"},
    {value: "function", title: "Shapes", hint: "A box is a shape"}
  ],
  down: {title: "Keeps", hint: "From the roots to what they keep alive"},
  up: {title: "Kept by", hint: "From the objects that take memory to those " +
    "that keep them"}
};

/* -- The document -- */

/* Replace numbers of texts, and put names into the first columns of tables. In
** a narrow window the figures are beside the first name.
*/
function openHeap(doc) {
  const text = i => doc.texts[i];
  doc.functions.name = doc.functions.name.map(text);
  doc.sites.step = doc.sites.step.map(text);
  doc.sites.name = doc.sites.name.map(text);
  for (const table of Object.values(doc.tables)) {
    const far = window.innerWidth <= 720 ? 3 : 1;
    const place = c => c.key === "name" ? 0 : c.unit === "text" ? far : 2;
    const order = table.columns.map((c, k) => k);
    order.sort((a, b) => place(table.columns[a]) - place(table.columns[b]) ||
      a - b);
    table.columns = order.map(k => table.columns[k]);
    table.rows = table.rows.map(row => order.map(k => row[k]));
  }
}

/* The frame of a shape, or of an object by how it is reached. */
function heapFrame(doc, site, merge) {
  const f = doc.sites.function[site], shape = doc.functions.name[f];
  const step = merge === "line" ? doc.sites.step[site] : "";
  const name = merge === "line" ? doc.sites.name[site] : shape;
  return {
    kind: doc.functions.kind[f], fn: f, file: shape,
    first: safeText(step || name), second: safeText(step ? name : ""),
    label: safeText(step ? step + "  " + name : name),
    text: [step, name, shape].join("\n")
  };
}

/* What a spot keeps, or how that has changed, on the side that is drawn. */
function heapSize(half, spot) {
  const {side} = half.tree.how, of = side === "base" ? "base" : "now";
  const value = key => spotValue(half.tree, spot, "bytes", key).total;
  return side === "change" ? changeText(value("now") - value("base"), "bytes")
    : bytesText(value(of));
}

/* The name of a spot, with what it keeps. Objects of one shape are counted. */
function heapName(half, spot) {
  const up = half.tree.how.up, frame = half.frames[spot.frame];
  if (!spot.name) {
    const n = up ? 1 : spotValue(half.tree, spot, "objects", "now").self ||
      spotValue(half.tree, spot, "objects", "base").self;
    const times = n > 1 && frame.kind !== "mark"
      ? `${countText(n)} \u00d7 ` : "";
    const size = heapSize(half, spot);
    spot.name = Object.assign({}, frame, frame.second
      ? {second: `${times}${frame.second}  ${size}`}
      : {first: times + frame.first, second: size});
  }
  return spot.name;
}

/* The path of frames to a node of the tree. */
function heapZoom(p, node) {
  const frame = frameColumn(p, "line"), path = [];
  for (; node > 0; node = p.parent[node])
    path.push(frame[node]);
  return path.reverse();
}

/* A side on which a node is to be seen: the drawn one, if that has it. */
function heapSide(p, node) {
  const total = side => totalWidths(p, state.metric, side)[node];
  return !p.diff || total(state.side) > 0 ? state.side
    : total("now") > 0 ? "now" : "base";
}

/* Zoom to a node. */
function heapShow(node) {
  heapWanted = node;
  if (state.merge !== "line")
    go({merge: "line", zoom: [], focus: -1}, false);
  go({tab: "flame", up: false, focus: -1, half: 0, side: heapSide(profile, node),
    zoom: heapZoom(profile, node)}, true);
  byId("crumbs").scrollIntoView({block: "nearest"});
}

/* Show what keeps a shape, and what it keeps. */
function heapAround(shape) {
  const n = framesOf(profile, "function").list.findIndex(f => f.fn === shape);
  if (n < 0)
    return;
  if (state.merge !== "function")
    go({merge: "function", zoom: [], focus: -1}, false);
  focusOn(n);
}

/* -- Head -- */

/* The facts below the title. */
function heapFacts(p) {
  const h = p.doc.summary.heap;
  return ["Heap dump", `${countText(totalOf(p, "objects", "now"))} objects`,
    (h.full ? `the ${countText(p.n)} boxes that keep most are drawn`
      : `${countText(p.n)} boxes`) + `, none of less than ` +
      `${bytesText(h.least)}; (others) are the rest`, p.doc.generator];
}

/* Totals. */
function heapTiles(p, choose) {
  const h = p.doc.summary.heap, all = totalOf(p, "bytes", "now");
  const tile = {key: "bytes", count: "objects", title: "Objects",
    of: "objects"};
  const unknown = h.doubt === null ? []
    : [factTile("Unknown", bytesText(h.unknown), `${shareText(h.unknown, all)}, ` +
      `${countText(h.unknown_objects)} objects`, true)];
  return [tileEl(p, tile, state, choose), ...unknown,
    factTile("Garbage", bytesText(h.garbage), `${shareText(h.garbage, all)}, ` +
      `${countText(h.garbage_objects)} objects`,
    h.garbage > all / 2),
    factTile("Empty slots", bytesText(h.empty),
      `in ${countText(h.sparse)} tables`),
    factTile("The VM itself", h.vm === null ? "\u2013" : bytesText(h.vm),
      h.vm === null ? "the end of the dump is missing" : "not Lua objects",
      h.vm === null)];
}

/* A suspect: its sentence, in which its path stands out. */
function suspectEl(p, s) {
  const at = s.path ? s.text.indexOf(s.path) : -1;
  const bar = el("span", {class: "share"});
  const h = p.doc.summary.heap;
  const all = p.diff ? Math.abs(h.reached - h.base_reached) : h.reached;
  bar.style.width = 100 * Math.min(1, s.bytes / Math.max(1, all)) + "%";
  const parts = at < 0 ? [safeText(s.text)]
    : [safeText(s.text.slice(0, at)),
      el("strong", null, nameEl(safeText(s.path))),
      safeText(s.text.slice(at + s.path.length))];
  return el("li", null, s.box < 0 ? el("p", null, ...parts)
    : el("button", {type: "button", "data-box": s.box,
      title: "Show it in the graph", onclick: () => heapShow(s.box)}, bar,
    ...parts));
}

/* What is said without suspects; null if that says itself. */
function suspectsNone(p) {
  const h = p.doc.summary.heap;
  return !h.keeps && p.ladder
    ? "A dump is not whole: what objects keep in it is not known."
    : !h.keeps ? "Unknown: what is missing may refer to any object. Boxes show " +
      "what keeps what as far as it is there."
    : !p.diff ? "No object keeps more than 10% in one place."
      : p.ladder || h.reached > h.base_reached
        ? "No object whose path can be compared keeps much of it." : null;
}

/* What keeps much, or much more than before, in sentences. */
function showSuspects(p) {
  const box = byId("suspects"), list = p.doc.summary.suspects;
  const h = p.doc.summary.heap, none = suspectsNone(p);
  box.hidden = false;
  fill(box, el("h2", {id: "suspects-title"},
    p.ladder ? "What grows" : p.diff ? "What has changed" : "Leak suspects"),
    p.doc.summary.grown && el("p", {id: "grown"}, p.doc.summary.grown),
    list.length ? el("ol", null, ...list.map(s => suspectEl(p, s)))
      : none && el("p", null, none),
    ...(p.doc.summary.notes || []).map(s => el("p", {class: "note"},
      safeText(s))),
    h.doubt !== null && h.unknown > 0 && el("p", null, "It is unknown whether " +
      `${bytesText(h.unknown)} are garbage: ${h.doubt}.`),
    p.doc.summary.made.length > 0 && el("h2", null,
      p.doc.summary.fresh ? "Who made what is new"
        : "Who made what is kept"),
    ...p.doc.summary.made.map(s => el("p", null, safeText(s))));
}

/* -- Tips -- */

/* The tooltip of a spot. */
function heapTip(p, half, spot) {
  const up = half.tree.how.up && spot.up;
  const frame = spot.frame >= 0 ? heapName(half, spot) : null;
  const row = m => {
    const v = spotValue(half.tree, spot, m.key, "now");
    const all = totalOf(p, m.key, "now");
    const base = p.diff && spotValue(half.tree, spot, m.key, "base").total;
    const cells = p.diff ? [unitText(v.total, m.unit), unitText(base, m.unit),
      changeText(v.total - base, m.unit)]
      : [unitText(v.total, m.unit), shareText(v.total, all)];
    if (!up && !p.diff)
      cells.push(unitText(v.self, m.unit), shareText(v.self, all));
    return el("tr", {class: m.key === state.metric ? "current" : null},
      el("th", {scope: "row"}, m.title), ...cells.map(c => el("td", null, c)));
  };
  return el("div", null,
    el("h3", null, nameEl(shortText(frame ? frame.first : HEAP_WORDS.all,
      300))),
    frame && el("p", {class: "where"},
      (KINDS[frame.kind] || KINDS.special).title + " \u00b7 ",
      nameEl(shortText(frame.label, 500))),
    el("table", null, el("thead", null, el("tr", null, el("th"),
      ...(p.diff ? ["now", "before", "change"] : up ? ["of it", "%"]
        : ["keeps", "%", "itself", "%"])
        .map(t => el("th", {scope: "col"}, t)))),
    el("tbody", null, ...p.metrics.map(row))));
}

/* -- Tables -- */

/* The column that has bars, of each table. */
const HEAP_BARS = {shapes: "bytes", retained: "retained", types: "bytes",
  shared: "retained", sparse: "empty", threads: "retained", weak: "freed",
  keepers: "bytes", rss: "resident"};
const HEAP_CHANGES = {shapes: "bytes-change", retained: "retained-change",
  types: "bytes-change", rss: "resident-change", keepers: "bytes",
  growth: "growth", together: "growth", kinds: "growth", lines: "growth"};

/* What a row of a table leads to, or null. */
function heapRow(p, name, table, i) {
  const cells = table.rows[i];
  if (table.box && i < table.box.length && table.box[i] >= 0)
    return () => heapShow(table.box[i]);
  if (name !== "shapes" && name !== "kinds")
    return null;
  const shape = p.doc.functions.name.indexOf(cells[0]);
  return shape < 0 ? null : () => heapAround(shape);
}

/* The first cell of a row that leads somewhere. */
function heapLead(row) {
  const text = row.cells[0] === null ? "\u2013" : safeText(row.cells[0]);
  return row.lead ? el("button", {type: "button", "data-name": text,
    title: shortText(text, 400), onclick: e => {
      e.stopPropagation();
      row.lead();
    }}, nameEl(shortText(text, 160), {class: "first"}))
    : nameEl(text, {title: shortText(text, 400)});
}

/* Words of the page itself, and elements that only heap dumps have. */
function heapPage(p) {
  for (const e of document.querySelectorAll("[data-heap]"))
    e.textContent = e.dataset.heap;
  for (const e of document.querySelectorAll("[data-calls]"))
    e.remove();
  byId("query").setAttribute("aria-label", "Search names and shapes");
  byId("flame").setAttribute("aria-label",
    "Who keeps it: arrows move, Enter zooms");
  document.documentElement.dataset.of = "heap";
  showSuspects(p);
  showRss(p);
}
