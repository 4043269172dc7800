/** Tests backfills that search blocks by their logs, on a scripted chain. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedChain,
  type WebhookSink,
  scripted,
  startScriptedChain,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { toEventSelector } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const EVENT = 'Ping(uint256)';
const EMITTER = `0x${'70'.repeat(20)}` as const;
const BLOCKS = 3_000;
/** Number of blocks below the head that are read one by one. */
const NEWEST = 256;

let folder: string;
let chain: RunningScriptedChain;
/** A second node of the chain. */
let second: RunningScriptedChain;
let sink: WebhookSink;
let served: Served;
let client: Client;
let sluice: SluiceClient;
/** Numbers of the blocks with an event. */
let hits: number[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-ranges-'));
  chain = await startScriptedChain();
  second = await startScriptedChain({ chain });
  hits = [];
  mine(BLOCKS);
  sink = await startWebhookSink();
  served = await start();
});
afterEach(async () => {
  await served.stop();
  await sink.close();
  await second.stop();
  await chain.stop();
  rmSync(folder, { recursive: true });
});

function mine(blocks: number): void {
  for (let n = 0; n < blocks; n++) {
    const isHit = (Number(chain.head.number) + 1) % 15 === 0;
    const log = scripted.log({ address: EMITTER, topics: [toEventSelector(EVENT)] });
    const { number } = chain.mine({ transactions: isHit ? [log] : [] });
    if (isHit) hits.push(Number(number));
  }
}

/** @param option of the first node */
async function start(option = '', ...more: string[]): Promise<Served> {
  const started = await serve([
    ...['--data', folder],
    ...['--chain', `${CHAIN}=${chain.url},confirmations=2,poll=50${option}`],
    ...more,
  ]);
  client = createClient({ apiKey: API_KEY, baseUrl: started.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: started.url });
  return started;
}

const isLive = async (): Promise<boolean> => (await sluice.listChains())[0]?.state === 'live';

async function newStream(): Promise<string> {
  await until('the chain is live', isLive);
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'ranges',
    chainIds: [CHAIN],
    includeContractLogs: true,
    topic0: [EVENT],
  });
  await client.streams.addAddress(id, EMITTER);
  return id;
}

async function backfill(streamId: string): Promise<string> {
  const range = { blockFrom: 1, blockTo: BLOCKS - 2 };
  const job = await client.streams.createHistoricalJob({ streamId, chainId: CHAIN, ...range });
  return job.jobId!;
}

interface Received {
  id: string;
  block: number;
  confirmed: boolean;
}

/** Returns the webhooks with logs. A webhook that was sent more than once counts once. */
function received(): Received[] {
  const byId = new Map<string, Received>();
  for (const { id, body } of sink.requests) {
    const { block, confirmed, logs } = JSON.parse(body) as {
      block: { number: string };
      confirmed: boolean;
      logs: unknown[];
    };
    if (logs.length > 0) byId.set(id, { id, block: Number(block.number), confirmed });
  }
  return [...byId.values()].toSorted((a, b) => a.block - b.block);
}

const isDone = async (jobId: string): Promise<boolean> =>
  (await sluice.getJob(jobId)).state === 'done';

test('a backfill by range delivers each match once through a kill and a pause, with few requests', async () => {
  const streamId = await newStream();
  chain.trouble({ kind: 'delay', delayMs: 15 });
  const before = chain.calls['eth_getBlockByHash'] ?? 0;
  const jobId = await backfill(streamId);
  const isBeyond = (block: number) => async () => (await sluice.getJob(jobId)).nextBlock > block;
  await until('part of the job is done', isBeyond(500));
  await served.kill();
  served = await start();
  await sluice.setJobState(jobId, 'paused');
  const paused = await sluice.getJob(jobId);
  await sluice.setJobState(jobId, 'running');
  await until('the backfill is done', () => isDone(jobId));

  expect(paused.nextBlock).toBeLessThan(BLOCKS);
  expect(await sluice.getJob(jobId)).toMatchObject({ matches: hits.length - 1 });
  const expected = hits.filter((block) => block <= BLOCKS - 2);
  await until('all webhooks arrive', () => received().length >= expected.length);
  expect(received().map(({ block }) => block)).toEqual(expected);
  expect(received().every(({ confirmed }) => confirmed)).toBe(true);
  const [coverage] = await sluice.getCoverage(streamId);
  expect(coverage!.byRange).toEqual([{ from: 1, to: BLOCKS - NEWEST }]);
  // Reading each block would take one such call per block.
  expect(chain.calls['eth_getBlockByHash']! - before).toBeLessThan(BLOCKS / 2);
}, 60_000);

test.each([
  ['a second node', () => ['', '--chain', `${CHAIN}=${second.url}`]],
  ['ranges=verified', () => [',ranges=verified']],
])(
  'a backfill by range finds every match that a node hides, with %s',
  async (_what, more) => {
    await served.stop();
    const [option, ...flags] = more();
    served = await start(option, ...flags);
    const streamId = await newStream();
    // The first range is answered truthfully, and all others are empty.
    const isAsked = () => (chain.calls['eth_getLogs'] ?? 0) > 0;
    chain.trouble({ kind: 'delay', delayMs: 50, methods: ['eth_getLogs'] });
    const jobId = await backfill(streamId);
    await until('a range is queried', isAsked);
    chain.trouble({ kind: 'emptyLogs' });
    await until('the backfill is done', () => isDone(jobId));
    chain.heal();
    const expected = hits.filter((block) => block <= BLOCKS - 2);
    await until('all webhooks arrive', () => received().length >= expected.length);
    expect(received().map(({ block }) => block)).toEqual(expected);
  },
  60_000,
);
