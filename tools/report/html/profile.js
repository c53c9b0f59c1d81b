/* -- The profile: the document with its indexes ---------------------------- */

/* A column of the document: numbers, or where they are not 0. */
function denseColumn(column, n) {
  if (Array.isArray(column))
    return Float64Array.from(column);
  const dense = new Float64Array(n);
  for (let k = 0, i = 0; k < column.at.length; k++)
    dense[i += column.at[k]] = column.value[k];
  return dense;
}

/* Columns of the call tree by node; a parent's number is smaller than its
** child's, so that a pass from the end adds up totals.
*/
function openProfile(doc) {
  const heap = doc.of.includes("heap");
  if (heap)
    openHeap(doc);
  const n = doc.tree.parent.length;
  const p = {
    doc, n, heap,
    parent: Int32Array.from(doc.tree.parent),
    site: Int32Array.from(doc.tree.site),
    first: new Int32Array(n).fill(-1),
    next: new Int32Array(n).fill(-1),
    metrics: doc.metrics,
    diff: Boolean(doc.base),
    ladder: heap && Boolean(doc.tables.growth),
    flat: !heap && n > 1 && doc.tree.parent.every(x => x === 0),
    made: new Map()
  };
  for (let i = n - 1; i > 0; i--) {
    p.next[i] = p.first[p.parent[i]];
    p.first[p.parent[i]] = i;
  }
  return p;
}

/* The same profile with native functions, if samples are charged to Lua lines;
** else the profile itself.
*/
function nativeProfile(p) {
  const doc = p.doc, other = doc.native;
  return !other ? p : once(p, "native", () => openProfile(Object.assign({}, doc,
    other, {
      native: null,
      summary: Object.assign({}, doc.summary, {totals: other.totals})
    })));
}

/* A value that is computed once, by its name. */
function once(p, name, make) {
  if (!p.made.has(name))
    p.made.set(name, make());
  return p.made.get(name);
}

/* The metric of that key. */
function metricOf(p, key) {
  return p.metrics.find(m => m.key === key);
}

/* The total of a metric. */
function totalOf(p, metric, side) {
  const t = p.doc.summary.totals[metric] || {};
  return t[side] || 0;
}

/* -- Columns -- */

/* A metric's self value of each node; side is "now" or "base". */
function selfColumn(p, metric, side) {
  return once(p, `self ${metric} ${side}`, () => {
    const from = side === "base" ? p.doc.tree.base : p.doc.tree.self;
    const column = from && from[metric];
    return !column ? new Float64Array(p.n)
      : column instanceof Float64Array ? column : denseColumn(column, p.n);
  });
}

/* Add each node to its parent. */
function addUp(p, column) {
  for (let i = p.n - 1; i > 0; i--)
    column[p.parent[i]] += column[i];
  return column;
}

/* A metric's total of each node. */
function totalColumn(p, metric, side) {
  return once(p, `total ${metric} ${side}`,
    () => addUp(p, selfColumn(p, metric, side).slice()));
}

/* The width of each node's self value, at least 0. Side may also be "change":
** the size of the difference.
*/
function selfWidths(p, metric, side) {
  return once(p, `self width ${metric} ${side}`, () => {
    const of = side === "base" ? side : "now";
    const column = selfColumn(p, metric, of).slice();
    const base = side === "change" && selfColumn(p, metric, "base");
    for (let i = 0; i < p.n; i++)
      column[i] = base ? Math.abs(column[i] - base[i]) : Math.max(0, column[i]);
    return column;
  });
}

/* The same for totals. */
function totalWidths(p, metric, side) {
  return once(p, `total width ${metric} ${side}`,
    () => addUp(p, selfWidths(p, metric, side).slice()));
}

/* -- Frames: functions, or lines of them -- */

/* What determines the colour of a frame: its file or module. */
function frameFile(doc, f) {
  return doc.functions.file[f] || doc.functions.module[f] || "";
}

/* The names of a frame: the short name, its place in the source, and the label
** of reports.
*/
function makeFrame(doc, f, line, label) {
  const fn = doc.functions, kind = fn.kind[f];
  const name = fn.name[f], file = fn.file[f];
  const at = line === null ? fn.line[f] : line;
  let first = name || label, second = "";
  if (kind === "lua" && file !== null) {
    const base = baseName(file);
    second = base + (at === null ? "" : ":" + at);
    if (!name && fn.line[f] === 0)
      first = "main chunk";
    else if (!name) {
      first = base + ":" + fn.line[f];
      second = line === null ? "" : "line " + line;
    }
  } else if (name && fn.module[f]) {
    second = baseName(fn.module[f]);
  } else if (kind === "kernel") {
    second = "kernel";
  }
  return {
    kind, fn: f,
    file: frameFile(doc, f),
    first: safeText(first), second: safeText(second), label: safeText(label),
    text: [name, label, file, fn.module[f]].filter(Boolean).join("\n")
  };
}

/* All frames, by number, and the frame of each site. */
function framesOf(p, merge) {
  return once(p, `frames ${merge}`, () => {
    const doc = p.doc, sites = doc.sites;
    const of = new Int32Array(sites.function.length), list = [];
    const known = new Map();
    for (let s = 0; s < of.length; s++) {
      const f = sites.function[s];
      const key = merge === "function" ? f : p.heap ? s
        : f + ":" + sites.line[s];
      let frame = known.get(key);
      if (frame === undefined) {
        frame = list.length;
        known.set(key, frame);
        list.push(p.heap ? heapFrame(doc, s, merge) : merge === "function"
          ? makeFrame(doc, f, null, doc.functions.label[f])
          : makeFrame(doc, f, sites.line[s], sites.label[s]));
        list[frame].approximate = !p.heap && Boolean(sites.approximate[s]);
      } else if (!p.heap && merge === "line" && list[frame].approximate &&
                 !sites.approximate[s]) {
        list[frame].label = safeText(sites.label[s]);
        list[frame].approximate = false;
      }
      of[s] = frame;
    }
    return {list, of};
  });
}

/* The frame of each node; -1 for the root. */
function frameColumn(p, merge) {
  return once(p, `column ${merge}`, () => {
    const of = framesOf(p, merge).of, column = new Int32Array(p.n);
    for (let i = 0; i < p.n; i++)
      column[i] = p.site[i] < 0 ? -1 : of[p.site[i]];
    return column;
  });
}

/* Is each node the outermost one of its frame? The totals of these count every
** stack once.
*/
function outermost(p, merge) {
  return once(p, `outermost ${merge}`, () => {
    const frame = frameColumn(p, merge), outer = new Uint8Array(p.n);
    const open = new Int32Array(framesOf(p, merge).list.length);
    let i = p.first[0];
    while (i > 0) {
      outer[i] = open[frame[i]]++ === 0 ? 1 : 0;
      if (p.first[i] >= 0) {
        i = p.first[i];
        continue;
      }
      while (i > 0) {
        open[frame[i]]--;
        if (p.next[i] >= 0)
          break;
        i = p.parent[i];
      }
      i = i > 0 ? p.next[i] : 0;
    }
    return outer;
  });
}

/* A metric of each frame, self or total. */
function frameSums(p, merge, metric, side, total) {
  return once(p, `sums ${merge} ${metric} ${side} ${total}`, () => {
    const frame = frameColumn(p, merge);
    const sums = new Float64Array(framesOf(p, merge).list.length);
    const column = total ? totalColumn(p, metric, side)
      : selfColumn(p, metric, side);
    const outer = total ? outermost(p, merge) : null;
    for (let i = 1; i < p.n; i++)
      if (frame[i] >= 0 && (!outer || outer[i]))
        sums[frame[i]] += column[i];
    return sums;
  });
}

/* -- Search -- */

/* A matcher for the search text; has an error if it is no valid expression. */
function makeMatcher(text, regex) {
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  try {
    const re = new RegExp(regex ? text : escaped, "i");
    return {test: s => re.test(s), error: null};
  } catch (e) {
    return {test: () => false, error: "Not a regular expression"};
  }
}

/* Which frames match, and how many those are. */
function matchFrames(p, merge, matcher) {
  const list = framesOf(p, merge).list, hit = new Uint8Array(list.length);
  let n = 0;
  for (let i = 0; i < list.length; i++)
    n += hit[i] = matcher.test(list[i].text) || matcher.test(list[i].label)
      ? 1 : 0;
  return {hit, n};
}

/* A metric of all stacks with a frame that matches. */
function matchSum(p, merge, hit, metric, side) {
  const frame = frameColumn(p, merge), column = selfColumn(p, metric, side);
  const inside = new Uint8Array(p.n);
  let sum = 0;
  for (let i = 1; i < p.n; i++) {
    inside[i] = inside[p.parent[i]] || (frame[i] >= 0 && hit[frame[i]]);
    if (inside[i])
      sum += column[i];
  }
  return sum;
}
