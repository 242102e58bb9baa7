// quiet is the age in seconds from which nothing that is shown is green.
const quiet = 15;

// showConnection does not call live what was read long ago.
function showConnection(state, seconds) {
  if (!(state in states)) return;
  const old = /live|polling/.test(state) && seconds > quiet;
  mark(root, "data-connection", old ? "polling" : state);
  put(byID("connection"), old ? "Old" : states[state]);
}

// connection receives documents from a stream, or by polling if there is none. It
// reports every document and every change of state: live, polling, lost or paused. Without
// streams it only polls.
function connection(onDocument, onState, streams = true) {
  const patience = 5000; // a stream or an answer that takes longer is as good as lost
  const pollEvery = 2000, pollsPerStream = 15, longestPause = 5000;
  let stream = null, timer = 0, asking = null, pause = 1000, paused = false;

  function stop() {
    stream?.close();
    asking?.abort();
    clearTimeout(timer);
    stream = asking = null;
  }

  function later(ms, next) {
    clearTimeout(timer);
    timer = setTimeout(next, ms);
  }

  function received(text, state) {
    onDocument(JSON.parse(text));
    onState(state);
    pause = 1000;
  }

  function connect() {
    stop();
    if (!streams || !window.EventSource) return poll(Infinity);
    let heard = false;
    const failed = () => { stop(); poll(heard ? 0 : pollsPerStream); };
    stream = new EventSource("?format=events");
    stream.onerror = failed;
    stream.onmessage = event => {
      heard = true;
      received(event.data, "live");
      later(patience, failed);
    };
    later(patience, failed);
  }

  // poll asks once, and then left times more before it tries the stream again.
  async function poll(left) {
    const mine = asking = new AbortController();
    const limit = setTimeout(() => mine.abort(), patience);
    let text = null;
    try {
      const answer = await fetch("?format=json", {signal: mine.signal, cache: "no-store"});
      if (answer.ok) text = await answer.text();
    } catch { /* no answer is what lost says */ }
    clearTimeout(limit);
    if (mine !== asking) return;
    if (text === null) {
      onState("lost");
      later(pause, () => poll(0));
      pause = Math.min(longestPause, pause * 1.6);
      return;
    }
    received(text, left ? "polling" : "live");
    later(left ? pollEvery : 0, left ? () => poll(left - 1) : connect);
  }

  // A hidden page asks for nothing.
  const resume = () => { if (!paused && !document.hidden) connect(); else stop(); };
  document.addEventListener("visibilitychange", resume);
  addEventListener("pagehide", stop);
  addEventListener("pageshow", e => { if (e.persisted) resume(); });
  resume();

  return pausing => {
    paused = pausing;
    if (paused) onState("paused");
    resume();
  };
}
