function tile(id, value, small, sub, tone = "") {
  const t = byID("t-" + id), [, dd, below] = t.children;
  put(part(dd, "span", "value"), value);
  if (small || dd.children.length > 1) put(part(dd, "small", "small"), small);
  put(below, sub);
  style(t, tone ? "is-" + tone : "");
}

function tiles() {
  const t = doc.totals, o = doc.objectives, tone = t.waiting ? toneOfWait(t.longest_wait_seconds, o) : "";
  tile("waiting", number(t.waiting), "", [t.waiting ? "for " + plural(t.contended, "resource") : t.attempting ? `none now, ${number(t.attempting)} just started` : "none now", standBy(t.candidates)].filter(Boolean).join(", "), tone);
  tile("longest", t.waiting ? duration(t.longest_wait_seconds) : "\u2013", "", overWords(tone, o) || (t.waiting ? doc.read_seconds == null ? "of those that wait now" : "when it was read" : "nobody waits"), tone);
  recently();
  tile("held", number(t.held), "", t.held ? "oldest " + duration(t.oldest_hold_seconds) : "none now");
  voters();
  leaks();
}

// voters sums up the sets of nodes.
function voters() {
  const sum = of => doc.sets.reduce((n, s) => n + of(s), 0), nodes = sum(s => s.nodes), voting = sum(s => s.voting);
  const down = doc.sets.flatMap(s => s.down ?? []), barred = doc.sets.flatMap(s => s.may_not_vote ?? []);
  const lost = doc.sets.some(s => s.no_quorum), spare = doc.sets.every(s => s.voting > s.quorum || s.nodes < 3);
  const unknown = sum(s => s.unknown?.length ?? 0), asked = Math.max(0, ...doc.sets.map(s => s.asked_seconds ?? 0));
  const shaky = doc.nodes.filter(n => stateOf(n) === "shaky"), words = [];
  if (down.length) words.push((down.length > 1 ? number(down.length) : printable(down[0])) + " down");
  if (barred.length) words.push((barred.length > 1 ? number(barred.length) : printable(barred[0])) + " may not vote");
  if (lost) words.unshift("no quorum");
  else if (words.length && !spare) words.push("none to spare");
  if (shaky.length) words.push((shaky.length > 1 ? number(shaky.length) : printable(shaky[0].name)) + " shaky");
  if (unknown) words.push(`${unknown < nodes ? number(unknown) + " " : ""}not asked for ${duration(Math.min(...doc.nodes.filter(n => stateOf(n) === "unknown").map(n => n.asked_seconds ?? 0)))}`);
  const fine = asked > quiet ? "voted when asked, " + ago(asked) : "all answer and vote";
  tile("nodes", unknown === nodes && nodes ? "\u2013" : number(voting), " / " + number(nodes), words.join(", ") || (nodes ? fine : "none asked yet"), lost ? "bad" : voting + unknown < nodes || shaky.length ? "warn" : "");
}

// recently is about the last minute.
function recently() {
  const {p50_seconds: p50, p99_seconds: p99, ended, failed, stalled_seconds: stalled = 0} = doc.totals.recent;
  const running = doc.totals.waiting ? `${number(ended)} ended and ${number(doc.totals.waiting)} waiting` : `${number(ended)} ended`;
  const words = [ended ? failed ? `${number(failed)} failed, of ${running}` : `${running}, none failed` : doc.totals.waiting ? `none ended, ${number(doc.totals.waiting)} waiting` : "none ended"];
  const tone = toneOfWait(stalled, doc.objectives) || (failed ? "warn" : "");
  if (stalled >= doc.objectives.warning_seconds) words.splice(0, 1, `nothing acquired for ${duration(stalled)}`);
  const known = p99 > 0; // calls that began just now have waited no time
  tile("wait", known ? duration(p50) : "\u2013", known ? " / " + duration(p99) : "", words.join(", "), tone);
}
