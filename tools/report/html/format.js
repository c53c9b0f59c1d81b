/* -- Numbers and names as people read them --------------------------------- */

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/* A number with a separator at each thousand. */
function countText(n) {
  const digits = String(Math.abs(Math.round(n)));
  return (n <= -0.5 ? "\u2212" : "") +
    digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/* A size with a unit of 1024. */
function bytesText(n) {
  let x = Math.abs(n), i = 0;
  while (x >= 1024 && i < BYTE_UNITS.length - 1) {
    x /= 1024;
    i++;
  }
  const digits = i === 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
  return (n < 0 ? "\u2212" : "") + x.toFixed(digits) + "\u00a0" +
    BYTE_UNITS[i];
}

/* A time, of nanoseconds. */
function timeText(ns) {
  const x = Math.abs(ns), sign = ns < 0 ? "\u2212" : "";
  if (x < 1e3)
    return sign + x.toFixed(0) + "\u00a0ns";
  if (x < 1e6)
    return sign + (x / 1e3).toFixed(1) + "\u00a0\u00b5s";
  if (x < 1e9)
    return sign + (x / 1e6).toFixed(x < 1e8 ? 1 : 0) + "\u00a0ms";
  if (x < 6e10)
    return sign + (x / 1e9).toFixed(2) + "\u00a0s";
  const s = Math.round(x / 1e9), h = Math.floor(s / 3600);
  return sign + (h ? h + "\u00a0h\u00a0" : "") +
    Math.floor(s % 3600 / 60) + "\u00a0min\u00a0" + s % 60 + "\u00a0s";
}

/* A moment of the reader's time zone, of milliseconds. */
function dateText(ms) {
  const d = new Date(ms), two = n => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ` +
    `${two(d.getHours())}:${two(d.getMinutes())}`;
}

/* A number of one of the document's units. */
function unitText(n, unit) {
  if (n === null || n === undefined)
    return "\u2013";
  switch (unit) {
  case "bytes": return bytesText(n);
  case "ns": return timeText(n);
  case "percent": return n.toFixed(1) + "%";
  case "text": return safeText(n);
  case "id": return String(n);
  default: return countText(n);
  }
}

/* A size without trailing zeros, for labels of axes. */
function tickText(n) {
  return bytesText(n).replace(/\.0+(?=\u00a0)/, "").replace("\u00a0", "");
}

/* The same with all digits. */
function exactText(n, unit) {
  if (unit === "bytes")
    return countText(n) + " bytes";
  return unitText(n, unit);
}

/* The same, with a sign in front. */
function changeText(n, unit) {
  return (n > 0 ? "+" : "") + unitText(n, unit);
}

/* A number as a percentage of another one. */
function shareText(n, all) {
  if (!(all > 0))
    return "\u2013";
  const x = 100 * n / all;
  return (x !== 0 && Math.abs(x) < 0.1 ? x.toFixed(2) : x.toFixed(1))
    .replace("-", "\u2212") + "%";
}

/* Control characters, zero-width spaces, direction marks, line separators. */
const HIDDEN = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u061c" +
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]", "g");

/* A name in which invisible characters, and those that change the direction of
** the text, are written as numbers.
*/
function safeText(s) {
  return String(s).replace(HIDDEN,
    c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/* A path without its directories. */
function baseName(path) {
  const m = /([^/\\]+)[/\\]*$/.exec(path);
  return m ? m[1] : path;
}

/* A site's label without the directories of its file. */
function siteText(label) {
  return safeText(label.replace(/^(~?@).*\/(?=[^/]*:\d)/, "$1"));
}

/* A long text without its middle. */
function shortText(s, most) {
  if (s.length <= most)
    return s;
  const tail = Math.floor(most / 3);
  return s.slice(0, most - tail - 1) + "\u2026" + s.slice(s.length - tail);
}
