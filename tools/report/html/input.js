/* -- Mouse and keyboard ---------------------------------------------------- */

/* -- The flame graph -- */

/* The callers and callees of a frame. */
function focusOn(frame) {
  go({tab: "flame", focus: frame, zoom: [], half: 0}, true);
  byId("flame").focus({preventScroll: true});
}

/* Zoom to a spot. */
function zoomTo(half, spot) {
  const i = flame.halves.indexOf(half);
  go({half: i, zoom: spotPath(spot)}, true);
}

/* The point of an event, on the sheet of the graph. */
function flamePoint(e) {
  const box = byId("flame"), r = box.getBoundingClientRect();
  return {x: e.clientX - r.left - box.clientLeft,
    y: e.clientY - r.top - box.clientTop + box.scrollTop};
}

/* The mouse is over a frame, or none. */
function flameOver(e) {
  const at = flamePoint(e), over = flameAt(at.x, at.y);
  const was = flame.over && flame.over.spot;
  byId("flame").classList.toggle("over", Boolean(over));
  flame.over = over;
  if (!over) {
    hideTip();
  } else {
    showTip(e.clientX, e.clientY, over.spot
      ? tipOf(profile, over.half, over.spot, state) : tipOfRest());
  }
  if ((over && over.spot) !== was)
    askPaint();
}

/* A click zooms in; on the zoomed frame it zooms out by one. */
function flameClick(e) {
  const at = flamePoint(e), on = flameAt(at.x, at.y);
  if (!on || !on.spot)
    return;
  flame.picked = null;
  if ((e.shiftKey || e.altKey) && on.spot.frame >= 0)
    focusOn(on.spot.frame);
  else
    zoomTo(on.half, on.spot);
}

/* Announce the frame that keys selected, and scroll to it. */
function pick(half, spot) {
  const p = profile, m = metricOf(p, state.metric);
  flame.picked = spot;
  flame.pickedHalf = half;
  if (!placeOf(spot))
    zoomTo(half, spot);
  showSpot(spot);
  paintFlame();
  const v = spotValue(half.tree, spot, m.key, "now");
  const frame = spot.frame < 0 ? flame.all : p.heap ? heapName(half, spot)
    : half.frames[spot.frame];
  if (p.heap)
    showWay();
  fill(byId("said"), nameEl(shortText(`${frame.first} ${frame.second}`, 200)),
    `: ${exactText(v.total, m.unit)}, ` +
    shareText(v.total, totalOf(p, m.key, "now")));
  const at = placeOf(spot), r = byId("flame").getBoundingClientRect();
  if (at)
    showTip(r.left + Math.min(flame.rows[at.r].x[at.k] + 24, r.width - 40),
      r.top + (at.r + 1) * ROW - byId("flame").scrollTop,
      tipOf(p, half, spot, state));
}

/* An arrow: to the caller, the widest callee, a neighbour. */
function arrow(key) {
  const half = flame.picked ? flame.pickedHalf : flame.halves[state.half];
  const spot = flame.picked;
  if (!half || !(half.zoom.width > 0))
    return;
  if (!spot) {
    pick(half, half.zoom);
    return;
  }
  const outer = half.tree.how.up && flame.halves.length > 1;
  const inwards = state.flip !== outer ? "ArrowUp" : "ArrowDown";
  const outwards = inwards === "ArrowUp" ? "ArrowDown" : "ArrowUp";
  const kin = spot.up ? spotKids(half.tree, spot.up) : [spot];
  const k = kin.indexOf(spot) + (key === "ArrowRight" ? 1 : -1);
  if (key === inwards && spotKids(half.tree, spot).length)
    pick(half, spotKids(half.tree, spot)[0]);
  else if (key === outwards && spot.up)
    pick(half, spot.up);
  else if (key === outwards && flame.halves.length > 1)
    pickAcross(half);
  else if ((key === "ArrowLeft" || key === "ArrowRight") && kin[k])
    pick(half, kin[k]);
}

/* From the focused function in the middle into the other half. */
function pickAcross(half) {
  const other = flame.halves[half === flame.halves[0] ? 1 : 0];
  const kids = spotKids(other.tree, other.tree.root);
  if (kids.length)
    pick(other, kids[0]);
}

/* -- Keys -- */

/* Escape clears one thing: selection, search, zoom or focus, in this order. */
function escape() {
  if (flame.picked) {
    flame.picked = null;
    hideTip();
    paintFlame();
  } else if (state.query) {
    byId("query").value = "";
    go({query: ""}, false);
  } else if (state.zoom.length) {
    go({zoom: [], half: 0}, true);
  } else if (state.focus >= 0) {
    go({focus: -1}, true);
  }
}

/* The next one of a list. */
function nextOf(list, one) {
  return list[(list.indexOf(one) + 1) % list.length];
}

/* Keys that work everywhere. */
const KEYS = {
  "/": () => {
    byId("query").focus();
    byId("query").select();
  },
  "Escape": escape,
  "?": () => byId("help").showModal(),
  "i": () => go({up: !state.up, focus: -1, zoom: [], half: 0}, true),
  "f": () => go({merge: state.merge === "line" ? "function" : "line"}, true),
  "m": () => go({metric: nextOf(profile.metrics.map(m => m.key),
    state.metric)}, true),
  "t": () => go({tab: nextOf(viewNames(profile), state.tab)}, true)
};

/* Keys of the flame graph. */
const FLAME_KEYS = {
  "Enter": () => flame.picked && zoomTo(flame.pickedHalf, flame.picked),
  "Backspace": () => state.zoom.length &&
    go({zoom: state.zoom.slice(0, -1)}, true),
  "c": () => {
    const half = flame.halves[state.half];
    const spot = flame.picked || (flame.over && flame.over.spot) ||
      (half && half.zoom);
    if (spot && spot.frame >= 0)
      focusOn(spot.frame);
  }
};

/* A key was pressed. */
function onKey(e) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.ctrlKey || e.metaKey || e.altKey || byId("help").open)
    return;
  if (typing && e.key === "Escape") {
    e.target.blur();
    escape();
    return;
  }
  if (typing)
    return;
  const inFlame = state.tab === "flame";
  const graph = e.target === byId("flame") || e.target === document.body;
  if (inFlame && graph && e.key.startsWith("Arrow"))
    arrow(e.key);
  else if (inFlame && FLAME_KEYS[e.key] && (graph || e.key === "c"))
    FLAME_KEYS[e.key]();
  else if (KEYS[e.key])
    KEYS[e.key]();
  else
    return;
  e.preventDefault();
}

/* Arrows go from tab to tab. */
function onTabKey(e) {
  if (e.key !== "ArrowLeft" && e.key !== "ArrowRight")
    return;
  const names = viewNames(profile);
  const by = e.key === "ArrowRight" ? 1 : names.length - 1;
  e.preventDefault();
  e.stopPropagation();
  go({tab: names[(names.indexOf(state.tab) + by) % names.length]}, true);
  byId("tab-" + state.tab).focus();
}
