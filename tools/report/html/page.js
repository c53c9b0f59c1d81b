/* -- The page: changes of its state, and drawing them ---------------------- */

let profile = null, first = null, state = null, search = null;
let whole = null; /* The profile of the document; PROFILE may be its native. */

/* A change of the address that is still to be made; without one, WAIT is 0. */
const address = {wait: 0, step: false};

/* What the page says of calls. */
const CALL_WORDS = {
  graph: "Flame graph", all: "All stacks", around: "callers and callees of",
  aroundAction: "Callers and callees",
  merge: [
    {value: "function", title: "Functions", hint: "A frame is a function"},
    {value: "line", title: "Lines", hint: "A frame is a line of a function"}
  ],
  down: {title: "Callees", hint: "From the root inwards"},
  up: {title: "Callers",
    hint: "From where it happened outwards: who called that"}
};

/* -- Changes -- */

/* Is it dark? */
function darkTheme() {
  return state.theme ? state.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
}

/* Change the state and draw it. A step is an entry in the browser's history. */
function go(change, step) {
  const was = state;
  state = Object.assign({}, state, change);
  if (state.native !== was.native || state.span !== was.span) {
    useProfile(state.native, state.span);
    fitMetric(state);
    if (state.native !== was.native)
      Object.assign(state, {focus: -1, zoom: [], half: 0});
    show(null);
    tellAddress(step);
    return;
  }
  if (state.merge !== was.merge)
    moveFrames(was);
  if (state.focus !== was.focus || state.up !== was.up)
    flame.picked = null;
  show(was);
  tellAddress(step);
}

/* Show Lua lines, or native functions too, which are other frames and other
** metrics; of a span of time, or all.
*/
function useProfile(native, text) {
  const span = spanParse(whole, text);
  profile = native ? nativeProfile(whole) : whole;
  if (span)
    profile = spanProfile(profile, span);
  flame.picked = null;
}

/* Not all profiles have all metrics. */
function fitMetric(s) {
  if (!metricOf(profile, s.metric))
    s.metric = metricOf(profile, "bytes") && !s.native ? "bytes" : "samples";
  return s;
}

/* Show what happened in a span of time; null is all. */
function goSpan(span) {
  go({span: spanText(span)}, true);
}

/* Put the state into the address, once it is drawn. */
function tellAddress(step) {
  clearTimeout(address.wait);
  address.step = address.step || step;
  address.wait = setTimeout(() => {
    const hash = "#" + stateHash(state, first);
    if (address.step)
      location.hash = hash;
    else
      location.replace(hash);
    address.wait = 0;
    address.step = false;
  }, 0);
}

/* Frames have other numbers now: lines know their function, functions do not
** know their lines.
*/
function moveFrames(was) {
  const from = framesOf(profile, was.merge).list;
  const list = framesOf(profile, state.merge).list;
  const lost = profile.heap && state.merge === "line"; /* A shape has many. */
  const move = i => i < 0 || lost ? -1
    : list.findIndex(f => f.fn === from[i].fn);
  state.focus = move(state.focus);
  state.zoom = state.merge === "function" ? state.zoom.map(move) : [];
  flame.picked = null;
}

/* Does the state differ in one of these? */
function differs(was, ...keys) {
  return !was || keys.some(k => was[k] !== state[k]);
}

/* Draw what differs from the previous state; null draws all. */
function show(was) {
  const trees = differs(was, "metric", "side", "merge", "up", "focus");
  const metric = differs(was, "metric", "theme");
  if (differs(was, "theme"))
    showTheme();
  if (metric)
    showTiles(profile, state, m => go({metric: m}, true));
  if (trees || differs(was, "flip", "tab", "theme"))
    showControls();
  if (trees || differs(was, "theme"))
    showLegend();
  if (differs(was, "query", "regex", "merge", "metric", "side"))
    showSearch();
  if (trees)
    makeHalves();
  if (trees || differs(was, "zoom", "half"))
    zoomHalves();
  if (differs(was, "series", "theme"))
    drawTime();
  showTab(was, trees);
}

/* -- Parts -- */

/* The time line, with the span. */
function drawTime() {
  showTime(whole, state.series, {
    span: spanParse(whole, state.span), choose: s => go({series: s}, false),
    drag: goSpan
  });
}

/* The theme that was chosen, or else the system's. */
function showTheme() {
  const dark = darkTheme();
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "Light" : "Dark";
  byId("theme").title = `Show the page in ${dark ? "light" : "dark"} colours`;
  flame.dark = dark;
  flame.colours.clear();
}

/* All switches, as the state has them. */
function showControls() {
  const focus = state.focus >= 0, p = profile;
  fill(byId("metric"), ...p.metrics.map(m => el("option", {value: m.key,
    selected: m.key === state.metric}, m.title)));
  byId("side").hidden = !p.diff;
  if (p.diff)
    fillSwitch("side", [
      {value: "now", title: "Now", hint: "Widths are what is there now"},
      {value: "base", title: "Before", hint: "Widths are what was there"},
      {value: "change", title: "Change",
        hint: "Widths are how much has changed"}
    ], state.side, v => go({side: v, zoom: []}, true));
  const words = p.heap ? HEAP_WORDS : CALL_WORDS;
  fillSwitch("merge", words.merge,
    state.merge, v => go({merge: v}, true));
  byId("native").hidden = !whole.doc.native;
  fillSwitch("native", [
    {value: "lua", title: "Lua lines",
      hint: "Time is that of the Lua line that caused it"},
    {value: "native", title: "Native",
      hint: "Functions of the VM, of C and of the kernel, too"}
  ], state.native ? "native" : "lua", v => go({native: v === "native"}, true));
  fillSwitch("direction", [
    Object.assign({value: "down"}, words.down),
    Object.assign({value: "up"}, words.up)
  ], focus ? "" : state.up ? "up" : "down",
  v => go({up: v === "up", focus: -1, zoom: [], half: 0}, true));
  fillSwitch("shape", [
    {value: "icicle", title: "Icicle", hint: "The root is on top"},
    {value: "flame", title: "Flame", hint: "The root is below"}
  ], state.flip ? "flame" : "icicle", v => go({flip: v === "flame"}, false));
  byId("controls").dataset.tab = state.tab;
  showTabs();
}

/* Colours of the kinds of frames, with their shares of the metric. Shares below
** 0.05% are left out.
*/
function showLegend() {
  const p = profile, list = framesOf(p, "function").list;
  if (p.diff) {
    const colour = by => growthColours(by, flame.dark).plain;
    fill(byId("legend"), legendItem(colour(-1), "less"),
      legendItem(colour(0), "as before"), legendItem(colour(1), "more"));
    return;
  }
  const self = frameSums(p, "function", state.metric, "now", false);
  const sums = {}, all = totalOf(p, state.metric, "now");
  const title = k => p.heap && k === "mark" ? "Others" : KINDS[k].title;
  list.forEach((f, i) => {
    if (self[i])
      sums[f.kind] = (sums[f.kind] || 0) + self[i];
  });
  fill(byId("legend"), ...Object.keys(KINDS).filter(k => sums[k] > all / 2000)
    .map(k => legendItem(kindColour(k, flame.dark),
      `${title(k)} ${shareText(sums[k], all)}`)));
}

/* One entry of the legend. */
function legendItem(colour, text) {
  const dot = el("span", {class: "dot"});
  dot.style.backgroundColor = colour;
  return el("li", null, dot, text);
}

/* One tab for each view. */
function showTabs() {
  const titles = Object.assign({
    flame: (profile.heap ? HEAP_WORDS : CALL_WORDS).graph,
    rows: state.merge === "function" ? "Functions" : "Lines",
    source: "Source", map: "Tree map"
  }, TABLE_TITLES);
  const tabs = viewNames(profile).map(name => [name, titles[name]]);
  refill(byId("tabs"), ...tabs.map(([name, title]) => el("button", {
    type: "button", role: "tab", id: "tab-" + name, "data-name": name,
    "aria-selected": String(state.tab === name),
    "aria-controls": "panel-" + name, tabindex: state.tab === name ? "0" : "-1",
    onclick: () => go({tab: name}, true)
  }, title)));
}

/* The search, and the share of stacks that match. */
function showSearch() {
  const input = byId("query"), p = profile;
  if (document.activeElement !== input || !state.query)
    input.value = state.query;
  byId("regex").setAttribute("aria-pressed", String(state.regex));
  search = null;
  let text = "", error = null;
  if (state.query) {
    const matcher = makeMatcher(state.query, state.regex);
    const m = matchFrames(p, state.merge, matcher);
    const metric = metricOf(p, state.metric);
    error = matcher.error;
    search = {matcher, hit: m.hit};
    if (metric) {
      const sum = matchSum(p, state.merge, m.hit, state.metric, "now");
      text = `${countText(m.n)} match: ${unitText(sum, metric.unit)}, ` +
        (p.heap && p.diff ? "before " + unitText(matchSum(p, state.merge, m.hit,
          state.metric, "base"), metric.unit)
          : shareText(sum, totalOf(p, state.metric, "now")));
      byId("found").dataset.value = sum;
    }
  }
  input.setAttribute("aria-invalid", String(Boolean(error)));
  byId("found").textContent = error || text;
  flame.hit = search && !error ? search.hit : null;
}

/* The trees of the flame graph. */
function makeHalves() {
  const p = profile, frames = framesOf(p, state.merge).list;
  const how = up => ({merge: state.merge, metric: state.metric,
    side: state.side, up, focus: state.focus});
  const half = up => {
    const tree = openTree(p, how(up));
    return {tree, frames, zoom: tree.root};
  };
  flame.halves = state.focus >= 0 ? [half(false), half(true)]
    : [half(state.up)];
  flame.metric = state.metric;
  flame.diff = p.diff;
  flame.colours.clear();
  const metric = metricOf(p, state.metric);
  flame.all = {first: "all", second: metric ? allText(p, metric) : ""};
}

/* The total on the root frame. */
function allText(p, metric) {
  const now = totalOf(p, metric.key, "now");
  const base = p.diff ? totalOf(p, metric.key, "base") : 0;
  return state.side === "change" ? changeText(now - base, metric.unit)
    : unitText(state.side === "base" ? base : now, metric.unit);
}

/* Zoom as the state asks for. */
function zoomHalves() {
  flame.halves.forEach((half, i) => {
    half.zoom = i === state.half ? findSpot(half.tree, state.zoom)
      : half.tree.root;
  });
  showCrumbs();
  if (profile.heap)
    showWay();
}

const CRUMBS = 60; /* At most so many frames are shown, the innermost. */

/* The path of frames to the zoomed one. */
function showCrumbs() {
  const words = profile.heap ? HEAP_WORDS : CALL_WORDS;
  const list = [], half = flame.halves[state.half] || flame.halves[0];
  const focus = state.focus >= 0 && half.frames[state.focus];
  const crumb = (text, title, to, here) => el("li", null, el("button", {
    type: "button", title, "aria-current": here ? "location" : null,
    onclick: () => go(to, true)
  }, nameEl(shortText(text, 48))));
  list.push(crumb("all", words.all, {zoom: [], focus: -1, half: 0},
    !focus && !half.zoom.up));
  if (focus)
    list.push(crumb(`${words.around} ${focus.first}`, focus.label,
      {zoom: [], half: 0}, !half.zoom.up));
  spotPath(half.zoom).forEach((frame, i, path) => {
    const left = path.length - CRUMBS;
    if (left > 0 && i === 0)
      list.push(el("li", {class: "left"}, `${countText(left)} more`));
    if (i >= left)
      list.push(crumb(half.frames[frame].first, half.frames[frame].label,
        {zoom: path.slice(0, i + 1)}, i === path.length - 1));
  });
  const last = half.zoom.frame, around = !focus || last !== state.focus;
  const bar = byId("crumbs"), way = el("ol", null, ...list);
  fill(bar, way, half.zoom.up && around && el("button", {
    type: "button", class: "action", onclick: () => profile.heap
      ? heapAround(half.frames[last].fn) : focusOn(last)
  }, words.aroundAction));
  requestAnimationFrame(() => way.scrollLeft = way.scrollWidth);
}

/* Show the selected view; the others are not drawn. */
function showTab(was, trees) {
  const p = profile, searched = differs(was, "query", "regex");
  const turned = differs(was, "tab", "theme");
  const panels = document.querySelectorAll(".panel");
  for (const panel of panels)
    panel.hidden = panel.id !== "panel-" + state.tab;
  hideTip();
  if (state.tab === "flame") {
    flame.flip = state.flip;
    resizeFlame();
    if (turned || trees || differs(was, "flip", "zoom"))
      scrollFlame();
    paintFlame();
  } else if (turned || trees || searched || differs(was, "sort", "columns", "file") ||
      state.tab === "map" && differs(was, "zoom")) {
    showView(p, state.tab);
  }
}

/* A view that is a table. */
function showView(p, tab) {
  const sort = s => go({sort: s}, false), hit = search && search.hit;
  const at = byId("panel-" + tab).querySelector(".scroll");
  const top = at ? at.scrollTop : 0;
  if (tab === "rows")
    showRows(p, state, hit, sort, row => focusOn(row.frame));
  else if (tab === "source")
    showSource(p, state);
  else if (tab === "map")
    showMap(p, state);
  else
    showTable(p, tab, state, search && search.matcher, sort);
  const now = byId("panel-" + tab).querySelector(".scroll");
  if (now)
    now.scrollTop = top;
}

/* -- Printing -- */

/* Print all views, in light colours. The graph is drawn at the width of the
** window and scaled by the style sheet.
*/
function beforePrint() {
  const panels = Array.from(document.querySelectorAll(".panel"));
  document.documentElement.dataset.theme = "light";
  flame.dark = false;
  flame.colours.clear();
  drawTime();
  for (const panel of panels)
    panel.hidden = panel.id !== "panel-flame";
  resizeFlame();
  paintFlame();
  for (const panel of panels) {
    panel.hidden = false;
    if (panel.id !== "panel-flame")
      showView(profile, panel.id.slice(6));
  }
  for (const box of document.querySelectorAll(".scroll"))
    if (box.grid)
      gridFill(box.grid, true);
}

/* -- Start -- */

/* Panels of tables. */
function makePanels() {
  const main = document.querySelector("main");
  for (const name of viewNames(whole).slice(profile.heap ? 1 : 2))
    main.append(el("section", {class: "panel", id: "panel-" + name,
      role: "tabpanel", "aria-labelledby": "tab-" + name, hidden: true}));
}

/* Event listeners. */
function listen() {
  const box = byId("flame"), input = byId("query");
  let wait = 0;
  box.addEventListener("mousemove", flameOver);
  box.addEventListener("mouseleave", () => {
    flame.over = null;
    hideTip();
    askPaint();
  });
  box.addEventListener("click", flameClick);
  box.addEventListener("scroll", () => {
    flame.over = null;
    hideTip();
    askPaint();
  });
  byId("metric").addEventListener("change",
    e => go({metric: e.target.value}, true));
  input.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(() => go({query: input.value}, false), 60);
  });
  byId("regex").addEventListener("click",
    () => go({regex: !state.regex, query: input.value}, false));
  byId("theme").addEventListener("click",
    () => go({theme: darkTheme() ? "light" : "dark"}, false));
  byId("keys").addEventListener("click", () => byId("help").showModal());
  byId("tabs").addEventListener("keydown", onTabKey);
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", () => {
    drawTime();
    resizeFlame();
    paintFlame();
    if (state.tab === "map")
      showMap(profile, state);
  });
  window.addEventListener("hashchange", onHash);
  window.addEventListener("beforeprint", beforePrint);
  window.addEventListener("afterprint", () => show(null));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
    () => show(null));
}

/* The address changed, by Back or by hand. While a newer state waits to be
** written into it, this is the echo of an older one.
*/
function onHash() {
  if (address.wait ||
      location.hash.replace(/^#/, "") === stateHash(state, first))
    return;
  const was = state;
  useProfile(hashPart("native"), hashPart("span"));
  state = fitMetric(hashState(profile, location.hash, first));
  byId("query").value = state.query;
  if (was.merge !== state.merge || was.native !== state.native ||
      was.span !== state.span)
    show(null);
  else
    show(was);
}

/* Load the profile and draw the page. */
function start() {
  const data = byId("profile");
  whole = profile = openProfile(JSON.parse(data.textContent));
  data.textContent = ""; /* Frees the second copy. */
  first = firstState(profile, data.dataset.metric);
  useProfile(hashPart("native"), hashPart("span"));
  state = fitMetric(hashState(profile, location.hash, first));
  flame.font = "12px " + getComputedStyle(document.body).fontFamily;
  showHeader(whole);
  if (profile.heap) {
    flame.name = heapName;
    heapPage(profile);
  }
  makePanels();
  listen();
  show(null);
  document.documentElement.dataset.ready = Math.round(performance.now());
}

start();
