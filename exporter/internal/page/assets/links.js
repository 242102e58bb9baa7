// Links lead to addresses that other people wrote. Only http and https URLs without
// credentials become links, and for traces only hex ids.
const newTab = {target: "_blank", rel: "noopener noreferrer"};

function web(address) {
  try {
    const u = new URL(address);
    return /^https?:$/.test(u.protocol) && !u.username && !u.password ? u.href : null;
  } catch { return null; }
}

let traceTemplate = "";
const traceAddress = id => traceTemplate && /^[0-9a-f]{32}$/.test(id) ? web(traceTemplate.replace("{traceID}", id)) : null;

// showLink shows text, as a link if there is an address.
function showLink(parent, className, text, address) {
  const e = part(parent, "a", className);
  put(e, text ?? "");
  mark(e, "href", address);
  for (const name in newTab) mark(e, name, address ? newTab[name] : null);
  show(e, !!text);
  return e;
}

function showTraceLink(parent, id) {
  const e = showLink(parent, "trace", id ? printable(id) : "", id ? traceAddress(id) : null);
  mark(e, "title", id ? "trace " + e.textContent : null);
}

const showPageLink = (parent, address) => showLink(parent, "page", address && web(address) ? "its page" : "", address ? web(address) : null);

// here is the address of this page, without what it shows.
const here = () => location.origin + location.pathname.replace(/\/$/, "");

// views are what a process may serve of its waits beside this page, and how each is asked for.
const views = {
  __proto__: null,
  trace: ["timeline", r => "?" + new URLSearchParams(r.backend ? {resource: r.resource, backend: r.backend} : {resource: r.resource}), "opens in Perfetto"],
  profile: ["profile by holder", () => "?by=holder", "for go tool pprof"],
  history: ["history", () => "", "who blocked whom in the last hour"],
};

// showViews links to the views that are served, of a resource or of all.
function showViews(line, names, resource) {
  const list = Object.keys(views).filter(name => names.includes(name) && (resource || name !== "trace"));
  sync(line, list, name => name, () => el("span", "view"), (e, name) => {
    const [label, query, about] = views[name];
    mark(showLink(e, "go", label, `${here()}/${name}${query(resource)}`), "title", about);
  });
  show(line, list.length > 0);
}

// The fragment of the address has the filter and the opened rows, so that others can see the same.
const view = (() => {
  const open = new Set(), shown = new Set(), folds = document.querySelectorAll("details");
  function read() {
    const from = new URLSearchParams(location.hash.slice(1));
    open.clear();
    shown.clear();
    for (const name of from.getAll("open")) open.add(name);
    for (const id of from.getAll("show")) shown.add(id);
    for (const fold of folds) fold.open = shown.has(fold.parentNode.id);
    filter.value = from.get("q") ?? "";
  }
  function write() {
    const to = new URLSearchParams();
    if (filter.value) to.set("q", filter.value);
    for (const name of open) to.append("open", name);
    for (const id of shown) to.append("show", id);
    const hash = to.toString();
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  }
  for (const fold of folds) fold.addEventListener("toggle", () => {
    if (shown.has(fold.parentNode.id) === fold.open) return;
    if (fold.open) shown.add(fold.parentNode.id);
    else shown.delete(fold.parentNode.id);
    write();
  });
  addEventListener("hashchange", () => { read(); render(); });
  read();
  return {open, write, toggle(name) { if (!open.delete(name)) open.add(name); write(); }};
})();

// The link to the content must not replace that fragment.
document.querySelector(".skip").addEventListener("click", e => {
  e.preventDefault();
  byID("main").focus();
});
