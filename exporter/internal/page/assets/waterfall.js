const outcomes = {
  good: ["acquired", "granted", "released", "woken", "handed_over", "refilled"],
  warn: ["refused", "held", "timeout", "canceled", "closed", "not_held"],
  bad: ["failed", "no_quorum", "lost", "error", "invalid"],
};
const toneOf = outcome => Object.keys(outcomes).find(tone => outcomes[tone].includes(outcome)) ?? "";
const waits = {__proto__: null, holder: "wait for the holder", local: "wait for callers here", backing_off: "wait for nodes"};

const showSlowest = (() => {
  const section = byID("slowest"), list = section.querySelector("ul");
  const open = new Map(); // by key: what somebody looks at stays when the list moves on
  const keyOf = a => [a.backend, a.resource, a.at, a.took_seconds, a.trace_id].join("\0");
  let ids = 0;

  function make(a) {
    const panel = el("div", "steps");
    const button = el("button", "fall", el("bdi", "name"), el("span", "track", el("i")),
      el("span", "num took"), el("span", "result", el("span", "chip")), el("span", "num when dim"));
    panel.id = "fall-" + ++ids;
    panel.hidden = true;
    button.type = "button";
    button.setAttribute("aria-controls", panel.id);
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => toggle(button, panel, a));
    return el("li", "", button, panel);
  }

  function toggle(button, panel, a) {
    const opened = !open.delete(keyOf(a));
    if (opened) {
      open.set(keyOf(a), a);
      if (!panel.firstChild) panel.append(...details(a));
    }
    show(panel, opened);
    mark(button, "aria-expanded", opened);
  }

  function update(item, a) {
    const [name, track, took, result, when] = item.firstChild.children;
    put(name, printable(a.resource) + (telling(a) ? ` (${printable(a.backend)})` : ""));
    track.firstChild.style.transform = `scaleX(${Math.min(1, a.took_seconds / a.longest).toFixed(4)})`;
    put(took, duration(a.took_seconds));
    put(result.firstChild, words(a.outcome));
    style(result.firstChild, "chip " + toneOf(a.outcome));
    put(when, ago(a.ago));
  }

  function details(a) {
    const about = el("p", "about", el("span", "", "started " + time(Date.parse(a.at))));
    if (a.trace_id) about.append(el("span", "", "trace ", el("bdi", "name", printable(a.trace_id))));
    if (a.error) about.append(el("span", "bad", printable(a.error)));
    if (!a.steps.length) return [about, el("p", "dim", "No steps were recorded.")];
    const whole = Math.max(a.took_seconds, ...a.steps.map(s => s.start_seconds + s.took_seconds)) || 1;
    const list = el("ul", "stepsof", ...a.steps.map(s => step(s, whole)));
    if (a.steps_omitted) list.append(el("li", "dim", `${plural(a.steps_omitted, "more step")} not kept`));
    return [about, axis(whole, list), list];
  }

  // axis returns the scale above the steps, and gives the list its grid.
  function axis(whole, list) {
    const every = niceStep(whole, 4), line = el("div");
    for (let at = 0; at <= whole * .97; at += every) {
      const tick = el("span", "", at ? duration(at) : "0");
      tick.style.left = 100 * at / whole + "%";
      line.append(tick);
    }
    list.style.setProperty("--every", 100 * every / whole + "%");
    const scale = el("div", "axis", line);
    scale.setAttribute("aria-hidden", "true");
    return scale;
  }

  function step(s, whole) {
    const tone = s.kind === "wait" ? "wait" : toneOf(s.outcome);
    const bar = el("i", tone);
    const share = seconds => (100 * Math.max(0, Math.min(1, seconds / whole))).toFixed(2) + "%";
    bar.style.left = `min(${share(s.start_seconds)}, 100% - 3px)`;
    bar.style.width = share(Math.min(s.took_seconds, whole - s.start_seconds));
    const lane = el("div", "lane", bar);
    lane.setAttribute("aria-hidden", "true");
    const what = el("span", "what", el("bdi", s.kind === "node" ? "name" : "", s.kind === "wait" ? waits[s.name] ?? words(s.name) : printable(s.name)));
    const how = el("span", "how", duration(s.took_seconds) + " ", el("span", "chip " + (s.kind === "wait" ? "" : tone), words(s.outcome)));
    if (s.detail) how.append(" ", el("bdi", "dim", printable(s.detail)));
    return el("li", "step " + (s.kind === "attempt" || s.kind === "node" ? s.kind : "pause"), what, lane, how);
  }

  return (doc, matches) => {
    const at = Date.parse(doc.at);
    const listed = new Set(doc.slowest.map(keyOf));
    const kept = [...open.values()].filter(a => !listed.has(keyOf(a)));
    const all = [...doc.slowest, ...kept].sort((a, b) => b.took_seconds - a.took_seconds);
    const shown = all.filter(a => open.has(keyOf(a)) || matches(a.resource, a.backend, a.trace_id));
    for (const a of all) {
      a.longest = all[0].took_seconds || 1;
      a.ago = (at - Date.parse(a.at)) / 1000;
    }
    sync(list, shown, keyOf, make, update);
    counted(section, shown.length, all.length);
    show(list, shown.length > 0);
  };
})();
