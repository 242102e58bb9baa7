// What a panel shows, asked of Prometheus as Grafana's data source would ask.

export class Prometheus {
  constructor(url) {
    this.url = url.replace(/\/$/, '');
  }

  async get(path, params) {
    const body = new URLSearchParams(params);
    const answer = await fetch(`${this.url}/api/v1/${path}?${body}`, { signal: AbortSignal.timeout(60_000) }).catch((error) => {
      throw new Error(`${this.url} does not answer: ${error.cause?.message ?? error.message}`);
    });
    const json = await answer.json().catch(() => ({ error: `HTTP status ${answer.status}` }));
    if (json.status !== 'success') {
      throw new Error(`${json.errorType ?? 'prometheus'}: ${json.error}`);
    }
    return json.data;
  }
}

// The first label pair that is not escaped ends the selector: it may hold commas.
const labelValues = /^label_values\((.*),\s*([a-zA-Z_]\w*)\)$/s;

// fillVariables gives every variable of a board its value, in order, as later ones
// depend on those before. chosen has the values that the caller asks for.
export async function fillVariables(prometheus, board, range, chosen) {
  const values = {};
  for (const v of board.templating.list) {
    if (v.type === 'datasource') {
      values[v.name] = { texts: ['Prometheus'], pattern: 'prometheus' };
      continue;
    }
    const [, selector, label] = v.query.query.match(labelValues) ?? [];
    if (!label) {
      throw new Error(`variable ${v.name}: ${v.query.query} is not label_values(metric, label)`);
    }
    const all = await prometheus.get(`label/${label}/values`, {
      'match[]': interpolate(selector, values, range),
      start: range.from,
      end: range.to,
    });
    values[v.name] = choose(v, all, chosen[v.name]);
  }
  return values;
}

function choose(variable, all, wanted) {
  if (wanted !== undefined && !all.includes(wanted)) {
    throw new Error(`variable ${variable.name}: ${wanted} is none of ${all.join(', ')}`);
  }
  if (wanted === undefined && variable.includeAll) {
    return { texts: ['All'], pattern: variable.allValue };
  }
  const texts = [wanted ?? all[0] ?? ''];
  return { texts, pattern: texts.map(escape).join('|') };
}

const escape = (value) => value.replace(/[\\^$*+?.()|[\]{}]/g, '\\$&').replaceAll('\\', '\\\\');

// interpolate fills $name and ${name} in an expression.
export function interpolate(text, values, extra) {
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (whole, braced, bare) => {
    const name = braced ?? bare;
    if (name in values) {
      return values[name].pattern;
    }
    if (extra && name in extra) {
      return extra[name];
    }
    throw new Error(`${whole} has no value`);
  });
}

const niceSeconds = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

// query runs all targets of a panel of this width. Errors are results too: the
// panel shows them.
export function query(prometheus, panel, values, range, pixels, scrape) {
  const ideal = Math.max((range.to - range.from) / pixels, scrape);
  const step = niceSeconds.find((s) => s >= ideal) ?? niceSeconds.at(-1);
  const clock = {
    __interval: `${step}s`,
    __rate_interval: `${Math.max(step + scrape, 4 * scrape)}s`,
    __range: `${range.to - range.from}s`,
  };
  return Promise.all(
    (panel.targets ?? []).map(async (target) => {
      try {
        const expr = interpolate(target.expr, values, clock);
        const data = target.instant
          ? await prometheus.get('query', { query: expr, time: range.to })
          : await prometheus.get('query_range', { query: expr, ...aligned(range, step), step });
        return { target, step, data };
      } catch (error) {
        return { target, step, error: error.message };
      }
    }),
  );
}

const aligned = (range, step) => ({ start: Math.floor(range.from / step) * step, end: Math.floor(range.to / step) * step });

// alerts are the times at which the board's annotations were true.
export async function alerts(prometheus, board, values, range, scrape) {
  const step = Math.max(scrape, niceSeconds.find((s) => s >= (range.to - range.from) / 200));
  const found = [];
  for (const annotation of board.annotations.list.filter((a) => a.expr && a.enable)) {
    const data = await prometheus.get('query_range', { query: interpolate(annotation.expr, values), ...aligned(range, step), step });
    for (const series of data.result) {
      found.push({ color: annotation.iconColor, from: series.values[0][0], to: series.values.at(-1)[0] });
    }
  }
  return found;
}
