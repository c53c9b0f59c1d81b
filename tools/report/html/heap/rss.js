/* -- The memory of a process, of which Lua's heap is a part ----------------- */

/* Its parts, by their names in the table. */
const RSS_PARTS = {
  "Lua: in use": "used", "Lua: unknown": "unknown", "Lua: garbage": "garbage",
  "Lua's allocator: free, and heads of blocks": "free", "machine code": "code",
  "C and others": "other"
};

/* A part of the bar. */
function rssPart(part, text, share) {
  const e = el("span", {"data-part": part, title: text});
  e.style.flexGrow = share;
  return e;
}

/* One bar for what is resident, and its legend. */
function showRss(p) {
  const t = p.doc.tables.rss, box = byId("rss");
  box.hidden = !t || t.rows.length < 2;
  if (box.hidden)
    return;
  const at = key => t.columns.findIndex(c => c.key === key);
  const name = at("name"), there = at("resident"), absent = at("not-resident");
  const all = t.rows[t.rows.length - 1][there];
  const parts = t.rows.slice(0, -1).map(r => ({part: RSS_PARTS[r[name]],
    bytes: r[there], text: `${safeText(r[name])} ${bytesText(r[there])}` +
      (r[absent] ? `, not resident ${bytesText(r[absent])}` : "")}));
  const title = `RSS ${bytesText(all)}`;
  fill(box, el("figcaption", null, el("h2", null, title)),
    el("div", {class: "parts", role: "img",
      "aria-label": `${title}: ${parts.map(x => x.text).join("; ")}`},
    ...parts.map(x => rssPart(x.part, x.text, x.bytes / Math.max(1, all)))),
    el("ul", {class: "keys"}, ...parts.map(x =>
      el("li", null, el("span", {class: "dot", "data-part": x.part}),
        x.text))));
}
