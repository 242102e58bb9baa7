// Heat maps and state timelines, which are not in Grafana's packages: rows of
// coloured cells on its chart component, so that axes are its own.

import { useMemo } from 'react';
import { getValueFormat, formattedValueToString } from '@grafana/data';
import { UPlotChart, UPlotConfigBuilder, useTheme2 } from '@grafana/ui';
import * as chromatic from 'd3-scale-chromatic';

// Cells draws rows of { from, to, color }, the first one lowest. labels has texts for heights
// of the axis, in rows. gap is the share of a row that stays empty, space the pixels
// between all cells.
function Cells({ rows, labels, gap, space = 0, width, height, range }) {
  const theme = useTheme2();
  const [config, data] = useMemo(() => {
    const builder = new UPlotConfigBuilder('utc');
    builder.addScale({ scaleKey: 'x', isTime: true, orientation: 0, direction: 1, range: () => [range.from.valueOf(), range.to.valueOf()] });
    builder.addScale({ scaleKey: 'y', orientation: 1, direction: 1, range: () => [0, rows.length] });
    builder.addAxis({ scaleKey: 'x', isTime: true, placement: 'bottom', timeZone: 'utc', theme, grid: { show: false } });
    builder.addAxis({
      scaleKey: 'y',
      placement: 'left',
      theme,
      grid: { show: false },
      ticks: { show: false },
      splits: () => labels.map((l) => l.at),
      values: (u, splits) => splits.map((s) => labels.find((l) => l.at === s)?.text ?? ''),
    });
    builder.addSeries({ scaleKey: 'y', theme, pathBuilder: () => null, drawStyle: 'line', lineColor: 'transparent', show: true, showPoints: 'never' });
    builder.addHook('draw', (u) => paint(u, rows, gap, space * devicePixelRatio));
    return [builder, [[range.from.valueOf(), range.to.valueOf()], [0, 0]]];
  }, [rows, labels, gap, space, range, theme]);
  return <UPlotChart config={config} data={data} width={width} height={height} />;
}

function paint(u, rows, gap, space) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  rows.forEach((cells, i) => {
    const [top, bottom] = [i + 1 - gap / 2, i + gap / 2].map((row) => Math.round(u.valToPos(row, 'y', true)));
    for (const { from, to, color } of cells) {
      const [left, right] = [from, to].map((t) => Math.round(u.valToPos(t, 'x', true)));
      ctx.fillStyle = color;
      ctx.fillRect(left, top, right - left - space, bottom - top - space);
    }
  });
  ctx.restore();
}

const numbers = (frame) => frame.fields.at(-1);
const times = (frame) => frame.fields[0].values;
const interval = (frame) => frame.fields[0].config.interval;

export function StateTimeline({ panel, frames, ...rest }) {
  const [rows, labels] = useMemo(() => {
    const listed = frames.toReversed(); // the first series is the top row
    return [listed.map(runs), listed.map((f, i) => ({ at: i + 0.5, text: f.name }))];
  }, [frames]);
  return <Cells rows={rows} labels={labels} gap={1 - panel.options.rowHeight} {...rest} />;
}

// runs are the cells of a series; neighbours of one colour are one cell.
function runs(frame) {
  const cells = [];
  times(frame).forEach((from, i) => {
    const color = numbers(frame).display(numbers(frame).values[i]).color;
    const to = from + interval(frame);
    const last = cells.at(-1);
    if (last && last.color === color && last.to >= from) {
      last.to = to;
    } else {
      cells.push({ from, to, color });
    }
  });
  return cells;
}

const legendHeight = 22;

// Heatmap draws buckets of a classic histogram, which are cumulative.
export function Heatmap({ panel, frames, width, height, range }) {
  const theme = useTheme2();
  const { rows, labels, scale } = useMemo(() => heat(panel, frames, theme), [panel, frames, theme]);
  return (
    <>
      <Cells rows={rows} labels={labels} gap={0} space={panel.options.cellGap} width={width} height={height - legendHeight} range={range} />
      {scale && <ColorScale {...scale} />}
    </>
  );
}

function heat(panel, frames, theme) {
  const { color, cellValues, yAxis, filterValues } = panel.options;
  const bound = (frame) => Number(numbers(frame).labels.le.replace('Inf', 'Infinity'));
  const sorted = frames.toSorted((a, b) => bound(a) - bound(b));
  const counts = sorted.map((frame, i) => within(frame, sorted[i - 1]));
  const shown = counts.flatMap((c) => c.map(([, n]) => n)).filter((n) => n > filterValues.le);
  const [min, max] = [Math.min(...shown), Math.max(...shown)];
  const palette = colors(color, theme);
  const paletteAt = (n) => palette[Math.round(((n - min) / (max - min || 1)) * (palette.length - 1))];
  const format = (unit, n) => formattedValueToString(getValueFormat(unit)(n));
  return {
    rows: counts.map((c, i) =>
      c.filter(([, n]) => n > filterValues.le).map(([from, n]) => ({ from, to: from + interval(sorted[i]), color: paletteAt(n) })),
    ),
    labels: sorted.map((f, i) => ({ at: i + 1, text: Number.isFinite(bound(f)) ? format(yAxis.unit, bound(f)) : '+Inf' })),
    scale: shown.length > 0 && { palette, from: format(cellValues.unit, min), to: format(cellValues.unit, max) },
  };
}

// within has what is in a bucket but not in the one below it.
function within(frame, below) {
  const lower = new Map(below ? times(below).map((t, i) => [t, numbers(below).values[i]]) : []);
  return times(frame).map((t, i) => [t, numbers(frame).values[i] - (lower.get(t) ?? 0)]);
}

// The far end of a sequential scheme is the one that stands out from the background.
function colors({ scheme, steps, reverse }, theme) {
  const interpolate = chromatic[`interpolate${scheme}`];
  const palette = Array.from({ length: steps }, (_, i) => interpolate(i / (steps - 1)));
  return reverse || theme.isDark ? palette.reverse() : palette;
}

function ColorScale({ palette, from, to }) {
  const { colors, typography } = useTheme2();
  return (
    <div style={{ display: 'flex', gap: 8, alignItems: 'center', height: legendHeight, paddingLeft: 8, color: colors.text.secondary, fontSize: typography.bodySmall.fontSize }}>
      {from}
      <div style={{ width: 160, height: 8, background: `linear-gradient(to right, ${palette.join(',')})` }} />
      {to}
    </div>
  );
}
