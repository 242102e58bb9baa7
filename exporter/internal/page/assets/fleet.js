const root = document.documentElement;
const states = {live: "Live", polling: "Live", lost: "Connection lost, trying again", paused: "Paused"};
const few = 4; // waiting processes of a resource that are listed
let doc = null, heardAt = 0, state = "connecting";

// showKey shows a name that the server has made printable.
function showKey(cell, name) {
  const e = part(cell, "bdi", "name");
  put(e, name);
  mark(e, "title", name.length > 40 ? name : null);
}

// kindOf is what a lock is part of, with the term of an election or the slots of a semaphore.
function kindOf(r) {
  if (r.kind === "election") return termOf(r.holder?.fence);
  if (readWrite(r)) return ["read/write lock", r.readers ? plural(r.readers, "reader") : r.holder ? "a writer" : "", r.writers ? `${number(r.writers)} to write` : ""].filter(Boolean).join(", ");
  if (r.kind !== "semaphore") return constructs[r.kind] ?? "";
  return r.slots_in_use == null ? `semaphore, ${plural(r.slots, "slot")}` : `${number(r.slots_in_use)} of ${plural(r.slots, "slot")} in use`;
}

const heldFor = h => h?.since ? "for " + duration(Math.max(0, (Date.parse(doc.at) - Date.parse(h.since)) / 1000)) : "";

const fleetColumns = [
  ["Resource", (cell, r) => {
    showKey(cell, r.resource);
    showChip(cell, "set", r.backend ? printable(r.backend) : "");
    showChip(cell, "kind", kindOf(r));
    showChip(cell, "pages", r.only_on_pages ? "only on pages" : "");
  }, "names"],
  ["Waiting", (cell, r) => {
    put(part(cell, "strong", "n"), number(r.waiting));
    put(part(cell, "span", "of"), `${r.kind === "election" ? r.waiting === 1 ? "candidate " : "candidates " : ""}in ${plural(r.processes, "process", "processes")}`);
  }, "num"],
  text("Longest wait", r => duration(r.longest_seconds), "num"),
  ["Held by", (cell, r) => {
    const h = r.holder, taken = [...r.taken ?? [], ...(r.read_by ?? []).slice(0, few).map((holder, slot) => ({slot, kind: "read", holder}))];
    showTaken(cell, taken.map(s => ({...s, ...s.holder, holder: s.holder?.instance})), s => [heldFor(s), s.waits_for ? "waits for " + s.waits_for : ""].filter(Boolean).join(", "));
    style(showName(cell, taken.length ? "" : h ? holderName(h.instance, h.never_expires) : r.readers ? plural(r.readers, "reader") : "holder unknown"), h?.instance ? "name" : h?.never_expires ? "bad" : "");
    showSite(cell, h?.call_site);
    showTraceLink(cell, h?.trace_id);
    showPageLink(cell, h?.page);
    showSub(cell, taken.length && r.readers > few ? `and ${plural(r.readers - few, "more reader")}` : heldFor(h));
    const chain = part(cell, "span", "chain");
    put(chain, r.chain?.length ? "which waits for " + r.chain.join(", whose holder waits for ") : "");
    show(chain, !!r.chain?.length);
  }, "names"],
  ["Waiters", (cell, r) => {
    sync(part(cell, "div", "list"), r.waiters.slice(0, few), w => [w.instance, w.page, w.call_site].join("\0"), () => el("div", "waiter"), (e, w) => {
      showName(e, w.instance || "a process that has not said who it is");
      put(part(e, "span", "callers"), `${plural(w.callers, "caller")}, ${duration(w.waited_seconds)}`);
      showSite(e, w.call_site || w.calls?.[0]?.call_site);
      showPageLink(e, w.page);
    });
    showSub(cell, r.processes > few ? `${plural(r.processes - Math.min(few, r.waiters.length), "more process", "more processes")}` : "");
  }, "long"],
];

const showFleet = table("blocked", fleetColumns, r => r.resource + "\0" + (r.backend ?? ""));
const showPages = table("pages", [
  ["Page", (cell, p) => {
    const link = showLink(cell, "address", p.page, web(p.page));
    style(link, "name");
  }, "names"],
  ["Process", (cell, p) => showName(cell, p.instance || "\u2013"), "names"],
  text("Read", p => p.read_seconds == null ? "never" : ago(p.read_seconds), "num"),
  ["Error", (cell, p) => {
    showSub(cell, p.error ? `for ${duration(p.failing_seconds)}: ${printable(p.error)}` : "", "bad");
    cell.classList.toggle("none", !p.error);
  }, "long"],
], p => p.page);

function render() {
  if (!doc) return;
  const sum = candidates => doc.resources.reduce((n, r) => n + ((r.kind === "election") === candidates ? r.waiting : 0), 0);
  const waiting = sum(false), hints = [waiting ? `${plural(waiting, "caller")}, most waited for first` : "", standBy(sum(true))];
  put(byID("instance"), printable(doc.instance));
  const sets = doc.sets ?? [], lost = sets.some(s => s.no_quorum);
  several = sets.length > 1;
  showOutages({sets});
  showUnread(doc.waits_unknown);
  sync(byID("deadlocks"), doc.deadlocks, d => d, () => el("li", "banner alarm", el("strong", "", "Deadlock."), " ", el("span")), (e, d) => put(e.lastChild, printable(d)));
  show(byID("deadlocks"), doc.deadlocks.length > 0);
  const found = doc.resources.filter(r => matches(r.resource, r.backend, r.holder?.instance, r.holder?.call_site, ...(r.taken ?? []).map(s => s.holder?.instance), ...(r.read_by ?? []).map(h => h.instance), ...r.waiters.flatMap(w => [w.instance, w.call_site])));
  showFleet(found, doc.resources.length);
  put(byID("blocked").querySelector(".hint"), hints.filter(Boolean).join(", "));
  showPages(doc.pages.filter(p => matches(p.page, p.instance, p.error)), doc.pages.length + (doc.pages_omitted ?? 0), doc.pages_omitted ?? 0);
  const own = byID("fleet");
  mark(own, "href", here().replace(/\/fleet$/, ""));
  show(own, true);
  document.title = `${lost ? "No quorum \u00b7 " : doc.deadlocks.length ? "Deadlock \u00b7 " : ""}${number(waiting)} waiting \u00b7 Locks of all processes`;
}

function age() {
  const seconds = doc ? Math.max(0, Math.round((performance.now() - heardAt) / 1000)) : 0, of = seconds + Math.round(doc?.read_seconds ?? 0);
  showConnection(state === "polling" ? "live" : state, of);
  put(byID("updated"), !doc ? "" : `read from the nodes ${of} s ago`);
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
  age();
}, false);
setInterval(age, 1000);
