/* -- The state of the page, kept in the address behind the '#' ------------- */

/* The state at the start. */
function firstState(p, wish) {
  const lines = p.heap || p.doc.of.includes("memory");
  const key = metricOf(p, wish) ? wish
    : metricOf(p, "bytes") ? "bytes" : p.metrics.length ? p.metrics[0].key : "";
  return {
    tab: p.flat ? "rows" : "flame", metric: key, side: p.heap && p.diff ? "change" : "now", native: false,
    merge: lines ? "line" : "function",
    up: false, flip: false, query: "", regex: false, focus: -1, half: 0,
    zoom: [],
    sort: {key: p.diff ? "self:change" : "self", down: true}, series: "", span: "", file: -1,
    columns: "", theme: ""
  };
}

/* Names of the parts of the state in addresses. */
const STATE_KEYS = {
  tab: "v", metric: "m", side: "d", merge: "by", up: "up", flip: "flip",
  native: "n", query: "q", regex: "re", focus: "f", half: "h", zoom: "z", sort: "s",
  series: "t", span: "w", columns: "c", file: "src",
  theme: "theme"
};

/* A part of the state as text. */
function statePart(key, value) {
  switch (key) {
  case "zoom": return value.map(x => x.toString(36)).join(".");
  case "sort": return (value.down ? "-" : "") + value.key;
  case "up": case "flip": case "regex": case "native": return value ? "1" : "0";
  default: return String(value);
  }
}

/* The parts of the state that differ from the first, as an address. */
function stateHash(state, first) {
  const q = new URLSearchParams();
  for (const key of Object.keys(STATE_KEYS)) {
    const text = statePart(key, state[key]);
    if (text !== statePart(key, first[key]))
      q.set(STATE_KEYS[key], text);
  }
  return q.toString();
}

/* Parse a part of the state. The result has the right type whatever the address
** contains.
*/
function statePartOf(p, key, text, first) {
  const one = list => list.includes(text) ? text : first;
  switch (key) {
  case "tab": return one(viewNames(p));
  case "metric": return metricOf(p, text) ? text : first;
  case "columns": return /^[\w.:~-]*$/.test(text) ? text : first;
  case "span": return spanText(spanParse(p, text));
  case "side": return p.diff ? one(["now", "base", "change"]) : first;
  case "merge": return one(["line", "function"]);
  case "theme": return one(["", "light", "dark"]);
  case "up": case "flip": case "regex": case "native": return text === "1";
  case "half": return text === "1" ? 1 : 0;
  case "file": case "focus": return /^\d{1,9}$/.test(text) ? Number(text) : -1;
  case "zoom":
    return text.split(".").filter(x => /^[0-9a-z]{1,6}$/.test(x))
      .map(x => parseInt(x, 36));
  case "sort":
    return {key: text.replace(/^-/, ""), down: text.startsWith("-")};
  default: return text;
  }
}

/* A part of the state in the address that says which profile is shown. */
function hashPart(key) {
  const q = new URLSearchParams(location.hash.replace(/^#/, ""));
  const text = q.get(STATE_KEYS[key]) || "";
  return key === "native" ? text === "1" : text;
}

/* The state of an address. */
function hashState(p, hash, first) {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  const state = Object.assign({}, first);
  for (const key of Object.keys(STATE_KEYS)) {
    const text = q.get(STATE_KEYS[key]);
    if (text !== null)
      state[key] = statePartOf(p, key, text, first[key]);
  }
  if (state.focus >= framesOf(p, state.merge).list.length)
    state.focus = -1;
  return state;
}
