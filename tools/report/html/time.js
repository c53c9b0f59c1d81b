/* -- The time line --------------------------------------------------------- */

const TIME_LEFT = 64, TIME_RIGHT = 10, TIME_TOP = 12;

/* Pictures: how tall they are, and their feet, where the times stand. Of two,
** one above the other, times stand below the second one.
*/
const TIME_ONE = [{tall: 118, foot: 20}];
const TIME_TWO = [{tall: 140, foot: 6}, {tall: 122, foot: 20}];

/* The series that can be shown, by the columns of the document. */
function timeSeries(p) {
  const tables = p.doc.tables || {}, time = tables.time, list = [];
  const has = key => time && time.columns.some(c => c.key === key);
  if (time && time.rows.length > 1) {
    if (has("live"))
      list.push({key: "live", title: "Live", unit: "bytes"});
    if (has("bytes"))
      list.push({key: "bytes", title: "Allocated", unit: "bytes"});
    if (has("samples"))
      list.push({key: "samples", title: "Samples per second",
        unit: "samples"});
  }
  if (tables.snapshots && tables.snapshots.rows.length > 1)
    list.push({key: "sites", title: "Live by site", unit: "bytes"});
  return list;
}

/* The series shown, and the choice. Memory and CPU that were recorded at the
** same time are both shown.
*/
function timeChoice(p, chosen) {
  const list = timeSeries(p), cpu = list.filter(s => s.key === "samples");
  const memory = list.filter(s => s.key !== "samples");
  const both = p.doc.summary.timeline && cpu.length && memory.length;
  const choices = both ? memory : list;
  const first = choices.find(s => s.key === chosen) || choices[0];
  return {both, choices, shown: both ? [first, cpu[0]] : choices.length
    ? [first] : []};
}

/* The end of the time axis, in ns. */
function timeEnd(p, series) {
  const table = p.doc.tables[{sites: "snapshots", base: "time_base"}[series.key]
    || "time"];
  const ns = tableColumn(table, "ns");
  return Math.max(1, ns[ns.length - 1]);
}

/* One column of a table. */
function tableColumn(table, key) {
  const k = table.columns.findIndex(c => c.key === key);
  return k < 0 ? null : table.rows.map(r => r[k] || 0);
}

/* A round step that divides a scale into at most so many parts. */
function niceStep(most, steps, two) {
  const rough = most / steps;
  if (two) {
    let step = 1;
    while (step < rough)
      step *= 2;
    return step;
  }
  const ten = Math.pow(10, Math.floor(Math.log10(rough)));
  const by = [1, 2, 5, 10].find(x => x * ten >= rough);
  return by * ten;
}

/* Functions from time and value to pixels. */
function timeScale(size, most) {
  const {width, tall, foot, end} = size;
  return {
    x: ns => TIME_LEFT + (width - TIME_LEFT - TIME_RIGHT) * ns / end,
    y: v => tall - foot - (tall - TIME_TOP - foot) * v / most
  };
}

/* Lines and numbers of both scales. */
function timeAxes(size, most, unit, at) {
  const {width, tall, end} = size;
  const g = svg("g", {class: "axes"});
  const step = niceStep(most, 4, unit === "bytes");
  for (let v = 0; v <= most; v += step) {
    g.append(svg("line", {x1: TIME_LEFT, x2: width - TIME_RIGHT,
      y1: at.y(v), y2: at.y(v)}));
    g.append(svg("text", {x: TIME_LEFT - 8, y: at.y(v) + 4,
      "text-anchor": "end"}, unitText(v, unit)));
  }
  if (size.foot < TIME_ONE[0].foot)
    return g;
  const tick = niceStep(end, Math.max(2, width / 110), false);
  for (let ns = 0; ns <= end; ns += tick) {
    const x = at.x(ns);
    g.append(svg("text", {x, y: tall - 5, "text-anchor":
      ns === 0 ? "start" : x > width - 40 ? "end" : "middle"},
    ns === 0 ? "0\u00a0s" : timeText(ns)));
  }
  return g;
}

/* An area between two series; without a lower one it begins at 0. */
function timeArea(ns, low, high, at) {
  let d = "";
  for (let i = 0; i < ns.length; i++)
    d += (i ? "L" : "M") + at.x(ns[i]).toFixed(1) + " " +
      at.y(high[i]).toFixed(1);
  for (let i = ns.length - 1; i >= 0; i--)
    d += "L" + at.x(ns[i]).toFixed(1) + " " +
      at.y(low ? low[i] : 0).toFixed(1);
  return d + "Z";
}

/* A bar for each step. */
function timeBars(ns, v, at) {
  let d = "", from = 0;
  for (let i = 0; i < ns.length; i++) {
    const x = at.x(from), w = Math.max(0.5, at.x(ns[i]) - x - 0.6);
    if (v[i] > 0)
      d += `M${x.toFixed(1)} ${at.y(0).toFixed(1)}V${at.y(v[i]).toFixed(1)}` +
        `h${w.toFixed(1)}V${at.y(0).toFixed(1)}Z`;
    from = ns[i];
  }
  return d;
}

/* Rows of a table of steps, with groups of steps added up. */
function joinSteps(table, by) {
  const rows = [];
  for (let i = 0; i < table.rows.length; i += by) {
    const part = table.rows.slice(i, i + by);
    rows.push(table.columns.map((c, k) => {
      const v = part.map(row => row[k] || 0);
      return c.key === "ns" || c.key === "live" ? v[v.length - 1]
        : c.key === "highest" ? Math.max(...v) : v.reduce((a, b) => a + b, 0);
    }));
  }
  return {columns: table.columns, rows};
}

const TIME_BARS = 24; /* So many bars are enough, */
const TIME_SAMPLES = 25; /* if more would be of fewer samples. */

/* Steps that are wide enough to be seen and, of samples, that hold enough of
** them: bars of few samples would show chance.
*/
function barSteps(table, width) {
  const samples = tableColumn(table, "samples");
  const busy = samples ? samples.filter(n => n > 0).length : 0;
  const all = samples ? samples.reduce((a, b) => a + b, 0) : 0;
  const bars = by => table.rows.length / by;
  let by = 1;
  while (bars(by) > width / 3)
    by *= 2;
  while (busy && bars(by) > TIME_BARS && all * by / busy < TIME_SAMPLES)
    by *= 2;
  return by > 1 ? joinSteps(table, by) : table;
}

/* Samples per second. */
function sampleRates(table) {
  const ns = tableColumn(table, "ns"), n = tableColumn(table, "samples");
  const rows = ns.map((to, i) =>
    [to, n[i], 1e9 * n[i] / Math.max(1, to - (i > 0 ? ns[i - 1] : 0))]);
  return {rows, columns: [table.columns[0],
    {key: "count", title: "samples", unit: "samples"},
    {key: "samples", title: "samples per second", unit: "samples"}]};
}

/* The mark of the peak. */
function peakMark(peak, at, width) {
  const x = at.x(peak.ns), y = at.y(peak.bytes), late = x > width * 0.7;
  return svg("g", {class: "peak"},
    svg("line", {x1: x, x2: x, y1: y, y2: at.y(0)}),
    svg("circle", {cx: x, cy: y, r: 3.5}),
    svg("text", {x: x + (late ? -8 : 8), y: Math.max(y + 4, 12),
      "text-anchor": late ? "end" : "start"},
    `peak ${bytesText(peak.bytes)} at ${timeText(peak.ns)}`));
}

/* One metric over time: its drawing, and the values at a moment. */
function timeOne(p, series, size) {
  const width = size.width, live = series.key === "live", all = p.doc.tables.time;
  const steps = live ? all : barSteps(series.key === "samples" ? all
    : {columns: all.columns.filter(c => c.key !== "samples"),
      rows: all.rows}, width);
  const table = series.key === "samples" ? sampleRates(steps) : steps;
  const ns = tableColumn(table, "ns"), v = tableColumn(table, series.key);
  const highest = live ? tableColumn(table, "highest") : null;
  const base = timeBase(p, series, width);
  const peak = live ? p.doc.summary.peak : null;
  const most = Math.max(1, ...v, ...(highest || []), peak ? peak.bytes : 0,
    ...(base ? base.v : []));
  const at = timeScale(size, most * 1.06), g = svg("g");
  g.append(timeAxes(size, most * 1.06, series.unit, at));
  if (live) {
    if (highest)
      g.append(svg("path", {class: "high", d: timeArea(ns, v, highest, at)}));
    g.append(svg("path", {class: "area", d: timeArea(ns, null, v, at)}));
    if (peak && peak.ns !== null)
      g.append(peakMark(peak, at, width));
  } else {
    g.append(svg("path", {class: series.key === "samples" ? "bars cpu"
      : "bars", d: timeBars(ns, v, at)}));
  }
  if (base)
    g.append(svg("path", {class: "before", d: timeLine(base, live, at)}));
  const tell = i => table.columns
    .map((c, k) => ({c, value: table.rows[i][k]}))
    .filter(({c, value}) => c.key !== "ns" && (c.key === series.key ||
      value && (series.unit === "samples" || c.unit !== "samples")))
    .map(({c, value}) => [c.title, unitText(value, c.unit)])
    .concat(base ? [[`${series.title.toLowerCase()} before`,
      unitText(base.v[Math.min(i, base.v.length - 1)], series.unit)]] : []);
  return {g, ns, at, tell, bars: !live,
    about: `${series.title} over ${timeText(size.end)}, at most ` +
      unitText(peak ? peak.bytes : most, series.unit)};
}

/* Of a diff, the same series of what it is compared with, or null. */
function timeBase(p, series, width) {
  const all = p.doc.tables.time_base, key = series.key;
  if (!all || !all.columns.some(c => c.key === key))
    return null;
  const steps = key === "live" ? all : barSteps(all, width);
  const table = key === "samples" ? sampleRates(steps) : steps;
  return {ns: tableColumn(table, "ns"), v: tableColumn(table, key)};
}

/* A line over its values; of bars, along their tops. */
function timeLine(base, smooth, at) {
  let d = "", from = 0;
  for (let i = 0; i < base.ns.length; i++) {
    const x = at.x(base.ns[i]).toFixed(1), y = at.y(base.v[i]).toFixed(1);
    d += smooth ? `${i ? "L" : "M"}${x} ${y}`
      : `${i ? "L" : "M"}${at.x(from).toFixed(1)} ${y}L${x} ${y}`;
    from = base.ns[i];
  }
  return d;
}

/* Snapshots, by moment and site: the largest sites, the others added up. */
function snapshotCourses(table, most) {
  const ns = tableColumn(table, "ns"), live = tableColumn(table, "live");
  const k = table.columns.findIndex(c => c.unit === "text");
  const times = Array.from(new Set(ns)).sort((a, b) => a - b);
  const place = new Map(times.map((t, i) => [t, i])), sites = new Map();
  table.rows.forEach((row, i) => {
    const name = row[k];
    if (!sites.has(name))
      sites.set(name, {name, v: new Array(times.length).fill(0), most: 0});
    const s = sites.get(name);
    s.v[place.get(ns[i])] += Math.max(0, live[i]);
    s.most = Math.max(s.most, s.v[place.get(ns[i])]);
  });
  const all = Array.from(sites.values()).sort((a, b) => b.most - a.most);
  const list = all.slice(0, most);
  if (all.length > most) {
    const rest = {name: `${countText(all.length - most)} others`,
      v: new Array(times.length).fill(0)};
    for (const s of all.slice(most))
      s.v.forEach((x, i) => rest.v[i] += x);
    list.push(rest);
  }
  return {times, list};
}

/* The largest sites over time, stacked. */
function timeSites(p, size) {
  const {times, list} = snapshotCourses(p.doc.tables.snapshots, 7);
  const g = svg("g");
  let low = new Array(times.length).fill(0);
  const sums = times.map((t, i) => list.reduce((n, s) => n + s.v[i], 0));
  const most = Math.max(1, ...sums) * 1.06, at = timeScale(size, most);
  g.append(timeAxes(size, most, "bytes", at));
  list.forEach((s, i) => {
    const high = low.map((x, k) => x + s.v[k]);
    s.fill = oklch(flame.dark ? 0.62 : 0.72, i < 7 ? 0.12 : 0.01,
      (250 + i * 137) % 360);
    g.append(svg("path", {fill: s.fill, d: timeArea(times, low, high, at)}));
    low = high;
  });
  const tell = i => [["live", bytesText(sums[i])]].concat(
    list.map(s => [shortText(siteText(s.name), 60), bytesText(s.v[i])]));
  return {g, ns: times, at, tell, keys: list,
    about: "Live bytes by site over " + timeText(size.end)};
}

/* The moment nearest to a place, or the bar that is there. */
function timeNear(drawn, x) {
  const away = i => Math.abs(drawn.at.x(drawn.ns[i]) - x);
  let best = 0;
  if (drawn.bars) {
    const i = drawn.ns.findIndex(ns => drawn.at.x(ns) >= x);
    return i < 0 ? drawn.ns.length - 1 : i;
  }
  for (let i = 1; i < drawn.ns.length; i++)
    if (away(i) < away(best))
      best = i;
  return best;
}

/* Show the values at the moment below the mouse, in all pictures. */
function timeHover(rows, row, event) {
  const x = event.clientX - row.picture.getBoundingClientRect().left;
  const told = [];
  for (const {drawn, line} of rows) {
    const best = timeNear(drawn, x), at = drawn.at.x(drawn.ns[best]);
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
    line.removeAttribute("visibility");
    told.push(...drawn.tell(best));
  }
  const when = row.drawn.ns[timeNear(row.drawn, x)];
  showTip(event.clientX, event.clientY, el("div", null,
    el("h3", null, "at " + timeText(when)),
    el("table", null, el("tbody", null, ...told.map(([k, v]) =>
      el("tr", null, el("th", null, nameEl(k)), el("td", null, v)))))));
}

/* One picture of the time line. */
function timeRow(p, series, size) {
  const drawn = series.key === "sites" ? timeSites(p, size)
    : timeOne(p, series, size);
  const line = svg("line", {class: "moment", y1: TIME_TOP,
    y2: size.tall - size.foot, visibility: "hidden"});
  const shade = svg("rect", {class: "span", x: 0, width: 0, y: TIME_TOP - 4,
    height: size.tall - size.foot - TIME_TOP + 4, visibility: "hidden"});
  const picture = svg("svg", {width: size.width, height: size.tall,
    viewBox: `0 0 ${size.width} ${size.tall}`, role: "img",
    "aria-label": drawn.about}, drawn.g, shade, line);
  return {series, drawn, line, shade, picture};
}

/* What is written above the first picture, with a switch if there is a choice;
** and above the second.
*/
function timeCaptions(p, choice, how) {
  const title = choice.both ? "Memory" : "Over time", many = choice.choices;
  const {span} = how, drags = spanGrid(p) > 0;
  const said = !drags ? "" : span
    ? `${timeText(span.from)} \u2013 ${timeText(span.to)}`
    : "drag to choose a span";
  const buttons = many.length > 1 && el("div", {class: "switch", role: "group",
    "aria-label": "What the time line shows", id: "series"});
  return [el("figcaption", null, el("span", null, buttons ? title
    : many[0].title + " over time", p.diff && el("span", {class: "said"},
    " \u00b7 line: before")),
  drags && el("span", {class: "said", id: "span"}, said, span &&
    el("button", {type: "button", class: "action", id: "span-all",
      title: "Show the whole recording again",
      onclick: () => how.drag(null)}, "All")), buttons),
  choice.both && el("p", {class: "caption"}, "CPU: samples per second")];
}

/* The whole time line. */
function showTime(p, chosen, how) {
  const box = byId("time"), choice = timeChoice(p, chosen);
  const {shown, choices} = choice;
  box.hidden = !shown.length;
  byId("overview").toggleAttribute("data-time", shown.length > 0);
  if (!shown.length)
    return;
  const width = Math.max(240, box.clientWidth - 2);
  const end = Math.max(...shown.map(s => timeEnd(p, s)),
    p.doc.tables.time_base ? timeEnd(p, {key: "base"}) : 0);
  const sizes = choice.both ? TIME_TWO : TIME_ONE;
  const rows = shown.map((s, i) =>
    timeRow(p, s, Object.assign({width, end}, sizes[i])));
  for (const row of rows) {
    row.picture.addEventListener("mousemove", e => timeHover(rows, row, e));
    row.picture.addEventListener("mouseleave", () => {
      rows.forEach(r => r.line.setAttribute("visibility", "hidden"));
      hideTip();
    });
  }
  if (spanGrid(p)) { /* Before it is put in, to keep keyboard focus. */
    rows[0].picture.setAttribute("tabindex", "0");
    rows[0].picture.dataset.name = "span";
  }
  const captions = timeCaptions(p, choice, how), keys = rows[0].drawn.keys;
  refill(box, ...rows.flatMap((r, i) => [captions[i], r.picture]),
    keys && timeKeys(keys));
  if (choices.length > 1)
    fillSwitch("series", choices.map(s => ({value: s.key, title: s.title})),
      shown[0].key, how.choose);
  if (spanGrid(p))
    timeSpan(p, rows, {width, end}, how);
}

/* Choose a span, by mouse or keys, and show the one that is chosen. */
function timeSpan(p, rows, size, how) {
  spanDrag(p, rows, size, how.drag);
  for (const row of rows) {
    if (how.span)
      spanShade(row, how.span, size);
    row.picture.classList.add("drags");
  }
  rows[0].picture.addEventListener("keydown", e => {
    const span = spanKey(p, how.span, e);
    if (span === undefined)
      return;
    e.preventDefault();
    e.stopPropagation();
    how.drag(span);
  });
}

/* The legend of the sites. */
function timeKeys(keys) {
  return el("ul", {class: "keys"}, ...keys.map(s => {
    const dot = el("span", {class: "dot"});
    dot.style.backgroundColor = s.fill;
    return el("li", {title: safeText(s.name)}, dot,
      nameEl(shortText(siteText(s.name), 48)));
  }));
}
