// What a lock is part of: an election, a set of locks, a semaphore, whose slots are NAME#0, NAME#1 and so on, or a
// read/write lock.
const constructs = {__proto__: null, election: "election", set: "set", semaphore: "semaphore", read: "reader", write: "writer"};

// slotOf returns the semaphore of a slot and its number, -1 for callers that take any: NAME, or NAME#* for their queue.
// It is null for other locks.
function slotOf(x) {
  if (x.kind !== "semaphore" || !(x.slots > 0)) return null;
  const [, name, slot] = /^([^]+)#(\d+|\*)$/.exec(x.resource) ?? [null, x.resource, "*"];
  return {name, slot: slot === "*" ? -1 : +slot, key: `${name}\0${x.backend ?? ""}`};
}

// slotsInUse says "at least" where holders in other processes can be unknown.
function slotsInUse(x) {
  const used = x.slots_in_use ?? 0, whole = doc.read_seconds != null && !doc.unread && !doc.omitted.held;
  return `${whole || used >= x.slots ? "" : "at least "}${number(used)} of ${plural(x.slots, "slot")} in use`;
}

// standBy counts candidates, which do not wait.
const standBy = n => n ? plural(n, "candidate stands by", "candidates stand by") : "";

const termOf = fence => fence ? `election, term ${fence}` : "election";

const readWrite = x => x.kind === "read" || x.kind === "write";
const readersOf = x => x.readers ?? x.taken?.length ?? 1;

// nameReaders lists the first readers. It says how many others there are if each is known by its name.
function nameReaders(x) {
  const names = (x.read_by ?? []).map(n => printable(n.instance ?? n));
  return names.length ? `read by ${names.join(", ")}${x.readers > names.length ? " and others" : ""}` : "";
}

// showKind marks a lock that is part of something.
function showKind(cell, x, fence) {
  showChip(cell, "kind", x.kind === "election" ? termOf(fence) : x.kind === "read" ? plural(readersOf(x), "reader") : x.taken || slotOf(x) ? slotsInUse(x) : constructs[x.kind] ?? "");
}

// bySemaphore makes one row of the slots of a semaphore: whoever waits for one goes on with the first that is free.
function bySemaphore(rows, held) {
  const groups = new Map();
  return rows.filter(r => {
    const of = slotOf(r), group = of && groups.get(of.key);
    if (!of) return true;
    if (group) return void joinSlot(group, r, of.slot);
    Object.assign(r, {slot: r.resource, resource: of.name, holders: new Map(), chain: []});
    for (const h of held) if (slotOf(h)?.key === of.key) r.holders.set(slotOf(h).slot, h);
    addHolder(r, r.holder, of.slot);
    groups.set(of.key, r);
    return true;
  });
}

function addHolder(row, b, slot) {
  if (b && slot >= 0 && !b.handed_over && !row.holders.has(slot)) row.holders.set(slot, {...b, validity_seconds: b.remaining_seconds});
}

function joinSlot(row, r, slot) {
  addHolder(row, r.holder, slot);
  row.waiting += r.waiting;
  row.listed += r.listed;
  row.failing = (row.failing ?? 0) + (r.failing ?? 0);
  row.longest_seconds = Math.max(row.longest_seconds, r.longest_seconds);
  row.error ??= r.error;
  row.votes ??= r.votes;
  row.deadlock ||= r.deadlock;
  row.by_class = {...row.by_class};
  for (const [c, n] of Object.entries(r.by_class ?? {})) row.by_class[c] = (row.by_class[c] ?? 0) + n;
  row.waiters = [...row.waiters, ...r.waiters].sort((a, b) => b.for_seconds - a.for_seconds);
  row.holds = [...row.holds ?? [], ...r.holds ?? []].sort((a, b) => a.ended_seconds - b.ended_seconds);
}

// readerOf is for a reader of this process what slotOf is for a slot. Readers that the nodes name are one row already.
const readerOf = (h, slot) => h.kind === "read" && !h.readers ? {name: h.resource, slot, key: `\0${lockKey(h)}`} : null;

// heldBySemaphore makes one row of the held slots of a semaphore, and one of the readers of a lock: with the oldest
// hold, and the validity that ends first.
function heldBySemaphore(held) {
  const groups = new Map();
  return held.flatMap((h, at) => {
    const of = slotOf(h) ?? readerOf(h, at), group = of && groups.get(of.key);
    if (!of) return h;
    if (!group) {
      groups.set(of.key, {...h, resource: of.name, waiters: h.waiters ?? 0, taken: [{...h, slot: of.slot}]});
      return groups.get(of.key);
    }
    const {taken} = group, least = (h.validity_seconds ?? Infinity) < (group.validity_seconds ?? Infinity) ? h : group;
    taken.push({...h, slot: of.slot});
    taken.sort((a, b) => a.slot - b.slot);
    const {validity_seconds, extends: renewals, unrenewed_seconds} = least;
    Object.assign(group, {validity_seconds, extends: renewals, unrenewed_seconds, age_seconds: Math.max(group.age_seconds, h.age_seconds), waiters: group.waiters + (h.waiters ?? 0)});
    return [];
  });
}

// showTaken lists the holders of slots.
function showTaken(cell, taken, more = () => "") {
  sync(part(cell, "div", "list"), taken, s => String(s.slot), () => el("div", "waiter"), (e, s) => {
    put(part(e, "span", "callers"), s.kind === "read" ? "reader" : `slot ${s.slot}`);
    showName(e, holderName(s.holder, s.never_expires));
    showSite(e, s.call_site);
    showPageLink(e, s.page);
    showSub(e, more(s));
  });
}

const slotColumns = [
  ["Slot", (cell, h) => put(cell, `slot ${h.slot}`)],
  ["Held by", (cell, h) => {
    showName(cell, holderName(h.holder, h.never_expires));
    showSite(cell, h.call_site);
    showPageLink(cell, h.page);
  }, "names"],
  text("For", h => duration(h.age_seconds), "num"),
  text("Validity left", h => duration(h.validity_seconds), "num"),
  traceColumn,
];
