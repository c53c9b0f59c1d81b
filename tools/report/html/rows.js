/* -- The table of functions or lines --------------------------------------- */

/* Columns: self and total of the drawn metric, then the other metrics. */
function rowColumns(p, merge, metric) {
  const m = metricOf(p, metric) || {title: "", unit: "count"};
  const columns = [{
    key: "name", title: merge === "function" ? "Function" : "Line", unit: "text"
  }];
  const sides = p.diff ? [["", ", now"], [":base", ", before"]] : [["", ""]];
  for (const [part, title] of [["self", "Self"], ["total", "Total"]]) {
    for (const [side, of] of sides)
      columns.push({key: part + side, title: title + of, unit: m.unit,
        hint: part === "self" ? `${m.title}, in itself`
          : `${m.title}, with all that it called`});
    if (p.diff)
      columns.push({key: part + ":change", title: "Change", unit: m.unit,
        signed: true});
    else
      columns.push({key: part + ":share", title: "%", unit: "percent"});
  }
  for (const other of p.metrics)
    if (other.key !== metric)
      columns.push({key: other.key, title: other.title, unit: other.unit,
        hint: `${other.title}, in itself`});
  return columns;
}

/* A function that returns a column's number for a frame. */
function rowColumn(p, merge, metric, key) {
  const [part, of] = key.split(":");
  if (part !== "self" && part !== "total") {
    const sums = frameSums(p, merge, key, "now", false);
    return i => sums[i];
  }
  const now = frameSums(p, merge, metric, "now", part === "total");
  if (of === "share") {
    const all = totalOf(p, metric, "now");
    return i => all > 0 ? 100 * now[i] / all : null;
  }
  if (!of)
    return i => now[i];
  const base = frameSums(p, merge, metric, "base", part === "total");
  return of === "base" ? i => base[i] : i => now[i] - base[i];
}

/* Frames that match the search and are not 0 in all columns. */
function rowList(p, merge, metric, columns, hit) {
  const frames = framesOf(p, merge).list, rows = [];
  const tell = columns.slice(1).map(c => rowColumn(p, merge, metric, c.key));
  for (let i = 0; i < frames.length; i++) {
    if (hit && !hit[i])
      continue;
    const cells = [frames[i].first + " " + frames[i].second];
    let any = false;
    for (const column of tell) {
      const x = column(i);
      any = any || Boolean(x);
      cells.push(x);
    }
    if (any)
      rows.push({cells, frame: i});
  }
  return rows;
}

/* The name of a frame, with its colour. */
function rowLead(frame, pick) {
  const dot = el("span", {class: "dot"});
  dot.style.backgroundColor = frameColours(frame, flame.dark).over;
  return el("button", {type: "button", "data-name": frame.label,
    title: shortText(frame.label, 400), onclick: e => {
      e.stopPropagation();
      pick();
    }}, dot, nameEl(shortText(frame.first, 120), {class: "first"}), " ",
  nameEl(shortText(frame.second, 80), {class: "second"}));
}

/* Which column has bars: the one that sorts, if it can have any. */
function rowBar(columns, key) {
  const c = columns.find(x => x.key === key);
  return c.unit === "text" || c.unit === "percent"
    ? key === "total:share" ? "total" : "self" : key;
}

/* Metrics that are not shown at first: of most rows they say little. */
const ROWS_RARE = ["reallocations", "deallocations", "freed", "live-objects",
  "peak-objects", "leaked-objects", "leaked", "temporary-objects", "unnamed"];

/* The same; in a narrow window it is all but the drawn one. */
function rowsRare(p) {
  return new Set(window.innerWidth > 720 ? ROWS_RARE
    : p.metrics.map(m => m.key));
}

/* The whole table. */
function showRows(p, state, hit, onsort, onpick) {
  const all = rowColumns(p, state.merge, state.metric), box = byId("rows");
  const frames = framesOf(p, state.merge).list;
  const sort = all.some(c => c.key === state.sort.key) ? state.sort
    : {key: p.diff ? "self:change" : "self", down: true};
  const columns = columnsShown(state, "rows", all, rowsRare(p), sort.key);
  box.previousElementSibling.replaceWith(columnBar("rows", all, columns, box,
    row => frames[row.frame].label));
  showGrid(box, {
    columns, rows: rowList(p, state.merge, state.metric, columns, hit),
    sort, bar: rowBar(columns, sort.key),
    lead: row => rowLead(frames[row.frame], () => onpick(row)),
    onsort, onpick
  });
}
