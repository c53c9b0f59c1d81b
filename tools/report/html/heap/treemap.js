/* -- Heap dumps: the tree map of what is kept ------------------------------ */

/* A box has the area of what its objects keep; in it are the boxes of what they
** keep, the rest is themselves.
*/
const MAP_HEAD = 17, MAP_LEAST = 60, MAP_DEPTH = 12;

/* What areas are. */
const MAP_SIDES = {now: "what is kept", base: "what was kept",
  change: "how much has changed"};

const map = {half: null, boxes: [], over: null};

/* Lay kids into a rectangle, in rows along its shorter side, so that boxes are
** nearly squares. `scale` is the pixels of a unit of width.
*/
function mapRows(kids, room, scale, place) {
  let {x, y, w, h} = room, i = 0;
  const worst = (row, sum, side) => {
    const s = sum * scale / side;
    return Math.max(...row.map(k => {
      const t = k.width * scale / s;
      return Math.max(t / s, s / t);
    }));
  };
  while (i < kids.length && w > 1 && h > 1) {
    const side = Math.min(w, h), row = [kids[i]];
    let sum = kids[i++].width;
    while (i < kids.length && worst(row.concat(kids[i]), sum + kids[i].width,
      side) <= worst(row, sum, side)) {
      sum += kids[i].width;
      row.push(kids[i++]);
    }
    const thick = sum * scale / side;
    let at = 0;
    for (const kid of row) {
      const long = kid.width * scale / thick;
      place(kid, w <= h ? {x: x + at, y, w: long, h: thick}
        : {x, y: y + at, w: thick, h: long});
      at += long;
    }
    if (w <= h) {
      y += thick;
      h -= thick;
    } else {
      x += thick;
      w -= thick;
    }
  }
}

/* The boxes of a spot and of all in it that are large enough. */
function mapLay(spot, room, depth) {
  const {half, boxes} = map, area = room.w * room.h;
  boxes.push(Object.assign({spot, depth}, room));
  if (area < 4 * MAP_LEAST || depth > MAP_DEPTH || !(spot.width > 0))
    return;
  const head = room.h > 2.5 * MAP_HEAD && room.w > 40 ? MAP_HEAD : 2;
  const inner = {x: room.x + 2, y: room.y + head, w: room.w - 5,
    h: room.h - head - 3};
  if (inner.w < 4 || inner.h < 4)
    return;
  const scale = inner.w * inner.h / spot.width;
  const kids = spotKids(half.tree, spot)
    .filter(k => k.width * scale > MAP_LEAST);
  mapRows(kids, inner, scale, (kid, at) => mapLay(kid, at, depth + 1));
}

/* Draw all boxes, outer ones first. */
function mapPaint() {
  const canvas = byId("map"), ctx = canvas.getContext("2d");
  const ink = canvasInk(flame.dark), dots = window.devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * dots);
  canvas.height = Math.round(canvas.clientHeight * dots);
  ctx.setTransform(dots, 0, 0, dots, 0, 0);
  ctx.font = flame.font;
  for (const b of map.boxes) {
    const c = b.spot.frame < 0 ? null : spotColours(map.half, b.spot);
    const hit = flame.hit && b.spot.frame >= 0 && flame.hit[b.spot.frame];
    const name = b.spot.frame < 0 ? flame.all : heapName(map.half, b.spot);
    ctx.fillStyle = !c ? ink.all : hit ? ink.hit : flame.hit ? c.faded
      : map.over === b ? c.over : c.plain;
    ctx.fillRect(b.x, b.y, b.w - 1, b.h - 1);
    ctx.strokeStyle = ink.rest;
    ctx.strokeRect(b.x + 0.5, b.y + 0.5, b.w - 2, b.h - 2);
    if (b.w > 40 && b.h > MAP_HEAD - 2)
      paintText(ctx, name, b.x, b.w - 4, b.y, ink, hit);
  }
}

/* The innermost box at a point of the canvas, or null. */
function mapAt(e) {
  const r = byId("map").getBoundingClientRect();
  const x = e.clientX - r.left, y = e.clientY - r.top;
  return map.boxes.filter(b => x >= b.x && x < b.x + b.w && y >= b.y &&
    y < b.y + b.h).pop() || null;
}

/* The mouse is over a box, or none. */
function mapOver(e) {
  const over = mapAt(e);
  if (over)
    showTip(e.clientX, e.clientY, heapTip(profile, map.half, over.spot));
  else
    hideTip();
  if (over !== map.over) {
    map.over = over;
    mapPaint();
  }
}

/* Zoom to a spot, in this view. */
function mapZoom(spot) {
  go({up: false, focus: -1, half: 0, zoom: spotPath(spot)}, true);
}

/* The view: the zoomed spot fills it. */
function showMap(p, state) {
  const panel = byId("panel-map");
  const tree = openTree(p, {merge: state.merge, metric: state.metric,
    side: state.side, up: false, focus: -1});
  const frames = framesOf(p, state.merge).list;
  map.half = {tree, frames, zoom: tree.root};
  map.half.zoom = findSpot(tree, state.up || state.focus >= 0 ? []
    : state.zoom);
  const {zoom} = map.half, name = zoom.frame < 0 ? HEAP_WORDS.all
    : heapName(map.half, zoom).first;
  const canvas = el("canvas", {id: "map", role: "img", "aria-label":
    `Tree map of ${name}: the same as the graph of who keeps it`});
  refill(panel, el("div", {class: "above"}, el("span", {class: "said"},
    nameEl(shortText(safeText(name), 100)), ": areas are " + MAP_SIDES[state.side]),
  zoom.up && el("button", {type: "button", class: "action", id: "map-out",
    "data-name": "out", onclick: () => mapZoom(zoom.up)}, "Out")), canvas);
  canvas.addEventListener("mousemove", mapOver);
  canvas.addEventListener("mouseleave", () => {
    map.over = null;
    hideTip();
    mapPaint();
  });
  canvas.addEventListener("click", e => {
    const at = mapAt(e);
    if (at)
      mapZoom(at.spot === zoom && zoom.up ? zoom.up : at.spot);
  });
  map.boxes = [];
  map.over = null;
  mapLay(zoom, {x: 0, y: 0, w: canvas.clientWidth, h: canvas.clientHeight}, 0);
  mapPaint();
}
