// heldBy describes the holder in words: a name or its substitute, and the rest.
function heldBy(b, otherwise, known) {
  if (!b) return {lead: otherwise, rest: ""};
  if (b.handed_over) return {lead: "the hand-over", rest: "nobody holds it; it is reserved for the next in line"};
  const rest = [];
  const lead = holderName("", b.never_expires);
  if (known) return {name: b.holder, lead, here: b.here, rest: ""};
  if (b.age_seconds != null) rest.push(`for ${duration(b.age_seconds)}`);
  if (b.reason) rest.push(`reason: ${printable(b.reason)}`);
  if (b.done) rest.push(`done: kept for its minimum hold${b.remaining_seconds != null ? `, free in ${duration(b.remaining_seconds)}` : ""}`);
  else if (b.never_expires) rest.push("delete the key once you know that its owner is gone");
  else if (b.unrenewed_seconds != null) rest.push(`not renewed for ${duration(b.unrenewed_seconds)}, free in at most ${duration(b.remaining_seconds)}`);
  else if (b.remaining_seconds != null) rest.push(`expires within ${duration(b.remaining_seconds)} unless renewed`);
  return {name: b.holder, lead, here: b.here, rest: rest.join(", ")};
}

// showHolder says less about a holder that the row above shows.
function showHolder(cell, b, otherwise, more = [], known = false, verb = "held by") {
  const {name, lead, here, rest} = heldBy(b, otherwise, known), held = !!b && !b.handed_over;
  put(part(cell, "span", "heldby"), held && !known ? verb : "");
  style(showName(cell, name || lead), name ? "name" : held && b.never_expires || lead.startsWith("no quorum") ? "bad" : "");
  showChip(cell, "here", here ? "this process" : "");
  showChip(cell, "never", name && b?.never_expires ? "never expires" : "", "bad");
  showSite(cell, known ? "" : b?.call_site);
  showTraceLink(cell, known ? "" : b?.trace_id);
  showPageLink(cell, known ? "" : b?.page);
  showSub(cell, [rest, ...more].filter(Boolean).join(", "), !known && b?.unrenewed_seconds != null ? "warn" : "");
}

// showSlots says in place of one holder how many slots are in use: the opened row has the holders.
function showSlots(cell, r) {
  put(part(cell, "strong", "inuse"), slotsInUse(r));
  showSub(cell, mixed(r).join(", "));
}

// waitClasses are the words for why a call waits: beside it, of a number of calls, and for a row in which all do.
const waitClasses = {
  __proto__: null,
  holder: ["holder", "behind the holder", "holder unknown"],
  network: ["network", "asking the nodes", "asking the nodes"],
  no_quorum: ["no quorum", "got no quorum", "no quorum"],
  quarantined: ["quarantined", "kept waiting by a quarantine", "no quorum: nodes in quarantine"],
  backing_off: ["backing off", "backing off after a split vote", "votes split, trying again"],
};
const waitsFor = {__proto__: null, holder: "the holder", network: "the nodes to answer", no_quorum: "a quorum", quarantined: "a quarantine to end", backing_off: "its next attempt"};
const unknownHolder = w => w.free ? "the first free slot" : waitsFor[w.class] ?? (w.kind === "attempt" ? "the nodes to answer" : w.kind === "local" ? "callers here" : "the holder");

// withoutHolder is what a row says in place of a holder: the class of its waiters if all have one.
function withoutHolder(r) {
  const all = Object.entries(r.by_class ?? {}).find(([, n]) => n === r.waiting);
  return waitClasses[all?.[0]]?.[2] ?? "holder unknown";
}

// mixed lists how many of a row's waiters wait for something else than its holder.
function mixed(r) {
  return Object.entries(r.by_class ?? {}).filter(([c, n]) => c !== "holder" && waitClasses[c] && (r.holder || n < r.waiting))
    .map(([c, n]) => `${number(n)} of ${number(r.waiting)} ${waitClasses[c][1]}`);
}

const waiterColumns = [
  ["Waiter", (cell, w) => {
    showName(cell, w.instance || "this process");
    showSite(cell, w.call_site);
    showPageLink(cell, w.page);
    showSub(cell, w.holds?.length ? "holds " + w.holds.map(printable).join(", ") + " meanwhile" : "");
  }, "names"],
  text("Waiting for", w => duration(w.for_seconds), "num"),
  ["Class", (cell, w) => {
    const known = waitClasses[w.class];
    showChip(cell, "class", known ? known[0] : "", /quorum|quarantined/.test(w.class ?? "") ? "bad" : "");
    put(part(cell, "span", "unknown"), known ? "" : "\u2013");
    cell.title = known ? "" : "the nodes do not say why it waits";
    cell.classList.toggle("none", !known);
  }],
  ["Waits for", (cell, w) => {
    const queue = w.kind !== "local" ? w.ahead > 0 ? plural(w.ahead, "waiter") + " ahead" : "" : w.ahead > 0 ? `behind ${plural(w.ahead, "caller")} here` : "next in line here";
    showHolder(cell, w.blocker, unknownHolder(w), [queue], w.known);
    const e = part(cell, "span", "error"), told = w.error && w.error !== w.above ? "last attempt: " + printable(w.error) : "";
    put(e, told);
    style(e, "sub bad");
    show(e, told !== "");
  }, "long"],
  text("Attempts", w => number(w.attempts), "num"),
  traceColumn,
];

const holdColumns = [
  ["Held before by", (cell, h) => {
    showName(cell, h.holder);
    showChip(cell, "else", h.elsewhere ? "elsewhere" : "");
    showChip(cell, "lost", h.unreleased ? "lost, not released" : "", "warn");
    showSite(cell, h.call_site);
  }, "names"],
  text("For", h => duration(h.took_seconds), "num"),
  text("Until", h => ago(h.ended_seconds), "num"),
  traceColumn,
];

// showBlocked shows a row for each resource with waiters.
const showBlocked = (() => {
  const section = byID("blocked"), list = section.querySelector(".rows");
  const few = 5; // former holds, until somebody asks for more
  let ids = 0;

  function make(r) {
    const panel = el("div", "panel"), button = el("button", "open"), more = el("button", "rest", "more");
    panel.id = "row-" + ++ids;
    button.type = more.type = "button";
    button.setAttribute("aria-controls", panel.id);
    button.addEventListener("click", () => { view.toggle(lockKey(item.row)); render(); });
    more.addEventListener("click", () => { item.all = !item.all; render(); });
    const waiters = tableOf(waiterColumns, "Callers that wait", w => [w.instance, w.trace_id, w.call_site].join("\0"));
    const slots = tableOf(slotColumns, "Slots in use", h => String(h.slot));
    const holds = tableOf(holdColumns, "Who held it before", h => [h.holder, h.trace_id, h.took_seconds.toFixed(6)].join("\0"));
    panel.append(el("p", "views"), el("p", "votes"), slots.root, el("p", "first dim"), el("div", "box", waiters.root), el("p", "before dim"), holds.root, more);
    const item = el("li", "", el("div", "row", el("div", "what", button), " ", el("div", "many"), " ", el("div", "by"), " ", el("p", "chain")), panel);
    item.tables = {waiters, holds, slots};
    return item;
  }

  function update(item, r) {
    const [row, panel] = item.children, [what, many, by, chain] = row.children;
    const tone = r.kind === "election" ? "" : toneOfWait(r.longest_seconds, r.objectives), opened = view.open.has(lockKey(r));
    item.row = r;
    style(item, r.deadlock ? "bad-edge" : tone ? tone + "-edge" : "");
    showName(what.firstChild, r.resource);
    mark(what.firstChild, "aria-expanded", opened);
    showBackend(what, r);
    showChip(what, "kind", r.holders ? "semaphore" : r.kind === "election" ? termOf(r.holder?.fence) : readWrite(r) ? "read/write lock" : constructs[r.kind] ?? "");
    showChip(what, "cycle", r.deadlock ? "deadlock" : "", "bad");
    put(part(many, "strong", "n"), number(r.waiting));
    put(part(many, "span", "w"), r.kind !== "election" ? "waiting," : r.waiting === 1 ? "candidate," : "candidates,");
    const longest = part(many, "strong", "longest");
    put(longest, duration(r.longest_seconds));
    style(longest, "longest " + tone);
    showChip(many, "writers", r.writers ? `${number(r.writers)} to write` : "");
    showChip(many, "over", overWords(tone, r.objectives), tone);
    if (r.holders) showSlots(by, r);
    else if (r.readers > 1) showHolder(by, null, plural(r.readers, "reader"), [nameReaders(r), ...mixed(r)]);
    else showHolder(by, r.holder, withoutHolder(r), mixed(r), false, r.kind === "election" ? "led by" : r.readers ? "read by" : "held by");
    showChain(chain, (r.chain ?? []).slice(0, r.deadlock ? 1 : undefined)); // the banner has the cycle
    show(panel, opened);
    if (opened) fill(item, panel, r);
  }

  function fill(item, panel, r) {
    const {waiters, holds, slots} = item.tables, past = r.holds ?? [];
    showViews(panel.querySelector(".views"), r.views, r.holders ? {...r, resource: r.slot} : r);
    slots.show([...r.holders ?? []].sort(([a], [b]) => a - b).map(([slot, h]) => ({...h, slot})));
    showVotes(panel.querySelector(".votes"), r);
    put(panel.querySelector(".first"), (r.waiters.length < r.waiting ? `first ${number(r.waiters.length)} of ${number(r.waiting)}` : `${number(r.waiting)} waiting`) + ", longest first");
    for (const w of r.waiters) {
      w.free = !!r.holders;
      w.known = !r.holders && !!w.blocker?.holder && w.blocker.holder === r.holder?.holder;
      w.above = /quorum|quarantined/.test(w.class ?? "") ? w.error : r.error; // said once, above the list
    }
    waiters.show(r.waiters);
    const box = waiters.root.parentNode;
    mark(box, "tabindex", box.scrollHeight > box.clientHeight + 1 ? 0 : null);
    put(panel.querySelector(".before"), past.length ? "in the last ten minutes, latest first" : "");
    holds.show(item.all ? past : past.slice(0, few));
    const more = panel.querySelector(".rest");
    put(more, item.all ? "show fewer" : `${number(past.length - few)} more`);
    mark(more, "aria-expanded", !!item.all);
    show(more, past.length > few);
  }

  // showVotes says what the nodes did for those without a quorum, and the whole error of one of them.
  function showVotes(line, r) {
    const {no_quorum = 0, quarantined = 0} = r.by_class ?? {}, out = no_quorum + quarantined || r.failing || 0;
    put(part(line, "strong", "who"), r.error ? plural(out, "caller") + (r.votes ? " got no quorum:" : " failed:") : "");
    put(part(line, "span", "short"), r.votes ?? "");
    put(part(line, "span", "whole"), r.error ? printable(r.error) : "");
    show(line, !!r.error);
  }

  // showChain shows what the holder itself waits for.
  function showChain(p, links) {
    sync(p, links, lockKey, () => el("span", "link"), (e, l) => {
      put(part(e, "span", "how"), "which waits");
      put(part(e, "span", "for"), `${duration(l.for_seconds)} for`);
      showName(e, l.resource);
      showBackend(e, l);
      showSite(e, l.call_site);
      const held = l.holder && !l.holder.handed_over;
      put(part(e, "span", "held"), held ? "held by" : "holder unknown");
      const who = part(e, "bdi", "who");
      put(who, held ? printable(holderName(l.holder.holder, l.holder.never_expires)) : "");
      style(who, "who name");
      showPageLink(e, l.holder?.page);
    });
    show(p, links.length > 0);
  }

  return (doc, matches) => {
    const waiters = Map.groupBy(doc.waiting, lockKey);
    const before = new Map(doc.history.map(h => [lockKey(h), h.holds]));
    const rows = doc.blocked.map(r => ({...r, objectives: doc.objectives, views: doc.views, waiters: waiters.get(lockKey(r)) ?? [], holds: before.get(lockKey(r))}));
    const whole = bySemaphore(rows, doc.held);
    const shown = whole.filter(r => matches(r.resource, r.slot, r.backend, ...[...r.holders?.values() ?? []].map(h => h.holder), r.holder?.holder, ...(r.read_by ?? []), r.holder?.call_site, r.holder?.trace_id, ...(r.chain ?? []).map(l => l.resource), ...r.waiters.flatMap(w => [w.instance === doc.instance ? "" : w.instance, w.call_site, w.trace_id])));
    sync(list, shown, lockKey, make, update);
    counted(section, shown.length, whole.length, doc.omitted.blocked ?? 0);
    put(section.querySelector(".hint"), [doc.totals.waiting ? `${plural(doc.totals.waiting, "caller")}, longest wait ${duration(doc.totals.longest_wait_seconds)}` : "", standBy(doc.totals.candidates)].filter(Boolean).join(", "));
    show(list, shown.length > 0);
  };
})();
