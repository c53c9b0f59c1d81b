/* -- Tables of the document: types, sizes, threads ------------------------- */

const TABLE_TITLES = {growth: "Growth", together: "Kept together", shapes: "Shapes", retained: "Largest", shared: "Shared",
  types: "Types", sparse: "Empty slots", sizes: "Sizes", threads: "Threads",
  weak: "Weak", keepers: "Who made it", kinds: "Shapes by dump",
  lines: "Lines by dump", rss: "Process"};

/* The names of tables that have a view of their own. */
function tableNames(p) {
  return Object.keys(TABLE_TITLES).filter(name => {
    const t = p.doc.tables && p.doc.tables[name];
    return t && t.rows.length > 0;
  });
}

/* The names of all views. */
function viewNames(p) {
  return (p.heap ? ["flame", "map"] : sourceFiles(p).length
    ? ["flame", "rows", "source"] : ["flame", "rows"]).concat(tableNames(p));
}

/* The column with bars: the drawn metric, or the first of the usual ones. */
function tableBar(table, metric) {
  const own = table.columns.find(c => c.key === metric);
  const some = own || table.columns.find(c => c.key === "bytes" ||
    c.key === "samples" || c.key === "allocations");
  return some ? some.key : "";
}

/* Is the row the sum of the others? */
function tableSums(table, row) {
  return row[0] === "total" && table.columns[0].unit === "text";
}

/* A table's rows that match the search, without the sums. */
function tableRows(table, matcher) {
  return table.rows.map((cells, i) => ({cells, i}))
    .filter(row => !tableSums(table, row.cells) && (!matcher ||
      table.columns.some((c, k) => c.unit === "text" &&
        row.cells[k] !== null && matcher.test(row.cells[k]))));
}

/* The range of a bucket of sizes. */
function sizeText(from, to) {
  return from === to || to === null ? bytesText(from)
    : bytesText(from) + " \u2013 " + bytesText(to);
}

/* The label of a bucket: its first size. Of many buckets, only powers of two
** have one.
*/
function sizeTick(from, buckets) {
  const power = Math.log2(from) % 1 === 0;
  return buckets <= 24 || power ? tickText(from) : "\u00a0";
}

/* A histogram of sizes, with what its axes are. */
function sizeChart(table, bar) {
  const find = key => table.columns.findIndex(c => c.key === key);
  const from = find("from"), to = find("to"), k = find(bar);
  if (from < 0 || to < 0 || k < 0)
    return null;
  const c = table.columns[k], rows = table.rows.filter(r => r[from] !== null);
  const step = niceStep(Math.max(1, ...rows.map(r => r[k])), 4,
    c.unit === "bytes");
  const most = step * Math.ceil(Math.max(1, ...rows.map(r => r[k])) / step);
  const lines = [];
  for (let v = 0; v <= most; v += step) {
    const line = el("div", {class: "level"}, el("span", {class: "tick"},
      c.unit === "bytes" ? tickText(v) : countText(v)));
    line.style.bottom = 100 * v / most + "%";
    lines.push(line);
  }
  const title = columnTitle(c);
  return el("figure", {class: "sizes"},
    el("figcaption", {class: "said"}, title[0].toUpperCase() + title.slice(1) +
      " by size of the object"),
    el("div", {class: "histogram", role: "img",
      "aria-label": `${c.title} by size`, tabindex: "0"},
    el("div", {class: "levels"}, ...lines),
    ...rows.map(r => sizeBucket(r, [from, to, k], c.unit, most, rows.length))),
    el("p", {class: "tick"}, "size of an object, from"));
}

/* One of its columns. */
function sizeBucket(r, [from, to, k], unit, most, buckets) {
  const column = el("div", {class: "column"});
  column.style.height = Math.max(0, 100 * r[k] / most) + "%";
  return el("div", {class: "bucket", title: sizeText(r[from], r[to]) + ": " +
    exactText(r[k], unit)}, el("div", {class: "room"}, column),
  el("span", {class: "tick"}, sizeTick(r[from], buckets)));
}

/* Columns of which no value is known. */
function tableUnknown(table) {
  return new Set(table.columns.filter((c, k) =>
    table.rows.every(row => row[k] === null)).map(c => c.key));
}

/* The view of a table. */
function showTable(p, name, state, matcher, onsort) {
  const table = p.doc.tables[name], panel = byId("panel-" + name);
  const bar = p.heap ? (p.diff ? HEAP_CHANGES : HEAP_BARS)[name] : tableBar(table, state.metric);
  const first = name === "sizes" ? {key: "from", down: false}
    : {key: bar, down: true};
  const sort = table.columns.some(c => c.key === state.sort.key) ? state.sort
    : first;
  const chart = name === "sizes" ? sizeChart(table, bar) : null;
  const box = el("div", {class: "scroll", tabindex: "0",
    "aria-label": TABLE_TITLES[name]});
  const all = table.columns.map((c, k) =>
    Object.assign({}, c, {signed: /(^|-)change$|^growth$/.test(c.key), k,
      unit: /^[pt]id$/.test(c.key) ? "id" : c.unit}));
  const columns = columnsShown(state, name, all, tableUnknown(table), sort.key);
  refill(panel, chart, columnBar(name, all, columns, box, row => row.cells[0]),
    box);
  const rows = tableRows(table, matcher).map(row => Object.assign(row,
    {cells: columns.map(c => row.cells[c.k])}));
  const how = {columns, rows, sort, bar,
    onsort};
  if (p.heap) {
    for (const row of rows)
      row.lead = heapRow(p, name, table, row.i);
    how.lead = heapLead;
    how.onpick = rows.some(row => row.lead) && (row => row.lead && row.lead());
  }
  showGrid(box, how);
}
