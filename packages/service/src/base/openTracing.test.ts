import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openTracing } from './openTracing.ts';
import { NO_TRACING, runInSpan } from './tracing.ts';

test.each([
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_EXPORTER: 'none' },
])('the service does not trace without a collector: %o', async (env) => {
  const tracing = await openTracing(env, '1');
  expect(tracing).toBe(NO_TRACING);
  const span = tracing.start('block', {});
  expect(span.traceparent).toBeUndefined();
  expect(await runInSpan(span, () => 7)).toBe(7);
});

test('only one file imports the OpenTelemetry packages, and it is only loaded on demand', () => {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  const using = (text: string) =>
    files.filter((name) => readFileSync(`${folder}/${name}`, 'utf8').includes(text));
  expect(using("from '@opentelemetry/")).toEqual(['base/otlpTracing.ts']);
  expect(using("from './otlpTracing.ts'")).toEqual([]);
  expect(using("import('./otlpTracing.ts')")).toEqual(['base/openTracing.ts']);
});
