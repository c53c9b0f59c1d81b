/* -- Heap dumps: the chosen box, how it is reached and what refers to it -- */

const WAY_FIRST = 6, WAY_LAST = 24; /* Steps of a way that are shown. */

/* The node of a spot that keeps most. */
function heapNode(half, spot) {
  const now = totalColumn(profile, "bytes", "now");
  const base = totalColumn(profile, "bytes", "base");
  const nodes = spotNodes(half.tree, spot);
  const total = nodes.some(i => now[i]) ? now : base;
  return nodes.reduce((a, b) => total[b] > total[a] ? b : a);
}

/* The numbers of the steps to a node, from the root on. */
function wayOf(p, node) {
  const way = [];
  for (let i = p.doc.tree.way[node]; i >= 0; i = p.doc.ways.from[i])
    way.push(i);
  return way.reverse();
}

/* One step. */
function wayEl(p, i) {
  const ways = p.doc.ways, frame = heapFrame(p.doc, ways.site[i], "line");
  const bar = el("span", {class: "share"});
  const all = Math.max(totalOf(p, "bytes", "now"), totalOf(p, "bytes", "base"));
  bar.style.width = 100 * ways.retained[i] / all + "%";
  return el("li", {title: frame.label}, bar,
    nameEl(frame.first, {class: "first"}), nameEl(frame.second,
      {class: "second"}),
    el("span", {class: "number"}, ways.retained[i]
      ? bytesText(ways.retained[i]) : ""));
}

/* All steps, those in the middle left out. */
function wayList(p, way) {
  const left = way.length - WAY_FIRST - WAY_LAST;
  const steps = way.map(i => i);
  if (left > 0)
    steps.splice(WAY_FIRST, left, -1);
  return el("ol", null, ...steps.map(i => i < 0
    ? el("li", {class: "left"}, `${countText(left)} more steps`)
    : wayEl(p, i)));
}

/* What is said while no box is chosen. */
function wayHelp(up) {
  return [el("h2", null, "How to read it"), el("p", null, profile.diff &&
    state.side === "change"
    ? "The width of a box is how much has changed in it and in what it " +
      "keeps: more and less are added up, but inside of one box only the " +
      "difference counts. A box is the same in both dumps if the same object " +
      "keeps it under the same name, or keeps objects of that shape in both; " +
      "it has the name and the shape of now, if it is there now."
    : up
    ? "Each box in the second row is memory of its own; below it is what " +
      "keeps that alive, step by step."
    : "The width of a box is what would be freed with it: itself and all " +
      "that only it keeps alive, which is drawn below it. Objects of one " +
      "shape that the same object keeps are one box."),
  !up && el("p", null, "A click zooms to a box, and shows the shortest path " +
    "on which the collector reaches it.")];
}

/* Who holds what is in a node, if several objects do. */
function holdersOf(p, node) {
  const n = p.doc.tree.shared[node];
  if (n < 0)
    return [];
  const s = p.doc.shared[n];
  return [el("h2", null, "Kept together"), el("p", {class: "holders"}, "By ",
    nameEl(safeText(s.holders)),
    `: without all of them ${bytesText(s.freed)} are free.`)];
}

/* What stands above a path to the first of so many objects. */
function wayHead(half, spot, own) {
  const value = side => spotValue(half.tree, spot, "bytes", side).total;
  const now = value("now"), base = value("base"), {diff} = profile;
  const [who, keep, be, all] = own > 1
    ? [`To the first of ${countText(own)} objects, which`, "keep", "are", " in all"]
    : ["It", "keeps", "is", ""];
  const then = !diff || now === base ? "" : !now ? `, and ${be} gone`
    : base ? `, before ${bytesText(base)}` : `, and ${be} new`;
  return `${who} ${diff && !now ? "kept" : keep} ${bytesText(now || base)}` +
    `${all}${then}:`;
}

/* -- Retainers -- */

/* The rows of what refers to a node. */
function retainersOf(p, node) {
  const box = p.doc.retainers.box, rows = [];
  for (let i = box.indexOf(node); i >= 0 && box[i] === node; i++)
    rows.push(i);
  return rows;
}

/* A row: how it refers, and what has the reference. */
function retainerEl(p, i) {
  const r = p.doc.retainers;
  if (r.from[i] < 0)
    return el("li", {class: "left"}, `${countText(r.references[i])} more`);
  const n = r.references[i], text = safeText(p.doc.sites.name[r.site[i]]);
  const step = safeText(p.doc.sites.step[r.site[i]]);
  const more = n > 1 ? " \u2026" : "";
  const parts = [nameEl(shortText(step, 60) + more, {class: "first"}),
    nameEl(shortText(text, 160), {class: "second"}),
    el("span", {class: "number"}, n > 1 ? `${countText(n)} \u00d7` : "")];
  const title = `${step}  ${text}`;
  return el("li", null, r.from[i] > 0
    ? el("button", {type: "button", title, onclick: () => heapShow(r.from[i])},
      ...parts) : el("span", {title}, ...parts));
}

/* All that refers to a node, itself and what it keeps aside. */
function retainersEl(p, node, own) {
  const rows = retainersOf(p, node);
  const head = el("h2", null, own > 1 ? "What refers to these objects"
    : "What refers to it");
  if (node >= p.doc.retainers.boxes)
    return [head, el("p", null, "There is no room for that in this page: " +
      "lj-parse-memprof --path=ADDRESS --all prints it.")];
  return rows.length ? [head, el("ul", {class: "retainers"},
    ...rows.map(i => retainerEl(p, i)))] : [];
}

/* The node that was asked for last: a spot may have several of equal names. */
let heapWanted = -1;

/* The path of the zoomed or picked box. */
function showWay() {
  const p = profile, box = byId("way");
  const half = flame.picked ? flame.pickedHalf
    : flame.halves[state.half] || flame.halves[0];
  const spot = flame.picked || half.zoom;
  box.hidden = state.tab !== "flame";
  if (!spot.up || half.tree.how.up || state.focus >= 0) {
    fill(box, ...wayHelp(half.tree.how.up));
    return;
  }
  const node = spotNodes(half.tree, spot).includes(heapWanted) ? heapWanted
    : heapNode(half, spot);
  const way = wayOf(p, node);
  const gone = p.diff && !totalColumn(p, "bytes", "now")[node];
  const own = p.doc.tree[gone ? "base" : "self"].objects[node];
  fill(box, ...holdersOf(p, node), el("h2", null, "Shortest path from a root"),
    el("p", null, way.length === 0 ? "No single object: there is no path."
      : wayHead(half, spot, own)),
    wayList(p, way), ...(way.length ? retainersEl(p, node, own) : []));
}
