// restartOf describes a restarted node: whether it votes, and for how long that matters.
function restartOf(n) {
  const r = n.restart;
  if (!r) return "";
  const what = (r.witnessed ? "restart detected " : "met shortly after its start, ") + ago(r.noticed_seconds);
  if (r.enforced) return `${what}: does not vote for ${duration(r.left_seconds)} more`;
  return `${what}: votes although locks it forgot may be held for ${duration(r.left_seconds)} more`;
}

const nodeTones = {__proto__: null, up: "good", quarantined: "warn", barred: "bad", down: "bad"};
const nodeWords = {__proto__: null, barred: "may not vote"};

// stateOf is the Board's state of a node. Other sources report only whether it answers. A node
// in quarantine does not vote, whatever it answered last.
function stateOf(n) {
  const state = n.state || (n.up ? "up" : "down");
  return state === "up" && n.restart?.enforced ? "quarantined" : state;
}

function showNodes(nodes) {
  const section = byID("nodes"), list = section.querySelector(".chips");
  sync(list, nodes, n => (n.backend ?? "") + "\0" + n.name, () => el("li", "node"), (item, n) => {
    const state = stateOf(n), left = state === "quarantined" && n.restart?.enforced ? ", " + duration(n.restart.left_seconds) + " left" : "";
    style(item, "node " + (nodeTones[state] ?? ""));
    showName(item, n.name);
    showBackend(item, n);
    showChip(item, "state", (nodeWords[state] ?? words(state)) + left, nodeTones[state] ?? "");
    put(part(item, "span", "p99"), n.calls > n.failures && n.p99_seconds ? "p99 " + duration(n.p99_seconds) : "");
    const failed = part(item, "span", "failed");
    put(failed, n.failures ? `${number(n.failures)} of ${number(n.calls)} failed` : "");
    show(failed, n.failures > 0);
    const answered = part(item, "span", "answered");
    put(answered, state === "down" ? n.quiet_seconds == null ? "never answered" : "answered " + ago(n.quiet_seconds) : "");
    show(answered, state === "down");
    showSub(item, n.error ? printable(n.error) : "", state === "up" ? "clip" : "bad");
    const restart = part(item, "span", "restart");
    put(restart, restartOf(n));
    style(restart, n.restart && !n.restart.enforced ? "sub warn" : "sub");
    show(restart, !!n.restart);
  });
  const voting = nodes.filter(n => stateOf(n) === "up").length;
  put(section.querySelector(".count"), nodes.length ? `${number(voting)} of ${number(nodes.length)} vote` : "");
  show(section.querySelector(".empty"), nodes.length === 0);
  show(list, nodes.length > 0);
  return voting;
}
