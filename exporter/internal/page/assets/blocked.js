// toneOfWait compares a wait with the objectives.
const toneOfWait = (seconds, o) => seconds >= o.alarm_seconds ? "bad" : seconds >= o.warning_seconds ? "warn" : "";

// heldBy describes the holder in words: a name or its substitute, and the rest.
function heldBy(b, otherwise, known) {
  if (!b) return {lead: otherwise, rest: ""};
  if (b.handed_over) return {lead: "the hand-over", rest: "nobody holds it; it is reserved for the next in line"};
  const rest = [];
  if (known) return {name: b.holder, lead: "a holder that left no name", here: b.here, rest: ""};
  if (b.age_seconds != null) rest.push(`has held it for ${duration(b.age_seconds)}`);
  if (b.never_expires) rest.push("delete the key once you know that its owner is gone");
  else if (b.remaining_seconds != null) rest.push(`expires within ${duration(b.remaining_seconds)} unless renewed`);
  return {name: b.holder, lead: "a holder that left no name", here: b.here, rest: rest.join(", ")};
}

// showHolder says less about a holder that the row above shows.
function showHolder(cell, b, otherwise, more = [], known = false) {
  const {name, lead, here, rest} = heldBy(b, otherwise, known);
  style(showName(cell, name || lead), name ? "name" : "");
  showChip(cell, "here", here ? "this process" : "");
  showChip(cell, "never", b?.never_expires ? "never expires" : "", "bad");
  showSite(cell, known ? "" : b?.call_site);
  showTraceLink(cell, known ? "" : b?.trace_id);
  showPageLink(cell, known ? "" : b?.page);
  showSub(cell, [rest, ...more].filter(Boolean).join(", "));
  cell.classList.toggle("held", !!b && !b.handed_over);
}

function showSite(cell, site) {
  const e = part(cell, "bdi", "site");
  put(e, site ? printable(site) : "");
  show(e, !!site);
}

function showError(cell, text) {
  const e = part(cell, "span", "error");
  put(e, text);
  style(e, "sub bad");
  show(e, text !== "");
}

const unknownHolder = w => w.kind === "backoff" ? quorate(w.backend) ? "its next attempt" : "nodes to answer again" : w.kind === "attempt" ? "the nodes to answer" : w.kind === "local" ? "callers here" : "the holder";

const waiterColumns = [
  ["Waiter", (cell, w) => {
    showName(cell, w.instance || "this process");
    showSite(cell, w.call_site);
    showPageLink(cell, w.page);
    showSub(cell, w.holds?.length ? "holds " + w.holds.map(printable).join(", ") + " meanwhile" : "");
  }, "names"],
  text("Waiting for", w => duration(w.for_seconds), "num"),
  ["Waits for", (cell, w) => {
    const queue = w.kind !== "local" ? "" : w.ahead > 0 ? `behind ${plural(w.ahead, "caller")} here` : "next in line here";
    showHolder(cell, w.blocker, unknownHolder(w), [queue], w.known);
    showError(cell, w.error ? "last attempt: " + printable(w.error) : "");
  }, "long"],
  text("Attempts", w => number(w.attempts), "num"),
  text("Ahead", w => w.ahead > 0 ? number(w.ahead) : "\u2013", "num"),
  traceColumn,
];

const holdColumns = [
  ["Held before by", (cell, h) => { showName(cell, h.holder); showChip(cell, "else", h.elsewhere ? "elsewhere" : ""); showSite(cell, h.call_site); }, "names"],
  text("For", h => duration(h.took_seconds), "num"),
  text("Until", h => ago(h.ended_seconds), "num"),
  traceColumn,
];

// showBlocked shows a row for each resource with waiters.
const showBlocked = (() => {
  const section = byID("blocked"), list = section.querySelector(".rows");
  let ids = 0;

  function make(r) {
    const panel = el("div", "panel"), button = el("button", "open");
    panel.id = "row-" + ++ids;
    button.type = "button";
    button.setAttribute("aria-controls", panel.id);
    button.addEventListener("click", () => { view.toggle(lockKey(item.row)); render(); });
    const waiters = tableOf(waiterColumns, "Callers that wait", w => [w.instance, w.trace_id, w.call_site].join("\0"));
    const holds = tableOf(holdColumns, "Who held it before", h => [h.holder, h.trace_id, h.took_seconds.toFixed(6)].join("\0"));
    panel.append(el("p", "first dim"), el("div", "box", waiters.root), el("p", "before dim"), holds.root);
    const item = el("li", "", el("div", "row", el("div", "what", button), el("div", "many"), el("div", "by"), el("p", "chain")), panel);
    item.tables = {waiters, holds};
    return item;
  }

  function update(item, r) {
    const [row, panel] = item.children, [what, many, by, chain] = row.children;
    const tone = toneOfWait(r.longest_seconds, r.objectives), opened = view.open.has(lockKey(r));
    item.row = r;
    style(item, r.deadlock ? "bad-edge" : tone ? tone + "-edge" : "");
    showName(what.firstChild, r.resource);
    mark(what.firstChild, "aria-expanded", opened);
    showBackend(what, r);
    showChip(what, "cycle", r.deadlock ? "deadlock" : "", "bad");
    put(part(many, "strong", "n"), number(r.waiting));
    put(part(many, "span", "w"), " waiting, ");
    const longest = part(many, "strong", "longest");
    put(longest, duration(r.longest_seconds));
    style(longest, "longest " + tone);
    showChip(many, "over", {bad: "above the alarm", warn: "above the objective"}[tone] ?? "", tone);
    showHolder(by, r.holder, r.failing && !quorate(r.backend) ? "waits for nodes to answer again" : "no known holder at this instant");
    showError(by, r.failing ? `${number(r.failing)} of ${number(r.waiting)} tried without a quorum and will try again: ${printable(r.error)}` : "");
    showChain(chain, r.chain ?? []);
    show(panel, opened);
    if (opened) fill(item.tables, panel, r);
  }

  function fill({waiters, holds}, panel, r) {
    const past = r.holds ?? [];
    put(panel.querySelector(".first"), r.waiters.length < r.waiting ? `first ${number(r.waiters.length)} of ${number(r.waiting)}, longest first` : `all ${number(r.waiting)}, longest first`);
    for (const w of r.waiters) w.known = !!w.blocker?.holder && w.blocker.holder === r.holder?.holder;
    waiters.show(r.waiters);
    const box = waiters.root.parentNode;
    mark(box, "tabindex", box.scrollHeight > box.clientHeight + 1 ? 0 : null);
    put(panel.querySelector(".before"), past.length ? "in the last ten minutes, latest first" : "");
    holds.show(past.slice(0, 20));
  }

  // showChain shows what the holder itself waits for.
  function showChain(p, links) {
    sync(p, links, lockKey, () => el("span", "link"), (e, l) => {
      put(part(e, "span", "how"), "which waits ");
      put(part(e, "span", "for"), `${duration(l.for_seconds)} for `);
      showName(e, l.resource);
      showBackend(e, l);
      showSite(e, l.call_site);
      put(part(e, "span", "held"), l.holder?.holder ? " held by " : ", holder unknown");
      const who = part(e, "bdi", "who");
      put(who, l.holder?.holder ? printable(l.holder.holder) : "");
      style(who, "who name");
      showPageLink(e, l.holder?.page);
    });
    show(p, links.length > 0);
  }

  return (doc, matches) => {
    const waiters = Map.groupBy(doc.waiting, lockKey);
    const before = new Map(doc.history.map(h => [lockKey(h), h.holds]));
    const rows = doc.blocked.map(r => ({...r, objectives: doc.objectives, waiters: waiters.get(lockKey(r)) ?? [], holds: before.get(lockKey(r))}));
    const shown = rows.filter(r => matches(r.resource, r.backend, r.holder?.holder, r.holder?.call_site, r.holder?.trace_id, ...(r.chain ?? []).map(l => l.resource), ...r.waiters.flatMap(w => [w.instance === doc.instance ? "" : w.instance, w.call_site, w.trace_id])));
    sync(list, shown, lockKey, make, update);
    counted(section, shown.length, rows.length, doc.omitted.blocked ?? 0);
    put(section.querySelector(".hint"), rows.length ? `${plural(doc.totals.waiting, "caller")}, longest wait ${duration(doc.totals.longest_wait_seconds)}` : "");
    show(list, shown.length > 0);
  };
})();

const showHistory = (() => {
  const section = byID("history");
  const list = table("history", [
    ["Resource", (cell, h) => { showName(cell, h.resource); showBackend(cell, h); }, "names"],
    ["Last held by", (cell, h) => { showName(cell, h.holds[0].holder); showSite(cell, h.holds[0].call_site); }, "names"],
    text("Until", h => ago(h.holds[0].ended_seconds), "num"),
    text("Longest hold", h => duration(Math.max(...h.holds.map(t => t.took_seconds))), "num"),
    text("Holds", h => number(h.holds.length + (h.omitted ?? 0)), "num"),
    ["Trace", (cell, h) => showTrace(cell, h.holds[0].trace_id)],
  ], lockKey);
  return (doc, matches) => {
    const now = new Set(doc.blocked.map(lockKey));
    const past = doc.history.filter(h => !now.has(lockKey(h)) && h.holds.length);
    show(section, past.length > 0);
    list(past.filter(h => matches(h.resource, h.backend, ...h.holds.map(t => t.holder))), past.length);
  };
})();
