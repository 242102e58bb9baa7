// showDeadlocks shows every cycle completely.
const showDeadlocks = (() => {
  const box = byID("deadlocks");

  function update(item, d) {
    style(item, d.over ? "banner over" : "banner alarm");
    put(part(item, "strong", "lead"), d.over ? "Deadlock resolved. " : "Deadlock. ");
    put(part(item, "span", "since"), `Found ${ago(d.found_seconds)}: `);
    sync(part(item, "span", "cycle"), d.cycle.map((l, i) => ({...l, next: d.cycle[(i + 1) % d.cycle.length]})), lockKey, () => el("span", "link"), (e, l) => {
      const who = part(e, "bdi", "who");
      put(who, l.holder?.holder ? printable(l.holder.holder) : "the holder");
      style(who, l.holder?.holder ? "who name" : "who");
      showSite(e, l.holder?.call_site);
      showTraceLink(e, l.holder?.trace_id);
      put(part(e, "span", "holds"), " holds ");
      showName(e, l.resource);
      showBackend(e, l);
      put(part(e, "span", "waits"), ` and waits${l.next.for_seconds ? " " + duration(l.next.for_seconds) : ""} for `);
      const next = part(e, "bdi", "next");
      put(next, printable(l.next.resource));
      style(next, "next name");
      showChip(e, "next-set", telling(l.next) ? printable(l.next.backend) : "");
    });
  }

  return doc => {
    sync(box, doc.deadlocks.slice(0, 5), d => d.cycle.map(lockKey).join("\0"), () => el("li"), update);
    show(box, doc.deadlocks.length > 0);
  };
})();

// showUnread says which locks and waits are unknown.
function showUnread(why) {
  show(byID("unread"), !!why);
  put(byID("unread-why"), why ? printable(why) : "");
}

// showLost says that the data below is old.
function showLost(state, seconds) {
  const lost = state === "lost";
  show(byID("lost"), lost);
  byID("main").classList.toggle("stale", lost);
  if (lost) put(byID("lost-for"), ago(seconds));
}
