// Renders the dashboards of ../grafana from a running Prometheus into pictures.

import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { build } from 'esbuild';
import { chromium } from 'playwright-core';

import { Prometheus, alerts, fillVariables, query } from './prometheus.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const origin = 'http://dashboards.invalid'; // nothing is fetched from it: see serve

const { values: flags } = parseArgs({
  options: {
    prometheus: { type: 'string', default: 'http://127.0.0.1:9090' },
    out: { type: 'string', default: path.join(here, 'pictures') },
    boards: { type: 'string', default: path.join(here, '../grafana') },
    only: { type: 'string' }, // one board, such as nodes
    minutes: { type: 'string', default: '15' },
    to: { type: 'string' }, // Unix time or RFC 3339; now if missing
    scrape: { type: 'string', default: '5' }, // seconds between two scrapes
    var: { type: 'string', multiple: true, default: [] }, // board.name=value
    light: { type: 'string', default: '' }, // boards to draw on white as well
    width: { type: 'string', default: '1600' },
    scale: { type: 'string', default: '1' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});

const width = Number(flags.width);
const scrape = Number(flags.scrape);
// chosen are the values of a board's variables that the caller asks for.
function chosen(board) {
  const values = {};
  for (const v of flags.var) {
    const [, of, name, value] = v.match(/^(\w+)\.(\w+)=(.*)$/) ?? [];
    if (!of) {
      throw new Error(`--var ${v}: want board.name=value`);
    }
    if (of === board) {
      values[name] = value;
    }
  }
  return values;
}

function timeRange() {
  const given = flags.to === undefined ? Date.now() / 1000 : Number(flags.to) || Date.parse(flags.to) / 1000;
  if (!Number.isFinite(given)) {
    throw new Error(`--to ${flags.to} is no time`);
  }
  const to = Math.floor(given);
  return { from: to - Number(flags.minutes) * 60, to };
}

async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [path.join(here, 'page/index.jsx')],
    outdir: path.join(here, 'build'),
    write: false,
    bundle: true,
    minify: true,
    jsx: 'automatic',
    format: 'iife',
    target: 'chrome120',
    define: { 'process.env.NODE_ENV': '"production"', global: 'window' },
    loader: { '.woff': 'dataurl', '.woff2': 'dataurl', '.svg': 'dataurl', '.png': 'dataurl', '.ttf': 'empty' },
    logLevel: 'error',
  });
  const text = (ext) => outputFiles.find((f) => f.path.endsWith(ext)).text;
  return { script: text('.js'), style: text('.css') };
}

// elsewhere are panels that ask Loki or Tempo.
const elsewhere = (panel) => ['loki', 'tempo'].includes(panel.datasource?.type);

// opened are the panels with all rows unfolded, as after a click on each. What asks Loki or
// Tempo is left out, and so are rows of nothing else.
function opened(panels) {
  const all = [];
  let moved = 0; // by what is unfolded above
  for (const panel of panels) {
    const down = (p) => ({ ...p, gridPos: { ...p.gridPos, y: p.gridPos.y + moved } });
    const below = (panel.panels ?? []).filter((p) => !elsewhere(p));
    if (panel.collapsed && below.length === 0) {
      continue;
    }
    if (!elsewhere(panel)) {
      all.push(down(panel), ...below.map(down));
    }
    if (panel.collapsed) {
      moved += Math.max(...below.map((p) => p.gridPos.y + p.gridPos.h)) - panel.gridPos.y - 1;
    }
  }
  return all;
}

// stacked are the panels as Grafana puts them on a narrow page: one below the other, each as wide as the page.
function stacked(panels) {
  let y = 0;
  return panels
    .toSorted(({ gridPos: a }, { gridPos: b }) => a.y - b.y || a.x - b.x)
    .map((panel) => {
      const gridPos = { ...panel.gridPos, x: 0, y, w: 24 };
      y += gridPos.h;
      return { ...panel, gridPos };
    });
}

// load answers all that the page needs to know.
async function load(prometheus, file, name, range) {
  const board = JSON.parse(await readFile(path.join(flags.boards, file), 'utf8'));
  const variables = await fillVariables(prometheus, board, range, chosen(name));
  const panels = [];
  const all = opened(board.panels);
  for (const panel of width < 768 ? stacked(all) : all) {
    const pixels = Math.floor((width * panel.gridPos.w) / 24);
    panels.push({ panel, results: await query(prometheus, panel, variables, range, pixels, scrape) });
  }
  return { board, variables, panels, range, alerts: await alerts(prometheus, board, variables, range, scrape) };
}

const types = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };
const modules = path.join(here, 'node_modules');

// assets are files that Grafana's components expect of its server.
const assets = [
  [/\/img\/icons\/(\w+\/[\w-]+\.svg)$/, (name) => path.join(modules, '@grafana/ui/dist/public/img/icons', name)],
  [/\/Inter-(Regular|Medium)\.woff2$/, (weight) => path.join(modules, `@fontsource/inter/files/inter-latin-${weight === 'Medium' ? 500 : 400}-normal.woff2`)],
];

// serve answers every request of the page from this process; whatever else it asks
// for is refused, and returned as strayed.
async function serve(page, app, data) {
  const strayed = [];
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const texts = {
    '/': `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="app.css"><div id="root"></div><script>window.shot=${json}</script><script src="app.js"></script>`,
    '/app.js': app.script,
    '/app.css': app.style,
  };
  await page.route('**/*', async (route) => {
    const url = new URL(route.request().url());
    const contentType = types[path.extname(url.pathname)] ?? 'text/html';
    const [asset] = assets.flatMap(([pattern, file]) => (pattern.test(url.pathname) ? [file(url.pathname.match(pattern)[1])] : []));
    if (url.origin === origin && texts[url.pathname]) {
      await route.fulfill({ contentType, body: texts[url.pathname] });
    } else if (url.origin === origin && asset) {
      await route.fulfill({ contentType, path: asset });
    } else {
      strayed.push(url.href);
      await route.abort();
    }
  });
  return strayed;
}

async function shoot(browser, app, data) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, deviceScaleFactor: Number(flags.scale), timezoneId: 'UTC' });
  try {
    const failures = [];
    page.on('pageerror', (error) => failures.push(error.message));
    const strayed = await serve(page, app, data);
    await page.goto(origin);
    await page.waitForFunction('window.drawn === true', undefined, { timeout: 60_000 });
    const height = await page.evaluate('document.getElementById("root").scrollHeight');
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(500); // icons are fetched after the first drawing
    if (failures.length + strayed.length > 0) {
      throw new Error(`the page failed: ${[...failures, ...strayed.map((u) => `asked for ${u}`)].join('\n')}`);
    }
    return await page.screenshot({ type: 'png' });
  } finally {
    await page.close();
  }
}

function report(name, png, data) {
  const broken = data.panels.flatMap(({ panel, results }) => results.filter((r) => r.error).map((r) => `${panel.title}: ${r.error}`));
  const empty = data.panels.filter(({ results }) => results.length > 0 && results.every((r) => r.data?.result.length === 0)).map(({ panel }) => panel.title);
  console.log(`${name}: ${Math.ceil(png.length / 1000)} kB, ${data.panels.length} panels`);
  broken.forEach((line) => console.log(`  error  ${line}`));
  empty.forEach((title) => console.log(`  empty  ${title}`));
  if (broken.length > 0) {
    process.exitCode = 1;
  }
}

async function main() {
  const range = timeRange();
  const prometheus = new Prometheus(flags.prometheus);
  const files = (await readdir(flags.boards)).filter((f) => f.endsWith('.json') && (!flags.only || f.includes(flags.only)));
  const app = await bundle();
  await mkdir(flags.out, { recursive: true });
  const browser = await chromium.launch({
    executablePath: flags.chromium,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  try {
    for (const file of files) {
      const name = file.replace(/^lockscope-|\.json$/g, '');
      const data = await load(prometheus, file, name, range);
      for (const theme of flags.light.split(',').includes(name) ? ['dark', 'light'] : ['dark']) {
        const png = await shoot(browser, app, { ...data, theme });
        const shot = theme === 'dark' ? `${name}.png` : `${name}-light.png`;
        await writeFile(path.join(flags.out, shot), png);
        report(shot, png, data);
      }
    }
  } finally {
    await browser.close();
  }
}

await main().catch((error) => {
  console.error(`shots: ${error.message}`);
  process.exitCode = 1;
});
