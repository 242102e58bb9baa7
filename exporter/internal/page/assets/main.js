const root = document.documentElement;
const states = {live: "Live", polling: "Live, polling", lost: "Connection lost, trying again", paused: "Paused"};
let doc = null, heardAt = 0, state = "connecting";

// matches says whether all words of the filter are in one of the texts.
function matches(...texts) {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = texts.filter(Boolean).flatMap(t => [t, printable(t)]).join("\n").toLowerCase();
  return words.every(w => all.includes(w));
}

function tile(id, value, small, sub, tone = "") {
  const t = byID("t-" + id), [, dd, below] = t.children;
  put(part(dd, "span", "value"), value);
  put(part(dd, "small", "small"), small);
  put(below, sub);
  style(t, tone ? "is-" + tone : "");
}

function tiles(voting) {
  const t = doc.totals, o = doc.objectives, tone = t.waiting ? toneOfWait(t.longest_wait_seconds, o) : "";
  const above = {bad: "alarm at " + duration(o.alarm_seconds), warn: "objective " + duration(o.warning_seconds)}[tone];
  tile("waiting", number(t.waiting), "", t.waiting ? "for " + plural(t.contended, "resource") : t.attempting ? `none now, ${number(t.attempting)} just started` : "none now", tone);
  tile("longest", t.waiting ? duration(t.longest_wait_seconds) : "\u2013", "", above ?? (t.waiting ? doc.read_seconds == null ? "of those that wait now" : "when it was read" : "nobody waits"), tone);
  recently();
  tile("held", number(t.held), "", t.held ? "oldest " + duration(t.oldest_hold_seconds) : "none now");
  const silent = doc.nodes.filter(n => stateOf(n) !== "up"), all = doc.nodes.length;
  tile("nodes", number(voting), " / " + number(all),
    silent.length ? silent.map(n => `${printable(n.name)} ${nodeWords[stateOf(n)] ?? stateOf(n)}`).join(", ") : all ? "all answer and vote" : "none asked yet", silent.length ? quorate() ? "warn" : "bad" : "");
  leaks();
}

// quorate says whether of each set of nodes most vote; of one set where it is named and known.
function quorate(backend) {
  const sets = Map.groupBy(doc.nodes, n => n.backend ?? ""), named = sets.get(backend);
  return (named ? [named] : [...sets.values()]).every(set => 2 * set.filter(n => stateOf(n) === "up").length > set.length);
}

// recently is about the last minute. Of a source that does not count it, the points tell.
function recently() {
  const since = Date.parse(doc.at) - 60e3, minute = doc.waits.filter(w => Date.parse(w.at) >= since);
  let {p50_seconds: p50, p99_seconds: p99, ended, failed} = doc.totals.recent;
  if (!ended && minute.length) {
    ({p50, p99} = estimate(minute));
    ended = minute.reduce((n, w) => n + w.count, 0);
    failed = minute.reduce((n, w) => n + w.failed, 0);
  }
  const {waiting} = doc.totals;
  const words = [ended ? `${number(ended)} ended, ${failed ? number(failed) : "none"} failed` : "none ended"];
  if (waiting) words.unshift(`${number(waiting)} still wait${waiting === 1 ? "s" : ""}`);
  // A source that knows of other processes has no quantiles of its own.
  const known = ended || p99 > 0;
  tile("wait", known ? duration(p50) : "\u2013", known ? " / " + duration(p99) : "", words.join(", "), failed ? "warn" : "");
}

function leaks() {
  const scan = doc.scan;
  if (!scan) return tile("leaks", "\u2013", "", "no scanner in this process");
  if (!scan.started) return tile("leaks", "\u2013", "", "first sweep not finished");
  const sure = new Set(scan.findings.map(f => f.key)).size + scan.overflow, maybe = scan.pending.length;
  tile("leaks", scan.standby ? "\u2013" : number(sure), "", scan.standby ? "another process scans" : (maybe ? `${number(maybe)} more seen once, ` : "") + "swept " + ago((Date.parse(doc.at) - Date.parse(scan.started)) / 1000), sure ? "warn" : "");
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
}

function classes(line, all) {
  const counts = new Map();
  for (const f of all) counts.set(f.class, (counts.get(f.class) ?? 0) + 1);
  sync(line, [...counts], ([c]) => c, () => el("span"), (e, [c, n]) => {
    const [label, tone] = classOf(c);
    put(e, `${number(n)} ${label}`);
    style(e, "chip " + tone);
  });
  show(line, counts.size > 0);
}

function render() {
  if (!doc) return;
  traceTemplate = doc.trace_url ?? "";
  several = backendsOf(doc).size > 1;
  showDeadlocks(doc);
  showUnread(doc.unread);
  tiles(showNodes(doc.nodes));
  showBlocked(doc, matches);
  plot(doc);
  showHeld(doc.held.filter(h => matches(h.resource, h.backend, h.holder, h.call_site, h.trace_id)), doc.totals.held, doc.totals.held - doc.held.length);
  showHistory(doc, matches);
  showSlowest(doc, matches);
  findings();
  put(byID("instance"), printable(doc.instance));
  titled();
}

// titled shows the news in the tab's title.
function titled() {
  const cycles = doc.deadlocks.filter(d => !d.over).length;
  const news = state === "lost" ? "No connection \u00b7 " : cycles ? (cycles === 1 ? "Deadlock" : number(cycles) + " deadlocks") + " \u00b7 " : "";
  document.title = `${news}${number(doc.totals.waiting)} waiting, ${number(doc.totals.held)} held \u00b7 Locks`;
}

function age() {
  const seconds = doc ? Math.max(0, Math.round((performance.now() - heardAt) / 1000)) : 0;
  const read = doc?.read_seconds, of = seconds + Math.round(read ?? 0);
  put(byID("updated"), !doc ? "" : read == null ? `updated ${seconds} s ago` : `read from the nodes ${of} s ago`);
  showLost(state, of);
}

const setPaused = connection(next => {
  doc = next;
  heardAt = performance.now();
  show(byID("main"), true);
  render();
  age();
}, now => {
  state = now;
  mark(root, "data-connection", state);
  put(byID("connection"), states[state]);
  age();
  if (doc) titled();
});
setInterval(age, 1000);

const pauseButton = byID("pause");
pauseButton.addEventListener("click", () => {
  const pausing = pauseButton.getAttribute("aria-pressed") !== "true";
  mark(pauseButton, "aria-pressed", pausing);
  put(pauseButton.lastChild, pausing ? "Resume" : "Pause");
  setPaused(pausing);
});

// The storage may be forbidden; the choice then lasts as long as the page.
const themes = {auto: "Auto", light: "Light", dark: "Dark"}, themeButton = byID("theme");
function setTheme(theme) {
  if (!Object.hasOwn(themes, theme)) theme = "auto";
  mark(root, "data-theme", theme);
  put(themeButton.lastChild, themes[theme]);
  mark(themeButton, "aria-label", "Theme: " + themes[theme]);
  try { localStorage.setItem("lockscope-theme", theme); } catch { /* see above */ }
}
let saved = "auto";
try { saved = localStorage.getItem("lockscope-theme") ?? "auto"; } catch { /* see above */ }
setTheme(saved);
themeButton.addEventListener("click", () => {
  const names = Object.keys(themes);
  setTheme(names[(names.indexOf(root.dataset.theme) + 1) % names.length]);
});

filter.addEventListener("input", () => { view.write(); render(); });
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target === filter) {
    if (e.key !== "Escape") return;
    if (filter.value === "") filter.blur();
    filter.value = "";
    view.write();
    render();
  } else if (e.key === "/") {
    filter.focus();
    filter.select();
  } else if (e.key === "p" || e.key === " " && e.target === document.body) {
    pauseButton.click();
  } else return;
  e.preventDefault();
});
