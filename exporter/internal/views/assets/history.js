// Text from other people reaches the document through textContent and attributes only, never as markup.

const byID = id => document.getElementById(id);
const words = {
  holder: "behind a holder", no_quorum: "no quorum", quarantined: "quarantined", network: "network",
  backing_off: "backing off", unknown: "not reported",
};

function el(tag, className, ...content) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...content);
  return e;
}

function svg(tag, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) e.setAttribute(name, attributes[name]);
  if (text !== undefined) e.textContent = text;
  return e;
}

// mean rounds the calls at a time of a bucket.
const mean = n => n < 10 ? Math.round(n * 10) / 10 : Math.round(n);
const percent = share => share > 0 && share < .01 ? "<1%" : Math.round(share * 100) + "%";

const name = text => el("bdi", "name", printable(text));

// place is nameless without an instance: a holder may be unknown, a waiter is only unnamed.
function place(instance, callSite, nameless = "holder unknown", line = "span") {
  const e = el(line, "line");
  e.append(instance ? name(instance) : el("span", "dim", nameless));
  if (callSite) e.append(" ", el("span", "site", "at " + printable(callSite)));
  return e;
}

function resource(r) {
  const e = el("span", "line", name(r.resource));
  if (r.backend && severalBackends) e.append(" ", el("span", "dim", "(" + printable(r.backend) + ")"));
  if (r.kind) e.append(" ", el("span", "dim", printable(r.kind) + (r.slots > 0 ? `, ${r.slots} slots` : "")));
  return e;
}

// absolute turns a time of day in the browser's zone into an RFC 3339 time: the last one that has passed, or the
// first one after the time given.
function absolute(text, after) {
  const m = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text);
  if (!m) return text;
  const at = new Date(after ?? Date.now());
  at.setHours(+m[1], +m[2], +(m[3] ?? 0), 0);
  if (after !== undefined && at <= after) at.setDate(at.getDate() + 1);
  if (after === undefined && at > Date.now()) at.setDate(at.getDate() - 1);
  return at.toISOString();
}

let past, severalBackends = false, cursor = -1;

async function load(from, to) {
  const query = new URLSearchParams();
  if (from) query.set("from", from);
  if (to) query.set("to", to);
  history.replaceState(null, "", "?" + query);
  byID("flame").href = "flame?" + query;
  query.set("format", "json");
  byID("json").href = "?" + query;
  let error;
  try {
    const answer = await fetch("?" + query, {headers: {Accept: "application/json"}});
    const d = await answer.json();
    if (answer.ok) past = d; else error = d.error;
  } catch {
    error = "The process does not answer.";
  }
  byID("failed").hidden = !error;
  byID("failed").textContent = error ? "Not shown: " + error : "";
  if (error) byID("summary").textContent = past ? byID("summary").textContent : "";
  else render();
}

function render() {
  const d = past, from = Date.parse(d.from), to = Date.parse(d.to), complete = Date.parse(d.complete_from);
  severalBackends = new Set(d.resources.map(r => r.backend ?? "")).size > 1;
  cursor = -1;
  byID("instance").textContent = printable(d.instance);
  document.title = `Lock waits ${time(from)} to ${time(to)}`;
  byID("from").value = time(from);
  byID("to").value = time(to);
  const missing = byID("incomplete");
  missing.hidden = complete <= from;
  missing.textContent = complete >= to
    ? `Nothing is kept of this span: samples begin at ${time(complete)}.`
    : `Samples before ${time(complete)} are missing: they are older than an hour, or from before this process began to record, or there was no room for them.`;
  const day = new Date(from).toDateString() === new Date().toDateString() ? "" : new Date(from).toLocaleDateString() + " ";
  const summary = byID("summary");
  summary.replaceChildren(`${day}${time(from)} to ${time(to)}: `);
  if (d.waited_seconds) {
    const most = Math.max(...totals(d)) / d.bucket_seconds;
    summary.append(el("strong", "", duration(d.waited_seconds) + " of waiting"), `, up to ${plural(mean(most), "call")} at a time`);
  } else summary.append(el("strong", "", complete >= to ? "not recorded" : "no call waited"), complete >= to ? "" : " when a sample was taken");
  byID("content").hidden = !d.waited_seconds;
  if (!d.waited_seconds) return;
  drawStrip(d, from, complete);
  blockers(d);
  resources(d);
  if (byID("numbers").open) numbers();
}

const totals = d => Array.from({length: d.buckets}, (_, i) => d.classes.reduce((sum, c) => sum + c.waited_seconds_by_bucket[i], 0));

function drawStrip(d, from, complete) {
  const legend = byID("strip").querySelector(".legend");
  legend.replaceChildren(...d.classes.map(c => el("li", "c-" + c.class, el("span", "", words[c.class] ?? c.class, " ",
    el("span", "dim", `${duration(c.waited_seconds)}, ${percent(c.waited_seconds / d.waited_seconds)}`)))));
  const box = byID("strip").querySelector(".plot"), width = box.clientWidth || 800, height = 190, left = 34, bottom = 20, top = 8;
  const most = Math.max(...totals(d)) / d.bucket_seconds, step = niceStep(most, 4), high = Math.ceil(most / step) * step;
  const x = i => left + (width - left) * i / d.buckets, y = n => top + (height - bottom - top) * (1 - n / high);
  const s = svg("svg", {viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true"});
  const kept = Math.min(d.buckets, Math.max(0, (complete - from) / 1000 / d.bucket_seconds));
  if (kept > 0) s.append(svg("rect", {class: "missing", x: left, y: top, width: x(kept) - left, height: height - bottom - top}));
  for (let n = 0; n <= high + step / 2; n += step) {
    s.append(svg("line", {class: "grid", x1: left, x2: width, y1: y(n), y2: y(n)}),
      svg("text", {x: left - 6, y: y(n) + 4, "text-anchor": "end"}, number(n)));
  }
  const gap = width > 600 ? 1.5 : .5;
  for (let i = 0; i < d.buckets; i++) {
    let sum = 0;
    for (const c of d.classes) {
      const n = c.waited_seconds_by_bucket[i] / d.bucket_seconds;
      if (n) s.append(svg("rect", {class: "c-" + c.class, x: x(i), width: Math.max(1, x(i + 1) - x(i) - gap), y: y(sum + n), height: Math.max(1, y(sum) - y(sum + n))}));
      sum += n;
    }
  }
  const labels = width > 600 ? 6 : 3;
  for (let i = 0; i <= labels; i++) {
    const at = d.buckets * i / labels;
    s.append(svg("text", {x: x(at), y: height - 4, "text-anchor": i === 0 ? "start" : i === labels ? "end" : "middle"}, time(from + at * d.bucket_seconds * 1000)));
  }
  s.append(svg("rect", {class: "cursor", y: top, height: height - bottom - top, width: x(1) - x(0), visibility: "hidden"}));
  box.replaceChildren(s);
  box.at = event => Math.floor((event.clientX - box.getBoundingClientRect().left - left) / (width - left) * d.buckets);
  box.x = x;
}

const spanOf = (d, i) => {
  const from = Date.parse(d.from) + i * d.bucket_seconds * 1000;
  return `${time(from)} to ${time(Math.min(from + d.bucket_seconds * 1000, Date.parse(d.to)))}`;
};

const readings = (d, i) => d.classes.filter(c => c.waited_seconds_by_bucket[i])
  .map(c => `${number(mean(c.waited_seconds_by_bucket[i] / d.bucket_seconds))} ${words[c.class] ?? c.class}`);

function read(i) {
  const box = byID("strip").querySelector(".plot"), mark = box.querySelector(".cursor");
  if (!past || i < 0 || i >= past.buckets || !mark) return;
  cursor = i;
  mark.setAttribute("x", box.x(i));
  mark.setAttribute("visibility", "visible");
  const all = readings(past, i);
  byID("readout").textContent = `${spanOf(past, i)}: ${all.length ? "waiting calls: " + all.join(", ") : "no call waited"}`;
}

function numbers() {
  const d = past, rows = Array.from({length: d.buckets}, (_, i) => el("tr", "", el("td", "", spanOf(d, i)),
    ...d.classes.map(c => el("td", "num", number(mean(c.waited_seconds_by_bucket[i] / d.bucket_seconds))))));
  byID("numbers").querySelector("table").replaceChildren(
    el("thead", "", el("tr", "", el("th", "", "Time"), ...d.classes.map(c => el("th", "num", words[c.class] ?? c.class)))),
    el("tbody", "", ...rows));
}

let theme = "auto";
try { theme = localStorage.getItem("lockscope-theme") ?? theme; } catch { /* a browser may forbid it */ }
document.documentElement.setAttribute("data-theme", theme);

byID("span").addEventListener("submit", event => {
  event.preventDefault();
  const from = absolute(byID("from").value.trim()), to = byID("to").value.trim();
  const after = Date.parse(from);
  load(from, absolute(to, to && after ? after : undefined));
});
for (const b of document.querySelectorAll("[data-from]")) b.addEventListener("click", () => load(b.dataset.from, ""));
byID("numbers").addEventListener("toggle", () => { if (past && byID("numbers").open) numbers(); });
const plot = byID("strip").querySelector(".plot");
plot.addEventListener("pointermove", event => { if (plot.at) read(plot.at(event)); });
plot.addEventListener("keydown", event => {
  const last = (past?.buckets ?? 1) - 1;
  const to = {ArrowRight: Math.min(cursor + 1, last), ArrowLeft: Math.max(cursor - 1, 0), Home: 0, End: last}[event.key];
  if (to === undefined) return;
  event.preventDefault();
  read(to);
});
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width || !past?.waited_seconds) return;
  width = innerWidth;
  drawStrip(past, Date.parse(past.from), Date.parse(past.complete_from));
});
const query = new URLSearchParams(location.search);
load(query.get("from") ?? "", query.get("to") ?? "");
