// showDeadlocks shows every cycle completely.
const showDeadlocks = (() => {
  const box = byID("deadlocks");

  function update(item, d) {
    style(item, d.over ? "banner over" : "banner alarm");
    put(part(item, "strong", "lead"), d.over ? "Deadlock resolved. " : "Deadlock. ");
    put(part(item, "span", "since"), `Found ${ago(d.found_seconds)}: `);
    sync(part(item, "span", "cycle"), d.cycle.map((l, i) => ({...l, next: d.cycle[(i + 1) % d.cycle.length]})), lockKey, () => el("span", "link"), (e, l) => {
      const who = part(e, "bdi", "who");
      put(who, l.holder ? printable(holderName(l.holder.holder, l.holder.never_expires)) : "the holder");
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

// showOutages says once what keeps every lock of a set of nodes from being acquired.
const showOutages = (() => {
  const box = byID("outages");

  function update(item, s) {
    style(item, "banner alarm");
    const read = doc.read_seconds != null, set = telling(s) ? ` on ${printable(s.backend)}` : "";
    put(part(item, "strong", "lead"), read ? `Most nodes${set} are out: ${number(s.voting)} of ${number(s.nodes)} ${s.may_not_vote?.length ? "vote" : "answer"}. ` : headline(s));
    const since = s.no_quorum_seconds == null ? "" : `, for ${duration(s.no_quorum_seconds)} now`;
    put(part(item, "span", "means"), read ? "A lock that needs a majority of them can be neither acquired nor renewed. " : `No lock can be acquired or renewed${since}. `);
    put(part(item, "span", "down"), s.down?.length ? `Down: ${s.down.map(printable).join(", ")} (${lastAnswer(s)}). ` : "");
    put(part(item, "span", "silent"), s.may_not_vote?.length ? `May not vote: ${s.may_not_vote.map(printable).join(", ")}.` : "");
  }

  const lastAnswer = s => (s.down_quiet_seconds == null ? "never answered" : "last answer " + ago(s.down_quiet_seconds)) + (s.down_error ? ": " + printable(brief(s.down_error)) : "");

  return doc => {
    const lost = doc.sets.filter(s => s.no_quorum);
    sync(box, lost, s => s.backend ?? "", () => el("li"), update);
    show(box, lost.length > 0);
  };
})();

// headline is the same as long as nothing changes.
const headline = s => `No quorum${telling(s) ? " on " + printable(s.backend) : ""}: ${number(s.voting)} of ${number(s.nodes)} nodes vote, ${number(s.quorum)} needed. `;

// announce tells those who cannot see the banners what is new in them, and not how the seconds go by.
function announce(doc) {
  const cycles = doc.deadlocks.filter(d => !d.over).length;
  const news = doc.sets.filter(s => s.no_quorum).map(headline);
  if (cycles) news.push(cycles === 1 ? "Deadlock." : `${number(cycles)} deadlocks.`);
  put(byID("news"), news.join(" ").trim());
}

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
