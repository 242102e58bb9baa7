// matches says whether all words of the filter are in one of the texts.
function matches(...texts) {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = texts.filter(Boolean).flatMap(t => [t, printable(t)]).join("\n").toLowerCase();
  return words.every(w => all.includes(w));
}

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

const words = outcome => printable(outcome.replaceAll("_", " "));

// limit is a limit in words: 5 s, not 5.0 s.
const limit = seconds => duration(seconds).replace(".0", "");

// toneOfWait compares a wait with the objectives.
const toneOfWait = (seconds, o) => seconds >= o.alarm_seconds ? "bad" : seconds >= o.warning_seconds ? "warn" : "";
const overWords = (tone, o) => tone ? "over " + limit(tone === "bad" ? o.alarm_seconds : o.warning_seconds) : "";

function showSite(cell, site) {
  const e = part(cell, "bdi", "site");
  put(e, site ? printable(site) : "");
  show(e, !!site);
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

const traceColumn = ["Trace", (cell, item) => showTrace(cell, item.trace_id)];
const text = (title, of, kind) => [title, (cell, item) => put(cell, of(item)), kind];
