/* -- Tables of the document: types, sizes, threads ------------------------- */

const TABLE_TITLES = {shapes: "Shapes", retained: "Largest", types: "Types",
  sparse: "Empty slots", sizes: "Sizes", threads: "Threads",
  keepers: "Who made it"};

/* The names of tables that have a view of their own. */
function tableNames(p) {
  return Object.keys(TABLE_TITLES).filter(name => {
    const t = p.doc.tables && p.doc.tables[name];
    return t && t.rows.length > 0;
  });
}

/* The names of all views. */
function viewNames(p) {
  return (p.heap ? ["flame"] : ["flame", "rows"]).concat(tableNames(p));
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

/* A histogram of sizes. */
function sizeChart(table, bar) {
  const find = key => table.columns.findIndex(c => c.key === key);
  const from = find("from"), to = find("to"), k = find(bar);
  if (from < 0 || to < 0 || k < 0)
    return null;
  const rows = table.rows.filter(r => r[from] !== null);
  const most = Math.max(1, ...rows.map(r => r[k]));
  return el("div", {class: "histogram", role: "img",
    "aria-label": `${table.columns[k].title} by size`},
  ...rows.map(r => {
    const column = el("div", {class: "column"});
    column.style.height = Math.max(0, 100 * r[k] / most) + "%";
    return el("div", {class: "bucket", title: sizeText(r[from], r[to]) + ": " +
      exactText(r[k], table.columns[k].unit)},
    el("div", {class: "room"}, column),
    el("span", {class: "tick"}, sizeTick(r[from], rows.length)));
  }));
}

/* The view of a table. */
function showTable(p, name, state, matcher, onsort) {
  const table = p.doc.tables[name], panel = byId("panel-" + name);
  const bar = p.heap ? HEAP_BARS[name] : tableBar(table, state.metric);
  const first = name === "sizes" ? {key: "from", down: false}
    : {key: bar, down: true};
  const sort = table.columns.some(c => c.key === state.sort.key) ? state.sort
    : first;
  const chart = name === "sizes" ? sizeChart(table, bar) : null;
  const box = el("div", {class: "scroll", tabindex: "0",
    "aria-label": TABLE_TITLES[name]});
  fill(panel, chart, box);
  const columns = table.columns.map(c =>
    Object.assign({}, c, {signed: /(^|-)change$/.test(c.key),
      unit: /^[pt]id$/.test(c.key) ? "id" : c.unit}));
  const rows = tableRows(table, matcher), how = {columns, rows, sort, bar,
    onsort};
  if (p.heap) {
    for (const row of rows)
      row.lead = heapRow(p, name, table, row.i);
    how.lead = heapLead;
    how.onpick = rows.some(row => row.lead) && (row => row.lead && row.lead());
  }
  showGrid(box, how);
}
