/** Tests the Prometheus metrics of a service under real traffic. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import {
  type Anvil,
  type WebhookSink,
  createCertificate,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { API_KEY, type Served, serve } from '../serve.ts';

const DAY_MS = 24 * 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'sluice-metrics-'));
let anvil: Anvil;
let sink: WebhookSink;
let served: Served;

beforeAll(async () => {
  anvil = await startAnvil();
  sink = await startWebhookSink();
  const { cert, key } = createCertificate({
    commonName: 'client',
    validFrom: new Date(Date.now() - DAY_MS),
    expiresAt: new Date(Date.now() + 90 * DAY_MS),
  });
  const [certFile, keyFile] = [join(folder, 'client.pem'), join(folder, 'client-key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  served = await serve([
    ...['--data', folder, '--chain', `0x7a69=${anvil.url},poll=50`],
    ...['--client-cert', certFile, '--client-key', keyFile],
  ]);
});
afterAll(async () => {
  await served?.stop();
  await sink?.close();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

const readPage = (file: string): string =>
  readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const CHAIN = '{chain="0x7a69"}';

/** Waits until all mined blocks are committed, and checks that the chain has no lag. */
const stands = async (): Promise<void> => {
  const head = Number(await anvil.request('eth_blockNumber', []));
  const health = async () => {
    const response = await fetch(`${served.url}/health`);
    return (await response.json()) as { chains: { checkpoint: number }[] };
  };
  await until(
    'the checkpoint is at the head',
    async () => (await health()).chains[0]?.checkpoint === head,
  );
  expect((await values()).get(`sluice_chain_head_lag_blocks${CHAIN}`)).toBe(0);
};

const read = async (headers: Record<string, string>): Promise<Response> =>
  fetch(`${served.url}/metrics`, { headers });

/** Returns the values of all metrics by name and labels. */
async function values(): Promise<Map<string, number>> {
  const text = await (await read({ authorization: `Bearer ${API_KEY}` })).text();
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
  );
}

test('/metrics requires the key, as `x-api-key` or as a bearer token', async () => {
  expect((await read({})).status).toBe(401);
  expect((await read({ authorization: 'Bearer wrong' })).status).toBe(401);
  const response = await read({ 'x-api-key': API_KEY });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
});

/** Labels of each documented metric, from the table of the operations page. */
const documented = new Map(
  [...readPage('docs/operations.md').matchAll(/^\| `(sluice_\w+)(?:\{([\w,]+)\})?` \|/gm)].map(
    ([, name, labels]) => [name!, labels?.split(',') ?? []],
  ),
);

test('/metrics exposes every documented metric with its labels, and no other', async () => {
  const text = await (await read({ 'x-api-key': API_KEY })).text();
  const names = [...text.matchAll(/^# TYPE (sluice_\w+) /gm)].map(([, name]) => name!);
  expect(names.toSorted()).toEqual([...documented.keys()].toSorted());
  for (const [, name, labels] of text.matchAll(/^(sluice_\w+)(?:\{(.*)\})? /gm)) {
    const own = [...(labels ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label!);
    const [, metric] = /^(.*?)(?:_(?:bucket|sum|count))?$/.exec(name!)!;
    const known = documented.get(name!) ?? documented.get(metric!);
    expect(known?.toSorted(), name).toEqual(own.filter((label) => label !== 'le').toSorted());
  }
});

/** Labels that Prometheus adds to every metric. */
const SCRAPED = ['job', 'instance'];

interface Query {
  name: string;
  labels: string[];
}

/** Returns the metrics and labels that a query uses; throws for invalid PromQL. */
function parseQuery(expression: string): Query[] {
  const text = expression.replaceAll(/\$__rate_interval/g, '5m');
  const queries: Query[] = [];
  const grouped: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      if (type.isError) throw new Error(`invalid PromQL at ${from}: ${text}`);
      if (type.name === 'GroupingLabels') {
        grouped.push(...(text.slice(from, to).match(/\w+/g) ?? []));
      }
      if (type.name !== 'VectorSelector') return;
      const matchers = node.getChild('LabelMatchers');
      const list = matchers === null ? '' : text.slice(matchers.from, matchers.to);
      queries.push({
        name: /^[\w:]+/.exec(text.slice(from, to))![0],
        labels: [...list.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
      });
    },
  });
  return queries.map(({ name, labels }) => ({ name, labels: [...labels, ...grouped] }));
}

test.each(['sum(rate(sluice_ready[5m])', 'sum by (chain', 'sluice_ready{job=}'])(
  'the invalid query %s is reported',
  (query) => expect(() => parseQuery(query)).toThrow('invalid PromQL'),
);

const dashboard = JSON.parse(readPage('deploy/grafana/sluice.json')) as {
  annotations: { list: { expr: string }[] };
  panels: {
    id: number;
    title: string;
    type: string;
    description?: string;
    targets?: { expr: string; legendFormat: string }[];
  }[];
};
const rules = parse(readPage('deploy/prometheus-rules.yaml')) as {
  groups: { rules: { expr: string; annotations: { summary: string } }[] }[];
};
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);
const queries = [
  ...targets.map(({ expr, legendFormat }) => ({ expr, text: legendFormat })),
  ...rules.groups
    .flatMap((group) => group.rules)
    .map(({ expr, annotations }) => ({
      expr,
      text: annotations.summary.replaceAll('$labels.', ''),
    })),
];

test.each(queries)('the query $expr uses metrics and labels that exist', async ({ expr, text }) => {
  const exposed = await (await read({ 'x-api-key': API_KEY })).text();
  const found = parseQuery(expr).filter(({ name }) => name !== 'up' && name !== 'vector');
  for (const { name, labels } of found) {
    const [, metric, part] = /^(.*?)(?:_(bucket|sum|count))?$/.exec(name)!;
    const base = documented.has(name) ? name : metric!;
    expect(exposed).toContain(`# TYPE ${base} ${part === undefined ? '' : 'histogram'}`);
    const known = [
      ...SCRAPED,
      ...(documented.get(base) ?? []),
      ...(part === undefined ? [] : ['le']),
    ];
    const shown = [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label]) => label!);
    expect([...labels, ...shown].filter((label) => !known.includes(label))).toEqual([]);
  }
  expect(found.length + Number(expr.startsWith('up'))).toBeGreaterThan(0);
});

test('the dashboard shows every metric, and explains each panel', () => {
  const shown = targets.flatMap(({ expr }) => parseQuery(expr)).map(({ name }) => name);
  const isShown = (metric: string): boolean =>
    shown.some((name) => name.replace(/_(bucket|sum|count)$/, '') === metric || name === metric);
  expect([...documented.keys()].filter((metric) => !isShown(metric))).toEqual([]);
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');
  for (const { title, description } of panels) expect(description, title).toMatch(/\.$/);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

test('/metrics counts attempts, lag and reorgs', async () => {
  const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  const watched = anvil.accounts[4]!.address;
  await until(
    'the chain is live',
    async () => (await values()).get(`sluice_chain_up${CHAIN}`) === 1,
  );
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'metrics',
    chainIds: ['0x7a69'],
    includeNativeTxs: true,
  });
  await client.streams.addAddress(id, watched);
  sink.respond([404, 200]);
  for (let n = 0; n < 2; n++) {
    await anvil.request('eth_sendTransaction', [
      { from: anvil.accounts[0]!.address, to: watched, value: '0x1' },
    ]);
  }
  const delivered = 'sluice_delivery_attempts_total{result="succeeded",code_class="2xx"}';
  await until('one is delivered', async () => ((await values()).get(delivered) ?? 0) >= 1);
  const now = await values();
  expect(now.get('sluice_delivery_attempts_total{result="failed",code_class="4xx"}')).toBe(1);
  expect(now.get('sluice_delivery_latency_seconds_count')).toBe(now.get(delivered));
  expect(now.get('sluice_deliveries_in_flight')).toBe(0);
  expect(now.get('sluice_delivery_queue_age_seconds')).toBe(0);
  expect(now.get('sluice_circuit_breakers{state="open"}')).toBe(0);

  const snapshot = await anvil.request<string>('evm_snapshot', []);
  await anvil.request('anvil_mine', ['0x3']);
  await stands();
  await anvil.request('evm_revert', [snapshot]);
  await anvil.request('evm_increaseTime', [100]);
  await anvil.request('anvil_mine', ['0x4']);
  await until('the reorg is counted', async () =>
    (await values()).get(`sluice_reorg_depth_blocks_count${CHAIN}`),
  );
  expect((await values()).get(`sluice_reorg_depth_blocks_sum${CHAIN}`)).toBe(3);
  await stands();
  const violations = [...(await values())].filter(([name]) => name.startsWith('sluice_integrity'));
  expect(violations.length).toBeGreaterThan(5);
  expect(violations.filter(([, count]) => count !== 0)).toEqual([]);
});
