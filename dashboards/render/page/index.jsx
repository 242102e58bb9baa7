// A dashboard as a page: its title, variables, and panels in 24 columns.

import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { DashboardCursorSync, EventBusSrv, ThemeContext, createTheme, dateTime, dateTimeFormat } from '@grafana/data';
import { GlobalStyles, Icon, PanelChrome, PanelContextProvider } from '@grafana/ui';

import { framesOf } from './frames';
import { Message, Visualization } from './panels';

const { board, variables, panels, range, alerts, theme: mode } = window.shot;
const theme = createTheme({ colors: { mode } });
const gridUnit = 30;
const gap = 8;
const margin = 16;
const column = (window.innerWidth - 2 * margin - 23 * gap) / 24;
const across = (units) => units * column + (units - 1) * gap;
const down = (units) => units * gridUnit + (units - 1) * gap;
const time = { from: dateTime(range.from * 1000), to: dateTime(range.to * 1000) };
const timeRange = { ...time, raw: time };

// A variable in a title is shown as its text, not as the pattern it is in queries.
const titled = (text) => text.replace(/\$\{?(\w+)\}?/g, (whole, name) => variables[name]?.texts.join(' + ') ?? whole);

function Header() {
  const { colors, typography, shape } = theme;
  const pill = { border: `1px solid ${colors.border.medium}`, borderRadius: shape.radius.default, padding: '5px 10px', background: colors.background.primary };
  const clock = (t) => dateTimeFormat(t, { timeZone: 'utc', format: 'YYYY-MM-DD HH:mm:ss' });
  return (
    <div style={{ padding: `12px ${margin}px 4px`, display: 'flex', flexWrap: 'wrap', gap, alignItems: 'center', fontSize: typography.bodySmall.fontSize }}>
      <span style={{ ...typography.h4, marginRight: gap }}>{board.title}</span>
      {board.templating.list.filter((v) => v.hide !== 2).map((v) => (
        <span key={v.name} style={pill}>
          <span style={{ color: colors.text.secondary }}>{v.label} </span>
          {variables[v.name].texts.join(' + ')}
        </span>
      ))}
      <span style={{ ...pill, marginLeft: 'auto', display: 'flex', gap: 6, alignItems: 'center' }}>
        <Icon name="clock-nine" size="sm" /> {clock(time.from)} to {clock(time.to)} UTC
      </span>
    </div>
  );
}

function Row({ panel }) {
  return (
    <div style={{ display: 'flex', alignItems: 'center', gap, height: gridUnit, ...theme.typography.h6 }}>
      <Icon name="angle-down" /> {titled(panel.title)}
    </div>
  );
}

function Panel({ panel, drawing }) {
  const { w, h } = panel.gridPos;
  return (
    <PanelChrome title={titled(panel.title)} description={panel.description} width={across(w)} height={down(h)} padding={panel.type === 'table' ? 'none' : 'md'}>
      {(width, height) =>
        drawing.error ? <Message>{drawing.error}</Message> : <Visualization {...{ panel, width, height, alerts }} frames={drawing.frames} range={timeRange} />
      }
    </PanelChrome>
  );
}

const context = { eventBus: new EventBusSrv(), sync: () => DashboardCursorSync.Off };

// Canvases do not wait for fonts: nothing may be drawn before they are there.
function useFonts() {
  const [ready, setReady] = useState(false);
  useEffect(() => {
    Promise.all([400, 500].map((weight) => document.fonts.load(`${weight} 12px Inter`))).then(() => setReady(true));
  }, []);
  return ready;
}

function Board({ drawings }) {
  useEffect(() => {
    requestAnimationFrame(() => requestAnimationFrame(() => (window.drawn = true)));
  }, []);
  const bottom = Math.max(...panels.map(({ panel: { gridPos: g } }) => g.y + g.h));
  return (
    <div style={{ background: theme.colors.background.canvas, color: theme.colors.text.primary }}>
      <Header />
      <div style={{ position: 'relative', margin: `0 ${margin}px`, height: down(bottom) + margin }}>
        {panels.map(({ panel }, i) => {
          const { x, y, w, h } = panel.gridPos;
          return (
            <div key={panel.id} style={{ position: 'absolute', left: x * (column + gap), top: y * (gridUnit + gap), width: across(w), height: down(h) }}>
              {panel.type === 'row' ? <Row panel={panel} /> : <Panel panel={panel} drawing={drawings[i]} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Page({ drawings }) {
  const ready = useFonts();
  return (
    <ThemeContext.Provider value={theme}>
      <PanelContextProvider value={context}>
        <GlobalStyles />
        {ready && <Board drawings={drawings} />}
      </PanelContextProvider>
    </ThemeContext.Provider>
  );
}

const draw = (p) => (p.panel.type === 'row' ? {} : framesOf(p, theme).then((frames) => ({ frames }), (error) => ({ error: error.message })));
Promise.all(panels.map(draw)).then((drawings) => {
  createRoot(document.getElementById('root')).render(<Page drawings={drawings} />);
});
