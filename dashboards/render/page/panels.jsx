// The visualizations that the boards use, each drawn by Grafana's own component.

import { FieldType, getDisplayValueAlignmentFactors, getFieldDisplayValues, renderMarkdown } from '@grafana/data';
import { BarGauge, BigValue, TimeSeries, VizRepeater, useTheme2 } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';

import { Heatmap, StateTimeline } from './cells';

const kinds = { stat: Stat, timeseries: Chart, table: Grid, bargauge: Bars, heatmap: Heatmap, 'state-timeline': StateTimeline, text: Words, alertlist: AlertList };

export function Visualization(props) {
  const Kind = kinds[props.panel.type];
  if (!Kind) {
    return <Message>{`panels of type ${props.panel.type} are not drawn`}</Message>;
  }
  if (!['stat', 'text', 'alertlist'].includes(props.panel.type) && props.frames.every((f) => f.length === 0)) {
    return <Message quiet>{props.panel.fieldConfig.defaults.noValue ?? 'No data'}</Message>;
  }
  return <Kind {...props} />;
}

export function Message({ quiet, children }) {
  const { colors } = useTheme2();
  return <div style={{ height: '100%', display: 'grid', placeItems: 'center', color: quiet ? colors.text.secondary : colors.error.text }}>{children}</div>;
}

// AlertList stands for a list that only a Grafana server has.
function AlertList() {
  return <Message quiet>the list of the Grafana server, which is not drawn here</Message>;
}

// Words are a text in Markdown.
function Words({ panel }) {
  return <div className="markdown-html" dangerouslySetInnerHTML={{ __html: renderMarkdown(panel.options.content) }} />;
}

function displayValues({ panel, frames }, theme, sparkline) {
  return getFieldDisplayValues({
    data: frames,
    fieldConfig: panel.fieldConfig,
    reduceOptions: panel.options.reduceOptions,
    replaceVariables: (text) => text,
    sparkline,
    theme,
    timeZone: 'utc',
  });
}

function Stat(props) {
  const theme = useTheme2();
  const { panel, range, width, height } = props;
  const { colorMode, graphMode, justifyMode, textMode, wideLayout, text } = panel.options;
  const [value] = displayValues(props, theme, graphMode !== 'none');
  return (
    <BigValue {...{ theme, width, height, colorMode, graphMode, justifyMode, textMode, wideLayout, text }} value={value.display} sparkline={value.sparkline && { ...value.sparkline, timeRange: range }} count={1} />
  );
}

// plottable has gaps where there are numbers that no axis has, such as the quantiles of nothing.
const plottable = (frame) => ({
  ...frame,
  fields: frame.fields.map((f) => (f.type === FieldType.number ? { ...f, values: f.values.map((v) => (Number.isFinite(v) ? v : null)) } : f)),
});

function Chart({ panel, frames, range, alerts, width, height }) {
  const theme = useTheme2();
  const mark = (builder) => {
    builder.addHook('drawClear', (u) => alerts.forEach((a) => markAlert(u, a, theme)));
    return null;
  };
  return (
    <TimeSeries frames={frames.map(plottable)} timeRange={range} timeZone="utc" width={width} height={height} legend={panel.options.legend} options={panel.options}>
      {mark}
    </TimeSeries>
  );
}

// markAlert draws an annotation: a line where it begins, and a bar below for as long as it lasts.
function markAlert(u, { color, from, to }, theme) {
  const { ctx, bbox } = u;
  const [x, end] = [from, to].map((t) => Math.min(Math.max(u.valToPos(t * 1000, 'x', true), bbox.left), bbox.left + bbox.width));
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = theme.visualization.getColorByName(color);
  ctx.globalAlpha = 0.6;
  ctx.fillRect(x, bbox.top + bbox.height, Math.max(end - x, 2), 3 * devicePixelRatio);
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

function Grid({ panel, frames, width, height }) {
  return <TableNG data={frames[0]} width={width} height={height} cellHeight={panel.options.cellHeight} noHeader={!panel.options.showHeader} fieldConfig={panel.fieldConfig} sortBy={panel.options.sortBy} enableVirtualization={false} />;
}

function Bars(props) {
  const theme = useTheme2();
  const { panel, frames, width, height } = props;
  const { displayMode, valueMode, showUnfilled, namePlacement } = panel.options;
  const number = frames[0].fields.at(-1);
  const getValues = () => displayValues(props, theme, false);
  return (
    <VizRepeater
      source={frames}
      renderCounter={1}
      orientation="horizontal"
      itemSpacing={8}
      minVizHeight={16}
      maxVizHeight={300}
      width={width}
      height={height}
      getValues={getValues}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, width: w, height: h, alignmentFactors }) => (
        <BarGauge
          {...{ theme, displayMode, showUnfilled, namePlacement, alignmentFactors, width: w, height: h }}
          valueDisplayMode={valueMode}
          orientation="horizontal"
          value={value.display}
          display={number.display}
          field={{ ...value.field, ...number.state.range }}
        />
      )}
    />
  );
}
