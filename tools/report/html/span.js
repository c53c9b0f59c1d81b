/* -- A span of time: the profile of what happened in it -------------------- */

/* Columns of the document's steps, and what they count. */
const SPAN_COLUMNS = {
  memory: ["allocations", "bytes", "deallocations", "freed"],
  cpu: ["samples"]
};

/* Live figures, and what they change by: what comes and what goes. */
const SPAN_LIVE = {live: ["bytes", "freed"],
  "live-objects": ["allocations", "deallocations"]};

/* The steps of memory or CPU: the document's columns with the step and the node
** of each entry, or null.
*/
function spanSteps(p, kind) {
  const steps = p.doc.steps && p.doc.steps[kind];
  return steps ? once(p, "steps " + kind, () => {
    const n = steps.node.length, node = new Int32Array(n), at = [0];
    let k = 0;
    for (const count of steps.count) {
      for (let i = 0, last = 0; i < count; i++, k++)
        last = node[k] = last + steps.node[k];
      at.push(k);
    }
    return {node, at, width: steps.width_ns, n: steps.count.length, steps};
  }) : null;
}

/* Nodes without entries of their own are estimated: a site has one entry for
** all of them, of which each has the share that it has in the whole recording.
*/
function spanRest(p, kind) {
  return once(p, "rest " + kind, () => {
    const own = new Uint8Array(p.n), {node} = spanSteps(p, kind), of = new Map();
    for (let k = 0; k < node.length; k++)
      if (node[k] < p.n)
        own[node[k]] = 1;
    for (let i = 1; i < p.n; i++) {
      if (own[i])
        continue;
      if (!of.has(p.site[i]))
        of.set(p.site[i], []);
      of.get(p.site[i]).push(i);
    }
    return of;
  });
}

/* Distribute sums by site over nodes, as the metric of the whole recording. */
function spanSpread(p, kind, column, sums, metric) {
  const rest = spanRest(p, kind), whole = selfColumn(p, metric, "now");
  for (const [site, sum] of sums) {
    const nodes = rest.get(site) || [];
    let all = 0;
    for (const i of nodes)
      all += Math.max(0, whole[i]);
    for (const i of nodes)
      column[i] += all > 0 ? sum * Math.max(0, whole[i]) / all : 0;
    if (!(all > 0) && nodes.length)
      column[nodes[0]] += sum;
  }
}

/* Sums of one column over steps: by node, and by site for the rest. */
function spanSums(p, kind, key, from, to, part) {
  const {node, at, steps} = spanSteps(p, kind), value = steps[key];
  const own = new Float64Array(p.n), rest = new Map();
  for (let k = at[from]; k < at[to]; k++) {
    if (part >= 0 && steps.part[k] !== part)
      continue;
    if (node[k] < p.n)
      own[node[k]] += value[k];
    else
      rest.set(node[k] - p.n, (rest.get(node[k] - p.n) || 0) + value[k]);
  }
  return {own, rest};
}

/* What is live at the end of a step: what is live in the end, without what came
** after it, with what went.
*/
function spanLive(p, key, to) {
  const [plus, minus] = SPAN_LIVE[key], {n} = spanSteps(p, "memory");
  const end = selfColumn(p, key, "now"), sums = new Map();
  const more = spanSums(p, "memory", plus, to, n, -1);
  const less = spanSums(p, "memory", minus, to, n, -1);
  const column = end.map((x, i) => x - more.own[i] + less.own[i]);
  if (to >= n)
    return column;
  for (const [site, nodes] of spanRest(p, "memory")) {
    let sum = (less.rest.get(site) || 0) - (more.rest.get(site) || 0);
    for (const i of nodes) {
      sum += end[i];
      column[i] = 0;
    }
    if (sum)
      sums.set(site, sum);
  }
  spanSpread(p, "memory", column, sums, plus);
  return column;
}

/* The metrics of samples and the part that each counts, or -1 for all. */
function spanParts(p) {
  const steps = p.doc.steps.cpu, list = [["samples", -1]];
  for (const [i, key] of (steps.parts || []).entries())
    if (metricOf(p, key) && p.doc.summary.totals[key])
      list.push([key, i]);
  return list;
}

/* Self values of all metrics that a span has. */
function spanColumns(p, span) {
  const self = {};
  const steps = (kind, ns, round) => {
    const s = spanSteps(p, kind);
    return Math.max(0, Math.min(s.n, round(ns / s.width)));
  };
  for (const kind of ["memory", "cpu"]) {
    if (!spanSteps(p, kind))
      continue;
    const from = steps(kind, span.from, Math.floor);
    const to = steps(kind, span.to, Math.ceil);
    const keys = kind === "cpu" ? spanParts(p)
      : SPAN_COLUMNS.memory.map(key => [key, -1]);
    for (const [key, part] of keys) {
      const sums = spanSums(p, kind, kind === "cpu" ? "samples" : key, from, to,
        part);
      spanSpread(p, kind, sums.own, sums.rest, key);
      self[key] = sums.own;
    }
    for (const key of kind === "memory" ? Object.keys(SPAN_LIVE) : [])
      self[key] = spanLive(p, key, to);
  }
  return self;
}

/* The profile of a span: the same tree with other figures. */
function spanProfile(p, span) {
  const self = spanColumns(p, span), totals = {}, made = new Map();
  for (const key of Object.keys(self))
    totals[key] = {now: Math.round(self[key].reduce((a, b) => a + b, 0))};
  for (const [key, value] of p.made) /* What does not depend on figures. */
    if (/^(frames|column|outermost|focus) /.test(key))
      made.set(key, value);
  const doc = Object.assign({}, p.doc, {
    tree: Object.assign({}, p.doc.tree, {self}),
    summary: Object.assign({}, p.doc.summary, {totals})
  });
  return Object.assign({}, p, {doc, made, span,
    metrics: p.metrics.filter(m => self[m.key])});
}

/* -- Choosing it -- */

/* Nanoseconds of a step: of memory and CPU the longer one; 0 without steps. */
function spanGrid(p) {
  const steps = p.doc.steps || {};
  return Math.max(0, ...Object.values(steps).map(s => s.width_ns));
}

/* The end of the recording. The last steps may be without entries. */
function spanEnd(p) {
  const steps = Object.values(p.doc.steps || {});
  return Math.max(p.doc.tables.time ? timeEnd(p, {key: "time"}) : 0,
    ...steps.map(s => s.width_ns * s.count.length));
}

/* A span between two times in whole steps, at least one, or null for all. */
function spanOf(p, a, b) {
  const grid = spanGrid(p), end = spanEnd(p);
  const last = Math.max(0, Math.ceil(end / grid) - 1);
  const within = x => Math.max(0, Math.min(last, x));
  const from = within(Math.floor(Math.min(a, b) / grid + 1e-9));
  const to = within(Math.ceil(Math.max(a, b) / grid - 1e-9) - 1);
  return from === 0 && to >= last ? null
    : {from: from * grid, to: (Math.max(from, to) + 1) * grid};
}

/* A span as the address has it, in milliseconds. */
function spanText(span) {
  return span ? `${span.from / 1e6}-${span.to / 1e6}` : "";
}

/* The span of such a text, or null. */
function spanParse(p, text) {
  const m = /^(\d{1,12}(?:\.\d{1,6})?)-(\d{1,12}(?:\.\d{1,6})?)$/.exec(text);
  return m && spanGrid(p) ? spanOf(p, m[1] * 1e6, m[2] * 1e6) : null;
}

/* The part of a picture that a span takes. */
function spanShade(row, span, size) {
  const x = row.drawn.at.x(span.from);
  const w = Math.min(size.width - TIME_RIGHT, row.drawn.at.x(span.to)) - x;
  row.shade.setAttribute("x", x);
  row.shade.setAttribute("width", Math.max(1, w));
  row.shade.removeAttribute("visibility");
}

/* Drag over the pictures to choose a span; a click forgets it. `choose` is
** called with a span or null.
*/
function spanDrag(p, rows, size, choose) {
  const time = (row, e) => {
    const x = e.clientX - row.picture.getBoundingClientRect().left;
    const wide = size.width - TIME_LEFT - TIME_RIGHT;
    return size.end * Math.max(0, Math.min(1, (x - TIME_LEFT) / wide));
  };
  for (const row of rows) {
    let from = null, x = 0;
    const dragged = e => Math.abs(e.clientX - x) > 3;
    row.picture.addEventListener("pointerdown", e => {
      if (e.button !== 0)
        return;
      from = time(row, e);
      x = e.clientX;
      row.picture.setPointerCapture(e.pointerId);
    });
    row.picture.addEventListener("pointermove", e => {
      if (from === null || !dragged(e))
        return;
      const span = spanOf(p, from, time(row, e)) ||
        {from: 0, to: spanEnd(p)};
      for (const r of rows)
        spanShade(r, span, size);
    });
    row.picture.addEventListener("pointerup", e => {
      if (from !== null)
        choose(dragged(e) ? spanOf(p, from, time(row, e)) : null);
      from = null;
    });
    row.picture.addEventListener("pointercancel", () => from = null);
  }
}

/* Arrows move the span; with Shift they move its end. Returns the new one, or
** undefined for other keys.
*/
function spanKey(p, span, e) {
  const grid = spanGrid(p), end = spanEnd(p);
  const by = {ArrowLeft: -grid, ArrowRight: grid}[e.key];
  if (!by)
    return undefined;
  if (!span) {
    const tenth = Math.max(grid, Math.round(end / grid / 10) * grid);
    return by > 0 ? spanOf(p, 0, tenth) : spanOf(p, end - tenth, end);
  }
  const to = Math.min(end, span.to + by), from = span.from + by;
  if (e.shiftKey)
    return spanOf(p, span.from, Math.max(span.from + grid, to));
  return from < 0 || span.to + by > Math.ceil(end / grid) * grid ? span
    : spanOf(p, from, span.to + by);
}
