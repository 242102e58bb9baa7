const showHistory = (() => {
  const section = byID("history");
  const list = table("history", [
    ["Resource", (cell, h) => { showName(cell, h.resource); showBackend(cell, h); }, "names"],
    ["Last held by", (cell, h) => { showName(cell, h.holds[0].holder); showChip(cell, "lost", h.holds[0].unreleased ? "lost, not released" : "", "warn"); showSite(cell, h.holds[0].call_site); }, "names"],
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

// showInflicted shows who makes others wait, of a source that counts it.
const showInflicted = (() => {
  const most = 5, section = byID("inflicted");
  const list = table("inflicted", [
    ["Holder", (cell, i) => { showName(cell, holderName(i.holder)); showSite(cell, i.call_site); }, "names"],
    ["Resource", (cell, i) => { showName(cell, i.resource); showBackend(cell, i); }, "names"],
    text("Waiting caused", i => duration(i.seconds), "num"),
    text("Waits", i => i.waits ? number(i.waits) : "\u2013", "num"),
  ], i => [i.holder, i.call_site, lockKey(i)].join("\0"));
  return (doc, matches) => {
    const all = doc.inflicted ?? [], found = all.filter(i => matches(i.holder, i.resource, i.backend, i.call_site));
    show(section, all.length > 0);
    if (all.length) list(found.slice(0, most), all.length, Math.max(0, found.length - most));
  };
})();
