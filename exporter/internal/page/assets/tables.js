const maxRows = 500; // more than anybody reads; use the filter to find others

// tableOf makes a table that shows items as rows. A column is its title, a function that
// shows an item in a cell, and the cell's class. The name is for those who do not see it.
function tableOf(columns, name, keyOf) {
  const header = el("tr", "", ...columns.map(([title, , kind]) => {
    const th = el("th", kind, title);
    th.scope = "col";
    return th;
  }));
  const body = el("tbody");
  const t = el("table", "", el("thead", "", header), body);
  if (name) t.setAttribute("aria-label", name);
  // On small screens rows are laid out as cards, which would take the roles away.
  t.setAttribute("role", "table");
  header.setAttribute("role", "row");

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
  const update = (row, item) => columns.forEach(([, fill], i) => fill(row.cells[i], item, row));
  return {root: t, show: items => { sync(body, items, keyOf, make, update); show(t, items.length > 0); }};
}

// table returns a function that shows items in the table of a section.
function table(id, columns, keyOf) {
  const section = byID(id), box = section.querySelector(".box"), t = tableOf(columns, "", keyOf);
  t.root.setAttribute("aria-labelledby", "h-" + id);
  box.append(t.root);
  return (items, total, omitted = 0) => {
    const shown = items.slice(0, maxRows);
    t.show(shown);
    counted(section, items.length, total, omitted + items.length - shown.length);
    show(box, shown.length > 0);
    mark(box, "tabindex", box.scrollHeight > box.clientHeight + 1 ? 0 : null);
  };
}

// counted shows the number of items, or a hint if there are none.
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
  showTraceLink(cell, id);
  cell.classList.toggle("none", !id);
}

// With several sets of nodes, each name shows its set: it means another lock elsewhere.
let several = false;
const telling = x => several && !!x.backend;
const lockKey = x => telling(x) ? `${x.resource} (${x.backend})` : x.resource;
const showBackend = (cell, x) => showChip(cell, "set", telling(x) ? printable(x.backend) : "");

function backendsOf(doc) {
  const all = [doc.nodes, doc.held, doc.blocked].flat().map(x => x.backend).filter(Boolean);
  return new Set(all);
}

const resourceColumn = ["Resource", (cell, item) => {
  showName(cell, item.resource);
  showBackend(cell, item);
  const waiters = item.waiters ?? 0;
  showChip(cell, "queue", waiters ? `${number(waiters)} waiting here` : "", "warn");
}, "names"];
const traceColumn = ["Trace", (cell, item) => showTrace(cell, item.trace_id)];
const text = (title, of, kind) => [title, (cell, item) => put(cell, of(item)), kind];

// fullOf estimates the initial validity of a lease, which is not in the data: from the
// largest value seen, from the age of a lease that was never renewed, or from the
// number of renewals, which come every third of it.
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
  ["Holder", (cell, h) => { showName(cell, h.holder); showSite(cell, h.call_site); showPageLink(cell, h.page); showSub(cell, h.nodes ? "on " + plural(h.nodes, "node") : ""); }, "names"],
  text("Age", h => duration(h.age_seconds), "num"),
  ["Validity left", showValidity, "wide"],
  text("Renewed", h => number(h.extends) + "\u00d7", "num"),
  text("Fence", h => h.fence ?? "\u2013", "num wide"),
  traceColumn,
], h => lockKey(h) + "\0" + (h.fence ?? "") + "\0" + h.holder);

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
