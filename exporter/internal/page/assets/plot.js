const plot = (() => {
  const section = byID("plot"), canvas = section.querySelector(".canvas"), readout = byID("readout");
  const picture = svg("svg", {"aria-hidden": "true"});
  canvas.append(picture);
  const most = 300, gap = 15; // seconds shown; seconds without a point that break a line
  const pad = {left: 62, right: 38, top: 8, bottom: 20};
  let points = [], stalls = [], now = 0, span = most, chosen = null, width = 0, height = 0;

  const x = t => pad.left + (1 - (now - t) / span) * (width - pad.left - pad.right);
  let y = () => 0;

  // scale sets y and returns its ticks.
  function scale() {
    const values = points.flatMap(p => [p.p50, p.p99]).filter(v => v > 0);
    const max = Math.max(...values, 1e-4), min = Math.max(Math.min(...values, max), 1e-5);
    const bottom = height - pad.bottom, room = bottom - pad.top;
    if (max / min > 50) {
      const low = Math.floor(Math.log10(min)), high = Math.max(low + 1, Math.log10(max * 1.15));
      y = v => bottom - Math.max(0, (Math.log10(Math.max(v, 1e-9)) - low) / (high - low)) * room;
      const ticks = [];
      for (let e = low; e <= high; e++) for (const m of high - low < 2.2 && height >= 160 ? [1, 3] : [1]) if (Math.log10(m) + e <= high) ticks.push(m * 10 ** e);
      return {ticks, log: true};
    }
    const step = niceStep(max, height < 160 ? 2 : 4);
    const top = Math.ceil(max / step - 1e-9) * step;
    y = v => bottom - v / top * room;
    const ticks = [];
    for (let i = 0; i * step <= top * 1.001; i++) ticks.push(i * step);
    return {ticks, log: false};
  }

  // runs splits the points where nothing was acquired for a while.
  function runs() {
    const all = [];
    for (const [i, p] of points.entries()) {
      if (i && p.t - points[i - 1].t <= gap) all.at(-1).push(p);
      else all.push([p]);
    }
    return all;
  }

  const path = (list, of) => "M" + list.map(p => `${x(p.t).toFixed(1)} ${y(of(p)).toFixed(1)}`).join("L");
  // line draws a point that stands alone as a dot.
  const line = (list, of) => path(list.length > 1 ? list : [list[0], list[0]], of);

  function axes({ticks}, label) {
    const right = width - pad.right, bottom = height - pad.bottom;
    for (const v of ticks) {
      picture.append(svg("path", {class: "grid", d: `M${pad.left} ${y(v)}H${right}`}));
      picture.append(svg("text", {x: pad.left - 8, y: y(v) + 4, "text-anchor": "end"}, label(v)));
    }
    const step = span / 60 > 2 ? 60 : span / 4, every = width < 480 ? 2 : 1;
    for (let s = span; s > 0; s -= step * every) {
      const ago = step < 60 ? `\u2212${s} s` : `\u2212${s / 60} min`;
      picture.append(svg("text", {x: x(now - s), y: bottom + 16, "text-anchor": "middle"}, ago));
    }
    picture.append(svg("text", {x: right, y: bottom + 16, "text-anchor": "middle"}, "now"));
  }

  // shade marks when callers waited and none acquired anything.
  function shade() {
    for (const s of stalls) {
      const from = Math.max(x(s.t), pad.left), to = x(Math.min(s.t + s.took, now));
      picture.append(svg("rect", {class: "stall", x: from, y: pad.top, width: Math.max(to - from, 1), height: height - pad.bottom - pad.top}));
      if (to - from > 100) picture.append(svg("text", {class: "stalled", x: (from + to) / 2, y: pad.top + 13, "text-anchor": "middle"}, "nothing acquired"));
    }
  }

  function endLabels(last) {
    if (now - last.t > gap) return;
    const low = Math.min(Math.max(y(last.p50), y(last.p99) + 13), height - pad.bottom - 5), high = Math.min(y(last.p99), low - 13), at = width - pad.right + 6;
    picture.append(svg("text", {class: "p99", x: at, y: high + 4}, "p99"), svg("text", {class: "p50", x: at, y: low + 4}, "p50"));
  }

  function draw() {
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    if (!width || !points.length) return;
    mark(picture, "viewBox", `0 0 ${width} ${height}`);
    picture.replaceChildren();
    const s = scale(), label = v => v ? duration(v) : "0";
    const measured = s.ticks.map(v => svg("text", {}, label(v)));
    picture.append(...measured);
    pad.left = Math.max(62, 12 + Math.ceil(Math.max(...measured.map(e => e.getComputedTextLength()))));
    picture.replaceChildren();
    put(section.querySelector(".scale"), s.log ? "10\u00d7 a line" : "");
    shade();
    axes(s, label);
    for (const run of runs()) {
      const back = path(run.toReversed(), p => p.p50).replace("M", "L");
      picture.append(svg("path", {class: "band", d: path(run, p => p.p99) + back + "Z"}));
      picture.append(svg("path", {class: "p50", d: line(run, p => p.p50)}), svg("path", {class: "p99", d: line(run, p => p.p99)}));
    }
    const floor = height - pad.bottom - 5;
    let crosses = "", last = -Infinity; // where there are many, as many as can be told apart
    for (const at of points.filter(p => p.failed).map(p => x(p.t))) if (at - last >= 8) crosses += `M${((last = at) - 3).toFixed(1)} ${floor - 3}l6 6m0-6l-6 6`;
    if (crosses) picture.append(svg("path", {class: "cross", d: crosses}));
    endLabels(points.at(-1));
    cursor();
  }

  function cursor() {
    const p = chosen == null ? null : points.find(q => q.t === chosen);
    if (!p) chosen = null;
    read(p ?? points.at(-1), !!p);
    if (!p) return;
    picture.append(svg("path", {class: "grid cursor", d: `M${x(p.t)} ${pad.top}V${height - pad.bottom}`}));
    for (const k of ["p50", "p99"]) picture.append(svg("circle", {class: k, cx: x(p.t), cy: y(p[k]), r: 4.5}));
  }

  function read(p, picked) {
    const failed = p.failed ? `, ${number(p.failed)} failed` : "";
    put(part(readout, "b", "at"), picked ? time(p.t * 1000) : "Latest, " + time(p.t * 1000));
    put(part(readout, "span", "of"), ` \u00b7 p50 ${duration(p.p50)} \u00b7 p99 ${duration(p.p99)} \u00b7 ${plural(p.count, "acquire")}${failed}`);
  }

  function choose(index) {
    chosen = points[Math.max(0, Math.min(points.length - 1, index))]?.t ?? null;
    draw();
  }

  canvas.addEventListener("pointermove", e => {
    const at = e.clientX - canvas.getBoundingClientRect().left;
    let best = 0;
    points.forEach((p, i) => { if (Math.abs(x(p.t) - at) < Math.abs(x(points[best].t) - at)) best = i; });
    choose(best);
  });
  const leave = () => { chosen = null; draw(); };
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("blur", () => { mark(readout, "aria-live", "off"); leave(); });
  canvas.addEventListener("focus", () => mark(readout, "aria-live", "polite"));
  canvas.addEventListener("keydown", e => {
    const at = chosen == null ? points.length - 1 : points.findIndex(p => p.t === chosen);
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 30, PageDown: at + 30, Home: 0, End: points.length - 1}[e.key];
    if (to === undefined) return;
    e.preventDefault();
    choose(to);
  });
  new ResizeObserver(draw).observe(canvas);

  return doc => {
    now = Date.parse(doc.at) / 1000;
    points = doc.waits.map(w => ({t: Date.parse(w.at) / 1000, p50: w.p50_seconds, p99: w.p99_seconds, count: w.count, failed: w.failed}))
      .filter(p => p.t >= now - most);
    span = Math.min(most, Math.max(60, Math.ceil((now - points[0]?.t) / 60) * 60 || 60));
    stalls = doc.stalls.map(s => ({t: Date.parse(s.at) / 1000, took: s.took_seconds})).filter(s => s.t + s.took > now - span);
    show(section.querySelector(".kstall"), stalls.length > 0);
    const some = points.length > 0;
    for (const e of [canvas, readout, section.querySelector(".legend")]) show(e, some);
    show(section.querySelector(".empty"), !some);
    draw();
  };
})();
