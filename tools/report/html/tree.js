/* -- Call trees for drawing, built lazily ---------------------------------- */

/* A spot stands for all nodes of the profile that are reached by the same
** frames: from the root to callees, or, if the tree goes up, from the frame
** where something happened to its callers. With a focus, the tree begins there.
**
** In a tree that goes up, `at` holds the current caller of each node, `share`
** the part of that node's metric that belongs to the spot.
*/
function openTree(p, how) {
  const t = {
    p, how,
    frame: frameColumn(p, how.merge),
    width: totalWidths(p, how.metric, how.side),
    self: selfWidths(p, how.metric, how.side),
    seen: new Int32Array(p.n).fill(-1)
  };
  const at = how.focus < 0 ? [0] : focusNodes(p, how.merge, how.focus);
  const share = at.map(i => t.width[i]);
  t.root = makeSpot(null, how.focus, at, share);
  return t;
}

/* The outermost nodes of a frame. */
function focusNodes(p, merge, focus) {
  return once(p, `focus ${merge} ${focus}`, () => {
    const frame = frameColumn(p, merge), outer = outermost(p, merge);
    const at = [];
    for (let i = 1; i < p.n; i++)
      if (frame[i] === focus && outer[i])
        at.push(i);
    return at;
  });
}

/* A spot behind another one. */
function makeSpot(up, frame, at, share) {
  let width = 0;
  for (const x of share)
    width += x;
  return {up, frame, at, share, width, kids: null,
    depth: up ? up.depth + 1 : 0};
}

/* Children in the order they are drawn: the widest first. */
function spotKids(t, spot) {
  if (!spot.kids) {
    const groups = new Map();
    if (!t.how.up)
      groupCallees(t, spot, groups);
    else if (!spot.up && t.how.focus < 0)
      groupLeaves(t, groups);
    else
      groupCallers(t, spot, groups);
    spot.kids = [];
    for (const [frame, g] of groups) {
      const kid = makeSpot(spot, frame, g.at, g.share);
      if (kid.width > 0)
        spot.kids.push(kid);
    }
    spot.kids.sort((a, b) => b.width - a.width || a.frame - b.frame);
  }
  return spot.kids;
}

/* Put a node into the group of its frame. */
function groupAdd(groups, frame, at, share) {
  const g = groups.get(frame);
  if (g) {
    g.at.push(at);
    g.share.push(share);
  } else {
    groups.set(frame, {at: [at], share: [share]});
  }
}

/* Callees of the nodes of a spot. */
function groupCallees(t, spot, groups) {
  const p = t.p;
  for (const i of spot.at)
    for (let c = p.first[i]; c >= 0; c = p.next[c])
      groupAdd(groups, t.frame[c], c, t.width[c]);
}

/* Nodes with a metric of their own. */
function groupLeaves(t, groups) {
  for (let i = 1; i < t.p.n; i++)
    if (t.self[i] > 0)
      groupAdd(groups, t.frame[i], i, t.self[i]);
}

/* Callers of the nodes of a spot; each is in its group once. */
function groupCallers(t, spot, groups) {
  const p = t.p;
  const at = [], share = [];
  for (let k = 0; k < spot.at.length; k++) {
    const i = p.parent[spot.at[k]];
    if (i === 0 || spot.share[k] === 0)
      continue;
    if (t.seen[i] < 0) {
      t.seen[i] = at.length;
      at.push(i);
      share.push(0);
    }
    share[t.seen[i]] += spot.share[k];
  }
  for (let k = 0; k < at.length; k++) {
    t.seen[at[k]] = -1;
    groupAdd(groups, t.frame[at[k]], at[k], share[k]);
  }
}

/* The frames on the path to a spot, without the root. */
function spotPath(spot) {
  const path = [];
  for (; spot.up; spot = spot.up)
    path.push(spot.frame);
  return path.reverse();
}

/* The spot at the end of such a path, or the last one that exists. */
function findSpot(t, path) {
  let spot = t.root;
  for (const frame of path) {
    const kid = spotKids(t, spot).find(k => k.frame === frame);
    if (!kid)
      break;
    spot = kid;
  }
  return spot;
}

/* The nodes that a spot's numbers come from. Callers keep only their share of
** the drawn metric, so their stacks are searched for again.
*/
function spotNodes(t, spot) {
  if (!t.how.up || !spot.up)
    return spot.at;
  if (!spot.nodes) {
    const p = t.p, path = spotPath(spot);
    const leaves = t.how.focus < 0 ? null : t.root.at;
    const far = leaves ? path : path.slice(1);
    const n = leaves ? leaves.length : p.n;
    spot.nodes = [];
    for (let k = leaves ? 0 : 1; k < n; k++) {
      const leaf = leaves ? leaves[k] : k;
      let i = leaf, j = 0;
      if (!leaves && t.frame[leaf] !== path[0])
        continue;
      while (j < far.length && (i = p.parent[i]) > 0 && t.frame[i] === far[j])
        j++;
      if (j === far.length)
        spot.nodes.push(leaf);
    }
  }
  return spot.nodes;
}

/* A metric of a spot: self and total. Callers have only a total, that of the
** stacks they lead to.
*/
function spotValue(t, spot, metric, side) {
  const p = t.p, nodes = spotNodes(t, spot);
  const self = selfColumn(p, metric, side);
  const leaves = t.how.up && t.how.focus < 0 && spot.up;
  const total = leaves ? self : totalColumn(p, metric, side);
  const v = {self: 0, total: 0};
  for (const i of nodes) {
    v.self += self[i];
    v.total += total[i];
  }
  return v;
}
