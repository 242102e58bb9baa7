// The tables of blockers and resources.

// spark is small, and what it shows is in the cell's text, too.
function spark(d, row) {
  const most = Math.max(...row.waited_seconds_by_bucket), s = svg("svg", {class: "spark", viewBox: `0 0 ${d.buckets} 10`, preserveAspectRatio: "none", "aria-hidden": "true"});
  s.append(svg("line", {class: "base", x1: 0, x2: d.buckets, y1: 10, y2: 10, "vector-effect": "non-scaling-stroke"}));
  row.waited_seconds_by_bucket.forEach((n, i) => {
    if (n) s.append(svg("rect", {x: i, width: .85, y: 10 - Math.max(1, 10 * n / most), height: Math.max(1, 10 * n / most)}));
  });
  return s;
}

function cell(className, label, ...content) {
  const e = el("td", className, ...content);
  e.setAttribute("role", "cell");
  if (label) e.setAttribute("data-label", label);
  return e;
}

function table(id, heads, rows, omitted, what) {
  const section = byID(id), t = section.querySelector("table");
  const head = el("tr", "", ...heads.map(([text, className]) => {
    const e = el("th", className, text);
    e.setAttribute("role", "columnheader");
    e.setAttribute("scope", "col");
    return e;
  }));
  head.setAttribute("role", "row");
  for (const r of rows) r.setAttribute("role", "row");
  const parts = [el("thead", "", head), el("tbody", "", ...rows)];
  for (const p of parts) p.setAttribute("role", "rowgroup");
  t.replaceChildren(...parts);
  t.hidden = !rows.length;
  section.querySelector(".count").textContent = number(rows.length + omitted);
  const more = section.querySelector(".more"), empty = section.querySelector(".empty");
  more.hidden = !omitted;
  more.textContent = `${plural(omitted, what)} with less waiting ${omitted === 1 ? "is" : "are"} not listed.`;
  if (empty) empty.hidden = rows.length > 0;
}

function waited(d, row) {
  const bar = el("span", "share");
  bar.style.width = Math.max(2, row.waited_seconds / d.waited_seconds * 100) + "%";
  return [cell("num", "", duration(row.waited_seconds), el("span", "hide", " of waiting")),
    cell("num share-cell", "", percent(row.waited_seconds / d.waited_seconds), bar)];
}

const when = (d, row) => cell("when", "", spark(d, row), el("span", "dim", `${time(Date.parse(row.first))} to ${time(Date.parse(row.last))}`));

function blockers(d) {
  table("blockers", [["Holder"], ["When"], ["Waited", "num"], ["Share", "num"], ["Resources"], ["Waiting calls"]],
    d.blockers.map(b => {
      const what = cell("what", "Holding", ...b.resources.map(resource));
      const more = b.resources_total - b.resources.length;
      if (more > 0) what.append(el("span", "line dim", `and ${number(more)} more`));
      if (b.waits_for?.length) {
        const waits = el("span", "line root", "waited itself for ");
        waits.append(...b.waits_for.slice(0, 2).map(resource));
        what.append(waits);
      }
      return el("tr", "", cell("who", "", place(b.holder, b.call_site, undefined, "div")), when(d, b), ...waited(d, b), what,
        cell("by", "Waiting", ...b.waiters.map(w => {
          const line = place(w.instance, w.call_site, holderName());
          line.append(" ", el("span", "dim", percent(w.waited_seconds / b.waited_seconds)));
          return line;
        })));
    }), d.omitted.blockers, "holder");
}

function resources(d) {
  table("resources", [["Resource"], ["When"], ["Waited", "num"], ["Share", "num"], ["Held by"], ["Classes"]],
    d.resources.map(r => el("tr", "", cell("who", "", resource(r)), when(d, r), ...waited(d, r),
      cell("what", "Held by", ...(r.blockers.length ? r.blockers.map(b => place(b.instance, b.call_site)) : [el("span", "dim", "no known holder")])),
      cell("by", "Classes", ...Object.entries(r.waited_seconds_by_class).sort((a, b) => b[1] - a[1])
        .map(([c, n]) => el("span", "line", words[c] ?? c, " ", el("span", "dim", percent(n / r.waited_seconds))))))),
    d.omitted.resources, "resource");
}
