const units = [[1e-3, 1e-6, "\u00b5s"], [1, 1e-3, "ms"], [60, 1, "s"]];

// duration gives about three digits: 820 µs, 12.5 ms, 3.2 s, 4 m 05 s, 3 h 12 m.
function duration(seconds) {
  if (seconds == null || !isFinite(seconds)) return "\u2013";
  if (seconds <= 0) return "0 s";
  for (const [below, size, unit] of units) {
    const n = seconds / size;
    const text = n < 9.95 ? n.toFixed(1) : n.toFixed(0);
    if (seconds < below && text * size < below) return text.replace(/\.0$/, unit === "s" ? ".0" : "") + "\u00a0" + unit;
  }
  const s = Math.round(seconds);
  if (s < 3600) return pair(s, 60, "m", 1, "s");
  if (s < 86400) return pair(s, 3600, "h", 60, "m");
  return pair(s, 86400, "d", 3600, "h");
}

function pair(s, big, bigUnit, small, smallUnit) {
  const rest = String(Math.floor(s % big / small)).padStart(2, "0");
  return `${Math.floor(s / big)}\u00a0${bigUnit} ${rest}\u00a0${smallUnit}`;
}

// holderName is what every view calls a holder, also one whose lock's value names none.
const holderName = (name, never) => name || (never ? "unnamed, never expires" : "unnamed");

// brief is the error of a node without the address, whose node is named beside it.
const brief = error => error.replace(/^dial \w+ \S+: (connect: )?/, "");

// ago is the first part of duration.
const ago = seconds => seconds < 1 ? "just now" : duration(Math.floor(seconds)).replace(".0", "").split("\u00a0").slice(0, 2).join("\u00a0").replace(/ .*/, "") + " ago";

// niceStep returns the step of an axis that has about count steps up to max.
function niceStep(max, count) {
  const rough = max / count, size = 10 ** Math.floor(Math.log10(rough));
  return size * [1, 2, 5, 10].find(m => m * size >= rough * .999);
}

const number = n => n.toLocaleString("en");
const plural = (n, one, many = one + "s") => `${number(n)} ${n === 1 ? one : many}`;
const time = ms => new Date(ms).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false});

const unprintable = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

// printable returns a name unchanged, or quoted with escapes if it has invisible or
// disruptive characters: control characters, overrides of the writing direction,
// unusual spaces.
function printable(name) {
  if (!name.startsWith('"') && name.search(unprintable) < 0) return name;
  return '"' + name.replace(/["\\]/g, "\\$&").replace(unprintable, escaped) + '"';
}

function escaped(c) {
  const short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[c];
  if (short) return short;
  const code = c.codePointAt(0).toString(16);
  return c < "\x80" ? "\\x" + code.padStart(2, "0") : code.length < 5 ? "\\u" + code.padStart(4, "0") : "\\U" + code.padStart(8, "0");
}
