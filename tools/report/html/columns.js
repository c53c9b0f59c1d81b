/* -- Above a table: which columns it has, and its rows as CSV -------------- */

/* The state has the columns whose switch is not as at first: "rows.peak". */
function columnFlips(state) {
  return new Set(state.columns ? state.columns.split("~") : []);
}

/* Columns that are shown. Those of `rare` are not at first; the first column,
** and what sorts, always are.
*/
function columnsShown(state, view, columns, rare, sort) {
  const flips = columnFlips(state);
  return columns.filter((c, i) => i === 0 || c.key === sort ||
    rare.has(c.key) === flips.has(view + "." + c.key));
}

/* The state's text with one switch turned over. */
function columnsFlip(state, view, key) {
  const flips = columnFlips(state), name = view + "." + key;
  if (!flips.delete(name))
    flips.add(name);
  return Array.from(flips).join("~");
}

/* -- CSV, as --format=csv has it -- */

/* Could a spreadsheet interpret a text as a formula? */
function csvFormula(s) {
  return /^[=+\-'\t\r]/.test(s) ||
    /^@/.test(s) && !/^@[A-Za-z0-9_\-./:, ()[\]<>~?]*$/.test(s);
}

/* A field: a number, a text, or nothing for what is not known. */
function csvField(x) {
  if (x === null || x === undefined)
    return "";
  if (typeof x === "number")
    return String(Number.isInteger(x) ? x : Number(x.toPrecision(6)));
  const s = (csvFormula(x) ? "'" : "") + x;
  return s && !/[,"\r\n]/.test(s) ? s : `"${s.replace(/"/g, '""')}"`;
}

/* A table as CSV: the rows of `grid` in their order, with the columns that are
** shown. `name` gives the first field of a row.
*/
function csvText(grid, name) {
  const {columns} = grid.how;
  const lines = [columns.map(c => c.key).join(",")];
  for (const row of grid.order)
    lines.push(columns.map((c, k) => csvField(k === 0 ? name(row)
      : row.cells[k])).join(","));
  return lines.join("\n") + "\n";
}

/* Save a text as a file. */
function saveText(name, text) {
  const url = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
  const a = el("a", {href: url, download: name});
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* -- What stands above -- */

/* A switch of a column. */
function columnSwitch(c, on, flip) {
  const box = el("input", {type: "checkbox", checked: on, "data-name":
    "column " + c.key, onchange: () => flip(c.key)});
  return el("li", null, el("label", null, box, columnTitle(c)));
}

/* The bar above the table of a view: `all` are its columns, `shown` those that
** it has; `box` is where the table is; `name` gives the first field of a row.
*/
function columnBar(view, all, shown, box, name) {
  const was = byId("columns-" + view);
  const list = el("ul", null, ...all.slice(1).map(c =>
    columnSwitch(c, shown.includes(c),
      key => go({columns: columnsFlip(state, view, key)}, false))));
  return el("div", {class: "above"},
    state.span && view !== "rows" && el("span", {class: "said"},
      "Of the whole recording, not of the span"),
    el("details", {class: "columns", id: "columns-" + view,
      open: Boolean(was && was.open)},
    el("summary", {class: "action"}, "Columns"), list),
    el("button", {type: "button", class: "action", id: "csv-" + view,
      title: "Save these rows and columns as CSV",
      onclick: () => saveText(`${view}.csv`, csvText(box.grid, name))}, "CSV"));
}
