const root = document.documentElement;
const states = {live: "Live", polling: "Live, polling", lost: "Connection lost, trying again", paused: "Paused"};
let doc = null, heardAt = 0, state = "connecting";

function render() {
  if (!doc) return;
  traceTemplate = doc.trace_url ?? "";
  several = backendsOf(doc).size > 1;
  showOutages(doc);
  showDeadlocks(doc);
  announce(doc);
  showUnread(doc.unread);
  showSource();
  tiles();
  showNodes(doc.nodes, doc.sets);
  showBlocked(doc, matches);
  showInflicted(doc, matches);
  plot(doc);
  const held = heldBySemaphore(doc.held), omitted = doc.totals.held - doc.held.length;
  showHeld(held.filter(h => matches(h.resource, h.backend, ...(h.taken ?? [h]).flatMap(s => [s.holder, s.call_site, s.trace_id]))), held.length + omitted, omitted);
  showHistory(doc, matches);
  showSlowest(doc, matches);
  findings();
  put(byID("instance"), printable(doc.instance));
  showViews(byID("views"), doc.views, null);
  showFleet(doc.fleet);
  titled();
}

// showSource hides calls that have ended from who reads the nodes, and knows of none.
function showSource() {
  const own = doc.read_seconds == null && !doc.unread;
  for (const id of ["t-wait", "plot", "slowest", "measured"]) show(byID(id), own);
  put(byID("t-held").firstElementChild, own ? "Held here" : "Held");
}

// showFleet links to the page of all processes, here or elsewhere.
function showFleet(address) {
  const link = byID("fleet"), to = address ? web(new URL(address, here() + "/").href) : null;
  mark(link, "href", to);
  show(link, !!to);
}

// titled shows the news in the tab's title.
function titled() {
  const cycles = doc.deadlocks.filter(d => !d.over).length;
  const news = state === "lost" ? "No connection \u00b7 " : doc.sets.some(s => s.no_quorum) ? "No quorum \u00b7 " : cycles ? (cycles === 1 ? "Deadlock" : number(cycles) + " deadlocks") + " \u00b7 " : "";
  document.title = `${news}${number(doc.totals.waiting)} waiting, ${number(doc.totals.held)} held \u00b7 Locks`;
}

function age() {
  const seconds = doc ? Math.max(0, Math.round((performance.now() - heardAt) / 1000)) : 0;
  const read = doc?.read_seconds, of = seconds + Math.round(read ?? 0);
  showConnection(state, of);
  put(byID("updated"), !doc ? "" : read == null ? `updated ${seconds} s ago` : `read from the nodes ${of} s ago`);
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
  if (doc) titled();
});
setInterval(age, 1000);
