// clockOf describes a clock that is off by a second or more.
const clockOf = n => Math.abs(n.clock_skew_seconds ?? 0) < 1 ? "" : `clock ${duration(Math.abs(n.clock_skew_seconds))} ${n.clock_skew_seconds > 0 ? "ahead of" : "behind"} this process's`;

// restartOf describes a node that may have forgotten locks: whether it votes, and for how long that matters.
function restartOf(n) {
  const r = n.restart;
  if (!r) return "";
  const what = (r.evicted ? "evicted keys " : r.witnessed ? "restart detected " : "met shortly after its start, ") + ago(r.noticed_seconds);
  if (r.enforced) return `${what}: does not vote for ${duration(r.left_seconds)} more`;
  return `${what}: votes although locks it forgot may be held for ${duration(r.left_seconds)} more`;
}

const nodeTones = {__proto__: null, up: "good", shaky: "warn", quarantined: "warn", barred: "bad", down: "bad"};
const nodeWords = {__proto__: null, barred: "may not vote"};

// stateOf is the Board's state of a node. Other sources report only whether it answers. A node
// in quarantine does not vote, whatever it answered last.
function stateOf(n) {
  const state = n.state || (n.up ? "up" : "down");
  return state === "up" && n.restart?.enforced ? "quarantined" : state;
}

const share = (some, all) => {
  const percent = 100 * some / all;
  return percent >= 10 ? percent.toFixed(0) : percent >= .1 ? percent.toFixed(1) : "< 0.1";
};

// nodeTone is grey for what is not known any more.
const nodeTone = n => stateOf(n) === "up" && n.asked_seconds > quiet ? "" : nodeTones[stateOf(n)] ?? "";

// stateWords name a node's state, and what makes it so.
function stateWords(n) {
  const state = stateOf(n);
  if (state === "unknown") return "not asked" + (n.asked_seconds == null ? " yet" : " for " + duration(n.asked_seconds));
  if (state === "shaky") return `shaky: ${share(n.failures, n.calls)}\u00a0% fail`;
  const left = state === "quarantined" && n.restart?.enforced ? ", " + duration(n.restart.left_seconds) + " left" : "";
  return (nodeWords[state] ?? words(state)) + left;
}

// heard says when a node that does not vote last answered, and of one that votes for how long it has.
function heard(n) {
  if (stateOf(n) === "up" && n.asked_seconds > quiet) return "asked " + ago(n.asked_seconds);
  if (stateOf(n) === "down") return n.quiet_seconds == null ? "never answered" : "answered " + ago(n.quiet_seconds);
  return n.state_seconds == null ? "" : "for " + duration(n.state_seconds);
}

const nodeColumns = [
  ["Node", (cell, n, row) => { showName(cell, n.name); showBackend(cell, n); style(row, stateOf(n)); }, "names"],
  ["State", (cell, n) => {
    showChip(cell, "state", stateWords(n), nodeTone(n));
    put(part(cell, "span", "answered"), heard(n));
  }, "state"],
  text("p50", n => n.p50_seconds ? duration(n.p50_seconds) : "\u2013", "num p50s"),
  text("p99", n => n.p99_seconds ? duration(n.p99_seconds) : "\u2013", "num p99s"),
  text("Commands", n => number(n.calls), "num calls"),
  ["Failed", (cell, n) => {
    put(cell, n.failures ? `${number(n.failures)} (${share(n.failures, n.calls)}\u00a0%)` : "0");
    cell.classList.toggle("bad", !!n.failing || n.failures > 0 && stateOf(n) === "down");
    cell.classList.toggle("none", !n.failures);
  }, "num fails"],
  ["Not asked", (cell, n) => { put(cell, number(n.not_asked ?? 0)); cell.classList.toggle("none", !n.not_asked); }, "num skips"],
  ["Last error", (cell, n) => {
    const when = n.error_seconds == null ? "" : ago(n.error_seconds) + ": ", state = stateOf(n);
    showSub(cell, n.error ? when + printable(brief(n.error)) : "", state === "up" ? "clip" : "bad");
    const restart = part(cell, "span", "restart");
    put(restart, restartOf(n));
    style(restart, n.restart && !n.restart.enforced ? "sub warn" : "sub");
    show(restart, !!n.restart);
    const clock = part(cell, "span", "clock");
    put(clock, clockOf(n));
    style(clock, "sub warn");
    show(clock, clockOf(n) !== "");
    cell.classList.toggle("none", !n.error && !n.restart && !clockOf(n));
  }, "why"],
];

const showNodes = (() => {
  const section = byID("nodes"), box = section.querySelector(".box"), blocked = byID("blocked");
  const list = tableOf(nodeColumns, "", n => (n.backend ?? "") + "\0" + n.name);
  list.root.setAttribute("aria-labelledby", "h-nodes");
  box.append(list.root);
  let raised = -Infinity;

  // arrange puts the nodes first while one of them is out, and does not move them for one that was late once.
  function arrange(nodes) {
    const now = performance.now();
    if (nodes.some(n => !/^(up|unknown)$/.test(stateOf(n)) && (n.state_seconds ?? 9) >= 2)) raised = now;
    const [first, next] = now - raised < 10e3 ? [section, blocked] : [blocked, section];
    if (first.nextElementSibling !== next) place(first.parentNode, first, next);
    section.classList.toggle("raised", first === section);
    section.classList.toggle("told", doc.sets.some(s => s.no_quorum)); // the banner has their errors
  }

  return (nodes, sets) => {
    list.show(nodes);
    const up = nodes.filter(n => stateOf(n) === "up").length;
    put(section.querySelector(".others"), up ? `${plural(up, "other node is", "other nodes are")} up` : "");
    const voting = sets.reduce((n, s) => n + s.voting, 0);
    put(section.querySelector(".count"), nodes.length ? `${number(voting)} of ${number(nodes.length)} vote` : "");
    show(section.querySelector(".empty"), nodes.length === 0);
    show(box, nodes.length > 0);
    arrange(nodes);
  };
})();
