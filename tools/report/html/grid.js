/* -- Sortable tables, which hold only the rows that are in view ------------ */

const GRID_ROW = 27; /* Pixels of a row, as the style sheet has them. */

/* A table in a box that scrolls. `how` has
**   columns: {key, title, unit, hint, signed},
**   rows: {cells, ...}, with a cell for each column,
**   sort: {key, down}, `onsort`, and maybe
**   lead: what stands in the first cell of a row,
**   bar: the key of the column that has bars, and `onpick` for a row.
*/
function showGrid(box, how) {
  const grid = {box, how, order: [], from: -1, to: -1};
  const table = el("table", {class: "grid",
    "aria-rowcount": how.rows.length + 1});
  grid.body = el("tbody");
  table.append(gridHead(grid), grid.body);
  grid.bar = how.columns.findIndex(c => c.key === how.bar);
  grid.most = grid.bar < 0 ? 0
    : how.rows.reduce((n, r) => Math.max(n, Math.abs(r.cells[grid.bar])), 0);
  gridSort(grid);
  refill(box, table);
  box.grid = grid;
  box.onscroll = () => gridFill(grid, false);
  gridFill(grid, false);
}

/* A title; those of tables of text may be in capitals. */
function columnTitle(c) {
  return c.title === c.title.toUpperCase() ? c.title.toLowerCase() : c.title;
}

/* The row of titles; each sorts. */
function gridHead(grid) {
  const how = grid.how;
  return el("thead", null, el("tr", null, ...how.columns.map(c => {
    const sorted = how.sort.key === c.key;
    return el("th", {
      scope: "col", class: c.unit === "text" ? null : "number",
      "aria-sort": !sorted ? null : how.sort.down ? "descending" : "ascending"
    }, el("button", {
      type: "button", "data-name": c.key, title: c.hint,
      onclick: () => how.onsort({
        key: c.key, down: sorted ? !how.sort.down : c.unit !== "text"
      })
    }, columnTitle(c), el("span", {class: "order", "aria-hidden": "true"},
      sorted ? (how.sort.down ? "\u25be" : "\u25b4") : "")));
  })));
}

/* Sort the rows. Unknown values come last. */
function gridSort(grid) {
  const how = grid.how;
  const c = Math.max(0, how.columns.findIndex(x => x.key === how.sort.key));
  const sign = how.sort.down ? -1 : 1;
  grid.order = how.rows.slice().sort((a, b) => {
    const x = a.cells[c], y = b.cells[c];
    if (x === null || y === null)
      return x === y ? 0 : x === null ? 1 : -1;
    if (x === y)
      return 0;
    return sign * (typeof x === "string"
      ? (x.toLowerCase() < y.toLowerCase() ? -1 : 1) : x < y ? -1 : 1);
  });
}

/* A cell with a number or a text. */
function gridCell(grid, row, k) {
  const how = grid.how, column = how.columns[k], value = row.cells[k];
  if (k === 0 && how.lead)
    return el("td", {class: "lead"}, how.lead(row));
  const td = el("td", {
    class: column.unit === "text" ? null : "number",
    title: value === null || column.unit === "text" ? null
      : exactText(value, column.unit)
  }, column.unit === "text" && value !== null
    ? nameEl(safeText(value), {title: safeText(value)})
    : column.signed && value !== null ? changeText(value, column.unit)
      : unitText(value, column.unit));
  if (value === 0)
    td.classList.add("zero");
  if (k === grid.bar && grid.most > 0 && value) {
    const bar = el("span", {class: "share"});
    bar.style.width = 100 * Math.abs(value) / grid.most + "%";
    td.classList.add("barred");
    td.append(bar);
  }
  return td;
}

/* A spacer in place of rows that are out of view. */
function gridRoom(rows, columns) {
  const tr = el("tr", {class: "room", "aria-hidden": "true"},
    el("td", {colspan: columns}));
  tr.firstChild.style.height = rows * GRID_ROW + "px";
  return tr;
}

/* Make the rows in view, or for printing the first 100. */
function gridFill(grid, paper) {
  const how = grid.how, n = grid.order.length, box = grid.box;
  const from = paper ? 0
    : Math.max(0, Math.floor(box.scrollTop / GRID_ROW) - 8);
  const to = Math.min(n, paper ? 100
    : from + Math.ceil((box.clientHeight || 400) / GRID_ROW) + 24);
  if (from === grid.from && to === grid.to)
    return;
  grid.from = from;
  grid.to = to;
  const rows = grid.order.slice(from, to).map((row, i) => el("tr", {
    "aria-rowindex": from + i + 2,
    class: how.onpick ? "pick" : null,
    onclick: how.onpick ? () => how.onpick(row) : null
  }, ...how.columns.map((c, k) => gridCell(grid, row, k))));
  if (!n)
    rows.push(el("tr", null, el("td", {colspan: how.columns.length,
      class: "none"}, "Nothing matches.")));
  refill(grid.body, from > 0 && gridRoom(from, how.columns.length), ...rows,
    !paper && to < n && gridRoom(n - to, how.columns.length));
}
