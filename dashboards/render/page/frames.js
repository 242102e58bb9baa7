// Answers of Prometheus as data frames of Grafana, configured as the panel says.

import { FieldType, createDataFrame, getDisplayProcessor, getFieldDisplayName, standardTransformers, standardTransformersRegistry, transformDataFrame } from '@grafana/data';
import { lastValueFrom } from 'rxjs';

const transformers = [standardTransformers.mergeTransformer, standardTransformers.organizeFieldsTransformer];
standardTransformersRegistry.setInit(() => transformers.map((t) => ({ id: t.id, name: t.name, transformation: async () => t })));

// framesOf throws the first error of the panel's queries.
export async function framesOf({ panel, results }, theme) {
  const failed = results.find((r) => r.error);
  if (failed) {
    throw new Error(failed.error);
  }
  let frames = results.flatMap((r) => (r.target.format === 'table' ? table(r, results.length) : series(r)));
  if (panel.transformations?.length) {
    const unknown = panel.transformations.find(({ id }) => !transformers.some((t) => t.id === id));
    if (unknown) {
      throw new Error(`the transformation ${unknown.id} is not done`); // Grafana's code leaves it out without a word
    }
    frames = await lastValueFrom(transformDataFrame(panel.transformations, frames));
  }
  return configure(frames, panel, theme);
}

function series({ target, step, data }) {
  return data.result.map((s) => {
    const points = s.values ?? [s.value];
    const name = legend(target.legendFormat, s.metric);
    return createDataFrame({
      refId: target.refId,
      name,
      fields: [
        // The interval lets charts leave gaps where samples are missing.
        { name: 'Time', type: FieldType.time, config: { interval: step * 1000 }, values: points.map(([t]) => t * 1000) },
        { name: 'Value', type: FieldType.number, labels: s.metric, config: { displayNameFromDS: name }, values: points.map(([, v]) => Number(v)) },
      ],
    });
  });
}

const legend = (format, labels) =>
  format ? format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, l) => labels[l] ?? '') : (labels.__name__ ?? 'Value');

// table has a column for each label and one for the value.
function table({ target, data }, targets) {
  const labels = [...new Set(data.result.flatMap((s) => Object.keys(s.metric)))].sort();
  return createDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, config: {}, values: data.result.map((s) => s.value[0] * 1000) },
      ...labels.map((l) => ({ name: l, type: FieldType.string, config: {}, values: data.result.map((s) => s.metric[l] ?? '') })),
      { name: targets > 1 ? `Value #${target.refId}` : 'Value', type: FieldType.number, config: {}, values: data.result.map((s) => Number(s.value[1])) },
    ],
  });
}

// configure does what Grafana's own override code does, which needs a registry of
// options that is not in its packages.
function configure(frames, panel, theme) {
  let seriesIndex = 0;
  const values = frames.flatMap((f) => f.fields.filter((x) => x.type === FieldType.number).flatMap((x) => x.values)).filter(Number.isFinite);
  for (const frame of frames) {
    for (const field of frame.fields) {
      const defaults = field.type === FieldType.number ? panel.fieldConfig.defaults : { custom: panel.fieldConfig.defaults.custom };
      field.config = { ...structuredClone(defaults), ...field.config };
      for (const o of panel.fieldConfig.overrides) {
        if (o.matcher.id !== 'byName') {
          throw new Error(`overrides by ${o.matcher.id} are not drawn`);
        }
        if (o.matcher.options === getFieldDisplayName(field, frame, frames)) {
          o.properties.forEach((p) => set(field.config, p.id.split('.'), p.value));
        }
      }
      field.config.thresholds?.steps.forEach((s) => (s.value ??= -Infinity));
      if (field.type === FieldType.number) {
        const range = { min: field.config.min ?? Math.min(...values, 0), max: field.config.max ?? Math.max(...values, 0) };
        field.state = { ...field.state, seriesIndex: seriesIndex++, range: { ...range, delta: range.max - range.min } };
      }
      field.display = getDisplayProcessor({ field, theme, timeZone: 'utc' });
      if (field.config.links?.length) {
        field.getLinks = () => field.config.links.map((l) => ({ href: '#', title: l.title, target: '_self', origin: field }));
      }
    }
  }
  return frames;
}

function set(config, [first, ...rest], value) {
  if (rest.length === 0) {
    config[first] = value;
    return;
  }
  config[first] = { ...config[first] };
  set(config[first], rest, value);
}
