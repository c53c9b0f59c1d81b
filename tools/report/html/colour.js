/* -- Colours: of kinds of frames, and of files within a kind --------------- */

/* Kinds as the document has them, in the order of the legend: their hues, from
** and to, and how strong they are.
*/
const KINDS = {
  lua: {title: "Lua", hue: [40, 98], chroma: 1},
  trace: {title: "Trace", hue: [150, 172], chroma: 1},
  c: {title: "C function", hue: [222, 250], chroma: 0.9},
  native: {title: "Native", hue: [278, 312], chroma: 0.75},
  kernel: {title: "Kernel", hue: [2, 22], chroma: 0.9},
  table: {title: "Tables", hue: [232, 262], chroma: 1},
  string: {title: "Strings", hue: [140, 165], chroma: 0.9},
  function: {title: "Functions", hue: [50, 80], chroma: 1},
  prototype: {title: "Prototypes", hue: [95, 110], chroma: 0.9},
  upvalue: {title: "Upvalues", hue: [190, 205], chroma: 0.8},
  thread: {title: "Threads", hue: [300, 318], chroma: 0.9},
  userdata: {title: "Userdata", hue: [10, 30], chroma: 0.9},
  cdata: {title: "Cdata", hue: [335, 350], chroma: 0.9},
  special: {title: "Internal", hue: [80, 80], chroma: 0.12},
  mark: {title: "Missing", hue: [80, 80], chroma: 0.05}
};

/* One channel, as sRGB has it. */
function gammaByte(x) {
  const y = x <= 0.0031308 ? 12.92 * x : 1.055 * Math.pow(x, 1 / 2.4) - 0.055;
  return Math.max(0, Math.min(255, Math.round(255 * y)));
}

/* A colour of the OKLCH space, in which equal lightness looks equal, so that
** the same text can be read on all of them.
*/
function oklch(light, chroma, hue) {
  const h = hue * Math.PI / 180;
  const a = chroma * Math.cos(h), b = chroma * Math.sin(h);
  const l = Math.pow(light + 0.3963377774 * a + 0.2158037573 * b, 3);
  const m = Math.pow(light - 0.1055613458 * a - 0.0638541728 * b, 3);
  const s = Math.pow(light - 0.0894841775 * a - 1.2914855480 * b, 3);
  const r = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  const g = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  const blue = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
  return `rgb(${gammaByte(r)},${gammaByte(g)},${gammaByte(blue)})`;
}

/* A hash of a text, from 0 to 1. */
function textHash(s) {
  let h = 2166136261;
  for (let i = 0; i < s.length; i++)
    h = Math.imul(h ^ s.charCodeAt(i), 16777619);
  h = Math.imul(h ^ h >>> 15, 2246822519);
  return ((h ^ h >>> 13) >>> 0) / 4294967296;
}

/* The colours of frames: plain, when the mouse is over their function, and when
** a search does not match them.
*/
function frameColours(frame, dark) {
  const kind = KINDS[frame.kind] || KINDS.special;
  const x = textHash(frame.file || frame.kind);
  const hue = kind.hue[0] + x * (kind.hue[1] - kind.hue[0]);
  const light = (dark ? 0.45 : 0.855) + (textHash(frame.label) - 0.5) * 0.035;
  const chroma = kind.chroma * (dark ? 0.085 : 0.09);
  return {
    plain: oklch(light, chroma, hue),
    over: oklch(light + (dark ? 0.09 : -0.075), chroma * 1.25, hue),
    faded: oklch(dark ? 0.29 : 0.945, chroma * 0.22, hue)
  };
}

/* The colour of a kind, for legends. */
function kindColour(kind, dark) {
  const k = KINDS[kind] || KINDS.special;
  return oklch(dark ? 0.56 : 0.77, k.chroma * 0.115, (k.hue[0] + k.hue[1]) / 2);
}

/* The change from base to now relative to the larger of both, from -1 (all of
** it is gone) to 1 (all of it is new).
*/
function growth(now, base) {
  const most = Math.max(Math.abs(now), Math.abs(base));
  return most > 0 ? Math.max(-1, Math.min(1, (now - base) / most)) : 0;
}

/* The colours of growth, in steps, so that there are few of them. */
function growthColours(by, dark) {
  const x = Math.round(by * 12) / 12, hue = x > 0 ? 30 : 255;
  const strong = Math.sqrt(Math.abs(x));
  const chroma = strong * (dark ? 0.13 : 0.14);
  const light = dark ? 0.34 + 0.13 * strong : 0.92 - 0.18 * strong;
  return {
    plain: oklch(light, chroma, hue),
    over: oklch(light + (dark ? 0.08 : -0.07), chroma, hue),
    faded: oklch(dark ? 0.29 : 0.945, chroma * 0.2, hue)
  };
}

/* Colours on the canvas other than those of frames. */
function canvasInk(dark) {
  return dark ? {
    text: "#f4f1ea", soft: "rgba(244,241,234,.68)", faint: "#8f8a80",
    hit: "#c03fa0", hitText: "#ffffff", edge: "#f4f1ea", rest: "#2e2c29",
    all: "#38352f"
  } : {
    text: "#1f1d19", soft: "rgba(31,29,25,.66)", faint: "#77736a",
    hit: "#f09be0", hitText: "#1f1d19", edge: "#1f1d19", rest: "#ece9e2",
    all: "#e2ded5"
  };
}
