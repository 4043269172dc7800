/** Tests the exported traces and the JSON log of a service under real traffic. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, type WebhookSink, startAnvil, startWebhookSink, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number; message?: string };
}

const CHAIN = '0x7a69';
const folder = mkdtempSync(join(tmpdir(), 'sluice-traces-'));
const spans: OtlpSpan[] = [];
let services: unknown[] = [];
let collector: Server;
let anvil: Anvil;
let sink: WebhookSink;
let served: Served;

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/v1/traces') {
        const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as {
          resourceSpans: {
            resource: { attributes: unknown[] };
            scopeSpans: { spans: OtlpSpan[] }[];
          }[];
        };
        services = resourceSpans[0]!.resource.attributes;
        spans.push(...resourceSpans.flatMap((each) => each.scopeSpans.flatMap((it) => it.spans)));
      }
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  served = await serve(
    [
      ...['--data', folder, '--log-format', 'json'],
      ...['--chain', `${CHAIN}=${anvil.url},confirmations=1,poll=50`],
    ],
    { env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` } },
  );
}, 60_000);
afterAll(async () => {
  await served?.stop();
  await Promise.all([sink?.close(), anvil?.stop()]);
  collector?.close();
  rmSync(folder, { recursive: true });
});

const valueOf = (span: OtlpSpan, key: string): unknown =>
  Object.values(span.attributes.find((each) => each.key === key)?.value ?? {})[0];

test('one trace covers fetch, match and commit of a block, and one each attempt', async () => {
  const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
  const watched = anvil.accounts[7]!.address;
  const stream = await client.streams.create({
    webhookUrl: `${sink.url}/traced`,
    description: '',
    tag: 'traced',
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  await client.streams.addAddress(stream.id, watched);
  sink.respond([404, 200]);
  await anvil.request('eth_sendTransaction', [
    { from: anvil.accounts[0]!.address, to: watched, value: '0x1' },
  ]);
  await anvil.request('evm_mine', []);
  const deliveries = await until('both deliveries have an attempt', async () => {
    const { result } = await sluice.listDeliveries({ streamId: stream.id });
    return result.length === 2 && result.every(({ attempts }) => attempts > 0) && result;
  });
  expect(await served.stop()).toBe(0);

  const blocks = spans.filter(({ name }) => name === 'block');
  const matched = blocks.find((span) => Number(valueOf(span, 'matches')) === 1)!;
  expect(valueOf(matched, 'chain')).toBe(CHAIN);
  expect(Number(valueOf(matched, 'block.number'))).toBe(deliveries[0]!.blockNumber);
  const steps = spans.filter(({ parentSpanId }) => parentSpanId === matched.spanId);
  expect(steps.map(({ name }) => name)).toEqual(['block.fetch', 'block.match', 'block.commit']);
  expect(new Set(steps.map(({ traceId }) => traceId))).toEqual(new Set([matched.traceId]));

  const attempts = spans.filter(({ name }) => name === 'delivery.attempt');
  expect(new Set(attempts.map((span) => valueOf(span, 'delivery.id')))).toEqual(
    new Set(deliveries.map(({ id }) => id)),
  );
  const failed = attempts.find(({ status }) => status.code === 2)!;
  expect(failed.status.message).toBe('HTTP 404');
  expect(Number(valueOf(failed, 'http.response.status_code'))).toBe(404);
  // Each attempt sends the IDs of its trace and span to the receiver, which can continue the trace.
  for (const { spanId, traceId } of attempts) {
    expect(sink.requests.map(({ headers }) => headers['traceparent'])).toContain(
      `00-${traceId}-${spanId}-01`,
    );
  }
  expect(services).toContainEqual({ key: 'service.name', value: { stringValue: 'sluice' } });

  const lines = served
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { event: string; level: string; time: string });
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'info', event: 'chain live', chain: CHAIN }),
  );
});
