const root = document.documentElement, filter = byID("filter");
const states = {live: "Live", polling: "Live, polling", lost: "Connection lost, trying again", paused: "Paused"};
let doc = null, heardAt = 0;

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

function tiles() {
  const held = doc.held.length + doc.omitted.held, waiting = doc.waiting.length + doc.omitted.waiting;
  tile("held", number(held), "", held ? "oldest " + duration(doc.held[0]?.age_seconds) : "none now");
  tile("waiting", number(waiting), "", waiting ? "longest " + duration(doc.waiting[0]?.for_seconds) : "nobody now");
  const since = Date.parse(doc.at) - 60e3;
  const minute = doc.waits.filter(w => Date.parse(w.at) >= since);
  const {p50, p99} = estimate(minute);
  const count = minute.reduce((n, w) => n + w.count, 0), failed = minute.reduce((n, w) => n + w.failed, 0);
  tile("wait", duration(p50), " / " + duration(p99), count ? `${plural(count, "acquire")}, ${failed ? number(failed) : "none"} failed` : "no acquire ended");
  const down = doc.nodes.filter(n => !n.up);
  tile("nodes", number(doc.nodes.length - down.length), " / " + number(doc.nodes.length),
    down.length ? "down: " + down.map(n => printable(n.name)).join(", ") : doc.nodes.length ? "all answer" : "none asked yet", down.length ? "bad" : "");
  leaks();
}

function leaks() {
  const scan = doc.scan;
  if (!scan) return tile("leaks", "\u2013", "", "no scanner in this process");
  if (!scan.started) return tile("leaks", "\u2013", "", "first sweep is not done");
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
  empty.usual = !scan.started ? "The first sweep has not ended. Locks that leak show here once it has."
    : scan.standby ? "Another process holds the scanner's lock and does the sweeps."
    : "No leak found. A key that never expires, lives too long or is held too long shows here.";
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
  const waiters = Map.groupBy(doc.waiting, w => w.resource);
  for (const h of doc.held) h.waiters = waiters.get(h.resource)?.length;
  for (const w of doc.waiting) w.by = w.instance === doc.instance ? "" : w.instance;
  tiles();
  plot(doc);
  showNodes(doc.nodes, doc.nodes.length);
  showHeld(doc.held.filter(h => matches(h.resource, h.holder, h.trace_id)), doc.held.length, doc.omitted.held);
  showWaiting(doc.waiting.filter(w => matches(w.resource, w.by, w.blocker?.holder, w.trace_id)), doc.waiting.length, doc.omitted.waiting);
  showSlowest(doc, matches);
  findings();
  put(byID("instance"), printable(doc.instance));
  document.title = `${number(doc.held.length)} held, ${number(doc.waiting.length)} waiting \u00b7 Locks`;
}

function age() {
  put(byID("updated"), doc ? `updated ${Math.max(0, Math.round((performance.now() - heardAt) / 1000))} s ago` : "");
}

const setPaused = connection(next => {
  doc = next;
  heardAt = performance.now();
  show(byID("main"), true);
  render();
  age();
}, state => {
  mark(root, "data-connection", state);
  put(byID("connection"), states[state]);
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

filter.addEventListener("input", render);
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target === filter) {
    if (e.key !== "Escape") return;
    if (filter.value === "") filter.blur();
    filter.value = "";
    render();
  } else if (e.key === "/") {
    filter.focus();
    filter.select();
  } else if (e.key === "p" || e.key === " " && e.target === document.body) {
    pauseButton.click();
  } else return;
  e.preventDefault();
});
