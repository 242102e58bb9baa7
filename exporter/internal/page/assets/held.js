const resourceColumn = ["Resource", (cell, item) => {
  showName(cell, item.resource);
  showBackend(cell, item);
  showKind(cell, item, item.fence);
  const waiters = item.waiters ?? 0, some = item.kind === "election" ? plural(waiters, "candidate") + " in line" : `${number(waiters)} waiting here`;
  showChip(cell, "queue", waiters ? some : "", item.kind === "election" ? "" : "warn");
}, "names"];
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
  const late = h.unrenewed_seconds;
  showSub(cell, late == null ? "" : `not renewed for ${duration(late)}`, "warn");
  track.style.visibility = known ? "" : "hidden";
  if (!known) return;
  const left = Math.max(0, Math.min(1, h.validity_seconds / fullOf(row, h)));
  style(bar, (left < (row.left ?? 1) ? "down " : "") + (left < .12 ? "bad" : left < .34 ? "warn" : ""));
  bar.style.transform = `scaleX(${left.toFixed(4)})`;
  row.left = left;
}

const fewReaders = 8; // that a row lists

const showHeld = table("held", [
  resourceColumn,
  ["Holder", (cell, h) => {
    const one = h.taken ? {} : h, taken = h.taken ?? [], shown = h.kind === "read" ? taken.slice(0, fewReaders) : taken;
    showTaken(cell, shown);
    showName(cell, one.readers > 1 ? nameReaders(one) : h.taken ? "" : holderName(one.holder, one.validity_seconds == null));
    showSite(cell, one.call_site);
    showPageLink(cell, one.page);
    showSub(cell, shown.length < taken.length ? `and ${plural(taken.length - shown.length, "more reader")}` : one.nodes ? "on " + plural(one.nodes, "node") : "");
  }, "names"],
  text("Age", h => duration(h.age_seconds), "num"),
  ["Validity left", showValidity, "wide"],
  text("Renewed", h => h.taken?.length > 1 ? "\u2013" : number(h.extends) + "\u00d7", "num"),
  text("Fence", h => h.taken?.length > 1 ? "\u2013" : h.fence ?? "\u2013", "num wide"),
  traceColumn,
], h => lockKey(h) + "\0" + (h.taken ? "" : (h.fence ?? "") + "\0" + h.holder));
