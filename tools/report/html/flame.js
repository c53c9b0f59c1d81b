/* -- The flame graph: a canvas as large as its visible part ---------------- */

const ROW = 20; /* Pixels of a row of frames, with the gap below it. */
const THIN = 0.5; /* Frames of fewer pixels are drawn as one. */

/* What is drawn: `half` is one of the trees with the spot that fills the whole
** width. A function with its callers and callees has two.
*/
const flame = {
  halves: [], rows: [], flip: false, dark: false, hit: null,
  diff: false, metric: "", over: null, picked: null, width: 0, asked: false,
  colours: new Map(), widths: new Map(), font: "",
  name: (half, spot) => half.frames[spot.frame]
};

/* -- Layout -- */

/* Rows of frames that are wide enough to be seen. */
function layHalf(half, width) {
  const rows = [], scale = width / half.zoom.width;
  const lay = (depth, spot, x, w) => {
    const row = rows[depth] || (rows[depth] = {x: [], w: [], spot: [], half});
    row.x.push(x);
    row.w.push(w);
    row.spot.push(spot);
  };
  if (!(half.zoom.width > 0))
    return rows;
  lay(0, half.zoom, 0, width);
  for (let depth = 0; depth < rows.length; depth++) {
    const row = rows[depth];
    for (let k = 0; k < row.spot.length; k++) {
      if (!row.spot[k])
        continue;
      let x = row.x[k], rest = 0;
      for (const kid of spotKids(half.tree, row.spot[k])) {
        const w = kid.width * scale;
        if (w < THIN) {
          rest += w;
          continue;
        }
        lay(depth + 1, kid, x, w);
        x += w;
      }
      if (rest >= THIN)
        lay(depth + 1, null, x, rest);
    }
  }
  return rows;
}

/* All rows from top to bottom, for the root on top. */
function layFlame() {
  const f = flame, width = f.width;
  const laid = f.halves.map(h => layHalf(h, width));
  f.rows = laid[0] || [];
  if (laid.length > 1) {
    const inner = f.halves[0], outer = f.halves[1];
    const middle = layHalf({tree: inner.tree, zoom: inner.tree.root}, width)
      .slice(0, 1);
    if (middle.length)
      middle[0].half = inner;
    const below = inner.zoom.up ? laid[0] : laid[0].slice(1);
    const above = outer.zoom.up ? laid[1] : laid[1].slice(1);
    f.rows = above.reverse().concat(middle, below);
    f.middle = above.length;
  }
  if (f.flip)
    f.rows.reverse();
}

/* The row of the function in the middle. */
function middleRow() {
  return flame.flip ? flame.rows.length - 1 - flame.middle : flame.middle;
}

/* The row and the place in it of a spot, or null if it is not drawn. */
function placeOf(spot) {
  for (let r = 0; r < flame.rows.length; r++) {
    const k = flame.rows[r].spot.indexOf(spot);
    if (k >= 0)
      return {r, k};
  }
  return null;
}

/* What is at a point of the canvas, or null. */
function flameAt(x, y) {
  const r = Math.floor(y / ROW), row = flame.rows[r];
  if (!row || y < 0)
    return null;
  let low = 0, high = row.x.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (row.x[mid] + row.w[mid] <= x)
      low = mid + 1;
    else
      high = mid;
  }
  if (low === row.x.length || row.x[low] > x)
    return null;
  return {spot: row.spot[low], half: row.half, r, k: low};
}

/* -- Paint -- */

/* How wide a character is. */
function charWidth(c, ctx) {
  let w = flame.widths.get(c);
  if (w === undefined) {
    w = ctx.measureText(c).width;
    flame.widths.set(c, w);
  }
  return w;
}

/* The part of a text that fits, and its width. */
function fitText(ctx, text, room) {
  let w = 0, i = 0;
  const dots = charWidth("\u2026", ctx);
  let fits = 0, fitsWidth = 0;
  for (const c of text) {
    w += charWidth(c, ctx);
    if (w > room)
      return fits > 1
        ? {text: text.slice(0, fits) + "\u2026", width: fitsWidth + dots}
        : {text: "", width: 0};
    i += c.length;
    if (w + dots <= room) {
      fits = i;
      fitsWidth = w;
    }
  }
  return {text, width: w};
}

/* How a spot is coloured. */
function spotColours(half, spot) {
  const f = flame;
  if (f.diff) {
    if (spot.growth === undefined) {
      const now = spotValue(half.tree, spot, f.metric, "now").total;
      const base = spotValue(half.tree, spot, f.metric, "base").total;
      spot.growth = Math.round(12 * growth(now, base));
    }
    return colourOnce("growth " + spot.growth,
      () => growthColours(spot.growth / 12, f.dark));
  }
  return colourOnce(spot.frame,
    () => frameColours(half.frames[spot.frame], f.dark));
}

/* Cached colours. */
function colourOnce(key, make) {
  let c = flame.colours.get(key);
  if (!c) {
    c = make();
    flame.colours.set(key, c);
  }
  return c;
}

/* A frame's text: its name and, if there is room, its place in the source. */
function paintText(ctx, frame, x, w, y, ink, hit) {
  const room = w - 9;
  const first = fitText(ctx, frame.first, room);
  if (!first.text)
    return;
  ctx.fillStyle = hit ? ink.hitText : ink.text;
  ctx.fillText(first.text, x + 5, y + 14);
  if (!frame.second || first.text !== frame.first)
    return;
  const second = fitText(ctx, frame.second, room - first.width - 8);
  if (second.text) {
    ctx.fillStyle = hit ? ink.hitText : ink.soft;
    ctx.fillText(second.text, x + 5 + first.width + 8, y + 14);
  }
}

/* One frame, at a place. */
function paintFrame(ctx, row, k, y, ink) {
  const f = flame, spot = row.spot[k], x = row.x[k], w = row.w[k];
  const left = Math.max(0, x), gap = w > 3 ? 1 : 0;
  if (!spot) {
    ctx.fillStyle = ink.rest;
    ctx.fillRect(left, y, w - gap, ROW - 1);
    return;
  }
  const hit = f.hit && spot.frame >= 0 && f.hit[spot.frame];
  let fill = ink.all;
  if (spot.frame >= 0 || f.diff) {
    const c = spotColours(row.half, spot);
    const same = f.over && f.over.spot && f.over.spot.frame === spot.frame;
    fill = hit ? ink.hit : f.hit ? c.faded : same ? c.over : c.plain;
  }
  ctx.fillStyle = fill;
  ctx.fillRect(left, y, w - gap, ROW - 1);
  if (w > 22)
    paintText(ctx, spot.frame < 0 ? f.all : f.name(row.half, spot),
      left, w - gap, y, ink, hit);
}

/* A line around a frame. */
function paintEdge(ctx, at, top, ink, width) {
  const row = flame.rows[at.r];
  ctx.strokeStyle = ink.edge;
  ctx.lineWidth = width;
  ctx.strokeRect(row.x[at.k] + width / 2, at.r * ROW - top + width / 2,
    Math.max(2, row.w[at.k] - 1 - width), ROW - 1 - width);
}

/* All that is in view. */
function paintFlame() {
  const f = flame, box = byId("flame"), canvas = byId("canvas");
  const ctx = canvas.getContext("2d"), ink = canvasInk(f.dark);
  const top = box.scrollTop, tall = canvas.clientHeight;
  const dots = window.devicePixelRatio || 1;
  f.asked = false;
  canvas.width = Math.round(f.width * dots);
  canvas.height = Math.round(tall * dots);
  ctx.setTransform(dots, 0, 0, dots, 0, 0);
  ctx.clearRect(0, 0, f.width, tall);
  ctx.font = f.font;
  const from = Math.max(0, Math.floor(top / ROW));
  const to = Math.min(f.rows.length, Math.ceil((top + tall) / ROW));
  for (let r = from; r < to; r++) {
    const row = f.rows[r];
    for (let k = 0; k < row.x.length; k++)
      paintFrame(ctx, row, k, r * ROW - top, ink);
  }
  if (f.halves.length > 1 && f.rows.length)
    paintEdge(ctx, {r: middleRow(), k: 0}, top, ink, 2);
  if (f.over && f.over.spot && f.rows[f.over.r])
    paintEdge(ctx, f.over, top, ink, 1);
  const picked = f.picked && placeOf(f.picked);
  if (picked)
    paintEdge(ctx, picked, top, ink, 2);
  if (!f.rows.length) {
    ctx.fillStyle = ink.faint;
    ctx.fillText("Nothing to show of this metric.", 8, 24);
  }
}

/* Paint in the next animation frame. */
function askPaint() {
  if (!flame.asked) {
    flame.asked = true;
    requestAnimationFrame(() => flame.asked && paintFlame());
  }
}

/* Lay out again after a change of width, zoom or trees; the caller paints. */
function resizeFlame() {
  const f = flame, box = byId("flame");
  f.width = box.clientWidth;
  if (!f.width || !f.halves.length)
    return;
  layFlame();
  const tall = Math.max(f.rows.length * ROW, box.clientHeight);
  byId("sheet").style.height = tall + "px";
  if (f.width !== box.clientWidth) { /* A scroll bar came or went. */
    f.width = box.clientWidth;
    layFlame();
  }
  byId("canvas").style.height = box.clientHeight + "px";
  byId("canvas").style.width = f.width + "px";
  f.over = null;
}

/* Scroll to the root, or to the focused function in the middle. */
function scrollFlame() {
  const f = flame, box = byId("flame");
  if (f.halves.length > 1) {
    box.scrollTop = middleRow() * ROW - box.clientHeight / 2 + ROW / 2;
  } else {
    box.scrollTop = f.flip ? box.scrollHeight : 0;
  }
}

/* Bring a spot into view. */
function showSpot(spot) {
  const at = placeOf(spot), box = byId("flame");
  if (!at)
    return;
  if (at.r * ROW < box.scrollTop)
    box.scrollTop = at.r * ROW;
  else if ((at.r + 1) * ROW > box.scrollTop + box.clientHeight)
    box.scrollTop = (at.r + 1) * ROW - box.clientHeight;
}
