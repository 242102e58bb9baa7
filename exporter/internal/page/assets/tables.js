const maxRows = 500; // more than anybody reads; the filter finds the others

// table returns a function that shows items as rows. A column is its title, a
// function that shows an item in a cell, and the cell's class.
function table(id, columns, keyOf) {
  const section = byID(id), box = section.querySelector(".box");
  const header = el("tr", "", ...columns.map(([title, , kind]) => {
    const th = el("th", kind, title);
    th.scope = "col";
    return th;
  }));
  const body = el("tbody");
  const t = el("table", "", el("thead", "", header), body);
  t.setAttribute("aria-labelledby", "h-" + id);
  // On small screens rows are laid out as cards, which would take the roles away.
  t.setAttribute("role", "table");
  box.append(t);

  const make = () => {
    const row = el("tr", "", ...columns.map(([title, , kind], i) => {
      const cell = el(i ? "td" : "th", kind ?? "");
      if (i) cell.dataset.label = title;
      else cell.scope = "row";
      cell.setAttribute("role", i ? "cell" : "rowheader");
      return cell;
    }));
    row.setAttribute("role", "row");
    return row;
  };
  header.setAttribute("role", "row");
  const update = (row, item) => columns.forEach(([, fill], i) => fill(row.cells[i], item, row));

  return (items, total, omitted = 0) => {
    const shown = items.slice(0, maxRows);
    sync(body, shown, keyOf, make, update);
    counted(section, items.length, total, omitted + items.length - shown.length);
    show(box, shown.length > 0);
    mark(box, "tabindex", box.scrollHeight > box.clientHeight + 1 ? 0 : null);
  };
}

// counted shows how many there are, or what would be here.
function counted(section, matching, total, hidden = 0) {
  put(section.querySelector(".count"), !total ? "" : matching < total ? `${number(matching)} of ${number(total)}` : number(total));
  const empty = section.querySelector(".empty");
  empty.usual ??= empty.textContent;
  put(empty, total ? "Nothing here matches the filter." : empty.usual);
  show(empty, matching === 0);
  const more = section.querySelector(".more");
  if (!more) return;
  put(more, `${plural(hidden, "more is", "more are")} not shown here; the metrics count all of them.`);
  show(more, hidden > 0);
}

function showName(cell, text, className = "name") {
  const e = part(cell, "bdi", className);
  text = printable(text);
  put(e, text);
  mark(e, "title", text.length > 40 ? text : null);
  return e;
}

function showChip(cell, id, text, kind = "") {
  const e = part(cell, "span", id);
  put(e, text);
  style(e, "chip " + kind);
  show(e, text !== "");
}

function showSub(cell, text, kind = "") {
  const e = part(cell, "span", "sub");
  put(e, text);
  style(e, "sub " + kind);
  show(e, text !== "");
}

function showTrace(cell, id) {
  const e = part(cell, "span", "trace");
  put(e, id ? printable(id) : "");
  mark(e, "title", id ? e.textContent : null);
  cell.classList.toggle("none", !id);
}

const resourceColumn = ["Resource", (cell, item) => {
  showName(cell, item.resource);
  const waiters = item.waiters ?? 0;
  showChip(cell, "queue", waiters ? `${number(waiters)} waiting here` : "", "warn");
  showSub(cell, item.by ? "for " + printable(item.by) : "");
}, "names"];
const traceColumn = ["Trace", (cell, item) => showTrace(cell, item.trace_id)];
const text = (title, of, kind) => [title, (cell, item) => put(cell, of(item)), kind];

// fullOf estimates the validity a lease starts with, which nobody says: what has
// been seen of it, its age if it was never renewed, else what its renewals
// suggest, which come every third of it.
function fullOf(row, h) {
  const guess = h.extends ? 3 * h.age_seconds / (h.extends + 1) : h.age_seconds + h.validity_seconds;
  row.full = Math.max(row.full ?? 0, h.validity_seconds, row.full ? 0 : guess);
  return row.full;
}

function showValidity(cell, h, row) {
  const meter = part(cell, "div", "meter"), track = part(meter, "div", "track"), label = part(meter, "span", "left");
  const bar = track.firstChild ?? track.appendChild(el("i"));
  const known = h.validity_seconds != null;
  put(label, known ? duration(h.validity_seconds) : "no limit known");
  track.style.visibility = known ? "" : "hidden";
  if (!known) return;
  const left = Math.max(0, Math.min(1, h.validity_seconds / fullOf(row, h)));
  style(bar, (left < (row.left ?? 1) ? "down " : "") + (left < .12 ? "bad" : left < .34 ? "warn" : ""));
  bar.style.transform = `scaleX(${left.toFixed(4)})`;
  row.left = left;
}

const showHeld = table("held", [
  resourceColumn,
  ["Holder", (cell, h) => { showName(cell, h.holder); showSub(cell, h.nodes ? "on " + plural(h.nodes, "node") : ""); }, "names"],
  text("Age", h => duration(h.age_seconds), "num"),
  ["Validity left", showValidity, "wide"],
  text("Renewed", h => number(h.extends) + "\u00d7", "num"),
  text("Fence", h => h.fence ?? "\u2013", "num wide"),
  traceColumn,
], h => h.resource + "\0" + (h.fence ?? "") + "\0" + h.holder);

// blockedBy says in words who or what a caller waits for: a name or what stands
// for one, and the rest.
function blockedBy(w) {
  const b = w.blocker, rest = [];
  const queue = w.ahead > 0 ? `behind ${plural(w.ahead, "caller")} here` : "next in line here";
  if (b?.handed_over) return {lead: "the hand-over", rest: "nobody holds it; it is kept for the next in line"};
  if (!b && w.kind === "local") return {lead: "callers here", rest: queue};
  if (!b) return {lead: w.kind === "backoff" ? "nodes to answer again" : w.kind === "attempt" ? "the nodes to answer" : "the holder", rest: ""};
  if (b.age_seconds != null) rest.push(`has held it for ${duration(b.age_seconds)}`);
  if (b.never_expires) rest.push("delete the key once you know that its owner is gone");
  else if (b.remaining_seconds != null) rest.push(`at most ${duration(b.remaining_seconds)} more unless renewed`);
  if (w.kind === "local") rest.push(queue);
  return {name: b.holder, lead: "a holder that left no name", here: b.here, rest: rest.join(", ")};
}

const showWaiting = table("waiting", [
  resourceColumn,
  text("Waiting for", w => duration(w.for_seconds), "num"),
  ["Waits for", (cell, w) => {
    const {name, lead, here, rest} = blockedBy(w);
    style(showName(cell, name || lead), name ? "name" : "");
    showChip(cell, "here", here ? "this process" : "");
    showChip(cell, "never", w.blocker?.never_expires ? "never expires" : "", "bad");
    showSub(cell, rest);
    const error = part(cell, "span", "error");
    put(error, w.error ? "last attempt: " + printable(w.error) : "");
    style(error, "sub bad");
    show(error, !!w.error);
  }, "long"],
  text("Attempts", w => number(w.attempts), "num"),
  text("Ahead", w => w.ahead > 0 ? number(w.ahead) : "\u2013", "num"),
  traceColumn,
], w => [w.resource, w.by, w.trace_id].join("\0"));

// restartOf says in words what a node that restarted does, and what that means.
function restartOf(n) {
  const r = n.restart;
  if (!r) return "";
  const what = (r.witnessed ? "restarted, noticed " : "young when first met ") + ago(r.noticed_seconds);
  if (r.enforced) return `${what}: silent for ${duration(r.left_seconds)} more`;
  return `${what}: votes, though locks it forgot may be held for ${duration(r.left_seconds)} more`;
}

const showNodes = table("nodes", [
  ["Node", (cell, n) => {
    showName(cell, n.name);
    showSub(cell, n.error ? printable(n.error) : "", n.up ? "clip" : "bad");
    mark(cell.querySelector(".sub"), "title", n.error ? printable(n.error) : null);
    const restart = part(cell, "span", "restart");
    put(restart, restartOf(n));
    style(restart, n.restart && !n.restart.enforced ? "sub warn" : "sub");
    show(restart, !!n.restart);
  }, "names"],
  ["State", (cell, n) => showChip(cell, "state", n.up ? "up" : "down", n.up ? "good" : "bad")],
  text("p50", n => n.calls > n.failures ? duration(n.p50_seconds) : "\u2013", "num"),
  text("p99", n => n.calls > n.failures ? duration(n.p99_seconds) : "\u2013", "num"),
  ["Failed", (cell, n) => {
    put(cell, n.failures ? `${number(n.failures)} of ${number(n.calls)}` : `0 of ${number(n.calls)}`);
    style(cell, n.failures ? "num bad" : "num");
  }, "num"],
  text("Answered", n => n.quiet_seconds == null ? "never" : ago(n.quiet_seconds), "num"),
], n => n.name);

const classText = {
  __proto__: null, // a class may be called anything
  no_ttl: ["never expires", "bad"], long_ttl: ["expires too late", "warn"], held_too_long: ["held too long", "warn"],
  orphan: ["orphan", "warn"], foreign_type: ["not a lock", ""],
};
const classOf = c => classText[c] ?? [printable(c), ""];

const showFindings = table("scan", [
  ["Key", (cell, f) => { const e = part(cell, "bdi", "name"); put(e, f.key); mark(e, "title", f.key.length > 40 ? f.key : null); }, "names"],
  ["Problem", (cell, f) => {
    showChip(cell, "class", ...classOf(f.class));
    showChip(cell, "seen", f.once ? "seen once" : "");
  }, "flag"],
  ["Evidence", (cell, f) => put(cell, printable(f.evidence)), "long"],
  ["Holder", (cell, f) => { showName(cell, f.holder?.name || "\u2013"); showSub(cell, !f.holder || f.holder.format === "unknown" ? "" : printable(f.holder.format)); }, "names"],
  ["Node", (cell, f) => showName(cell, f.node), "names"],
  text("TTL", f => f.ttl_seconds == null ? "none" : duration(f.ttl_seconds), "num"),
  text("First seen", f => ago(f.ago), "num"),
], f => [f.class, f.node, f.key].join("\0"));
