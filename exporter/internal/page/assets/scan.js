const classText = {
  __proto__: null, // a class may be called anything
  no_ttl: ["never expires", "bad", "never expire"], long_ttl: ["expires too late", "warn", "expire too late"],
  held_too_long: ["held too long", "warn"], orphan: ["orphan", "warn", "orphans"], foreign_type: ["not a lock", "", "are no locks"],
};
const classOf = c => classText[c] ?? [printable(c), ""];

const showFindings = table("scan", [
  ["Key", (cell, f) => { const e = part(cell, "bdi", "name"); put(e, f.key); mark(e, "title", f.key.length > 40 ? f.key : null); }, "names"],
  ["Problem", (cell, f) => {
    showChip(cell, "class", ...classOf(f.class).slice(0, 2));
    showChip(cell, "seen", f.once ? "seen once" : "");
  }, "flag"],
  ["Evidence", (cell, f) => put(cell, printable(f.evidence)), "long"],
  ["Holder", (cell, f) => { showName(cell, f.class === "foreign_type" ? "\u2013" : holderName(f.holder?.name, f.ttl_seconds == null)); showSub(cell, !f.holder || f.holder.format === "unknown" ? "" : printable(f.holder.format)); }, "names"],
  ["Node", (cell, f) => showName(cell, f.node), "names"],
  text("TTL", f => f.ttl_seconds == null ? "none" : duration(f.ttl_seconds), "num"),
  text("First seen", f => ago(f.ago), "num"),
], f => [f.class, f.node, f.key].join("\0"));

function leaks() {
  const scan = doc.scan;
  if (!scan) return tile("leaks", "\u2013", "", "no scanner here");
  if (!scan.started) return tile("leaks", "\u2013", "", "first sweep not finished");
  const sure = new Set(scan.findings.map(f => (f.group ?? "") + "\0" + f.key)).size + scan.overflow, maybe = scan.pending.length;
  tile("leaks", scan.standby ? "\u2013" : number(sure), "", scan.standby ? "another process scans" : (maybe ? `${number(maybe)} more seen once, ` : "") + (scan.silents ? `${number(scan.silents)} silent, ` : "") + "swept " + ago((Date.parse(doc.at) - Date.parse(scan.started)) / 1000), sure || !scan.standby && scan.silents ? "warn" : "");
}

function findings() {
  const scan = doc.scan, section = byID("scan");
  show(section, !!scan);
  if (!scan) return;
  const at = Date.parse(doc.at);
  for (const f of scan.pending) f.once = true;
  const all = [...scan.findings, ...scan.pending];
  const list = all.filter(f => matches(f.key, f.holder?.name ?? "", f.node));
  for (const f of list) f.ago = Math.max(0, (at - Date.parse(f.first_seen)) / 1000);
  const locks = scan.nodes.reduce((n, s) => n + s.locks, 0);
  const failed = scan.nodes.filter(n => n.error);
  const notes = [`${plural(locks, "lock")} on ${plural(scan.nodes.length, "node")} in ${duration(scan.took_seconds)}`];
  if (scan.resolved.length) notes.push(`${number(scan.resolved.length)} resolved`);
  if (failed.length) notes.push("not finished: " + failed.map(n => `${printable(n.node)} (${printable(n.error)})`).join(", "));
  put(section.querySelector(".hint"), scan.started && !scan.standby ? notes.join(" \u00b7 ") : "");
  const empty = section.querySelector(".empty");
  empty.usual = !scan.started ? "The first sweep has not finished. Leaked locks appear here afterwards."
    : scan.standby ? "Another process holds the scanner's lock and runs the sweeps."
    : "No leak found. Keys that never expire, expire too late or are held too long appear here.";
  classes(section.querySelector(".classes"), all);
  showFindings(list, all.length, scan.overflow);
  silences(section.querySelector(".silences"), scan, at);
}

// silences has a line for each lock that sweeps saw regularly and do not see any more.
function silences(list, scan, at) {
  const all = scan.standby ? [] : scan.silent ?? [], more = scan.silents - all.length;
  const lines = all.filter(s => matches(s.key));
  if (lines.length && more) lines.push({more});
  sync(list, lines, s => (s.group ?? "") + "\0" + (s.key ?? ""), () => el("li"), (e, s) => {
    if (s.more) return put(e, `and ${plural(s.more, "more silent lock")}`);
    showChip(e, "silent", "silent", "warn");
    put(part(e, "bdi", "name"), s.key);
    if (s.group) showChip(e, "set", printable(s.group));
    const last = Date.parse(s.last_seen);
    put(part(e, "span", "seen"), `seen at least every ${duration(s.usual_seconds)} for ${duration((last - Date.parse(s.first_seen)) / 1000)}, not for ${duration((at - last) / 1000)}`);
  });
  show(list, lines.length > 0);
}

function classes(line, all) {
  const counts = new Map();
  for (const f of all) counts.set(f.class, (counts.get(f.class) ?? 0) + 1);
  sync(line, [...counts], ([c]) => c, () => el("span"), (e, [c, n]) => {
    const [one, tone, many = one] = classOf(c);
    put(e, `${number(n)} ${n === 1 ? one : many}`);
    style(e, "chip " + tone);
  });
  show(line, counts.size > 0);
}
