/**
 * Measures backfills from nodes that limit `eth_getLogs`, one per way in which a provider refuses a
 * range. The service has to find each node's limit, and to lose few requests on the way.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedChain,
  type ScriptedChain,
  type Trouble,
  createScriptedChain,
  scripted,
  startScriptedChain,
  until,
} from '@sluice/testkit';
import { toEventSelector } from 'viem';
import {
  REFUSALS,
  limitOf,
  toTrouble,
} from '../../packages/service/src/ingest/nodes/refusals.test-only.ts';
import { API_KEY, serve } from '../../test/serve.ts';
import { type Figures, toFigure } from '../figures.ts';
import { type EventSink, startEventSink } from './eventSink.ts';

const BLOCKS = 24_000;
const EVENTS = 24;
/** Number of blocks after the range. Blocks close to the head are not searched by range. */
const CONFIRMED = 256;
/** Number of requests that reading one block takes. */
const PER_BLOCK = 2;
const FIRST_CHAIN = 0x7a69;
const CONTRACT = `0x${'70'.repeat(20)}` as const;
const EVENT = 'Ping(uint256)';

interface Case {
  name: string;
  /** Number of blocks that the node accepts per query. */
  limit: number;
  trouble: Trouble;
}

const CASES: readonly Case[] = [
  ...REFUSALS.map((refusal) => ({
    name: refusal.provider,
    limit: limitOf(refusal),
    trouble: toTrouble(refusal),
  })),
  {
    name: 'one passing error',
    limit: BLOCKS,
    trouble: {
      kind: 'error',
      methods: ['eth_getLogs'],
      times: 1,
      code: -32603,
      message: 'service temporarily unavailable',
    },
  },
];

export async function measureRefusals(): Promise<Figures> {
  const chain = createScriptedChain();
  const every = BLOCKS / EVENTS;
  const topics = [toEventSelector(EVENT)];
  for (let number = 1; number <= BLOCKS + CONFIRMED; number++) {
    const isHit = number % every === every / 2 && number <= BLOCKS;
    const log = { address: CONTRACT, topics, data: `0x${'00'.repeat(32)}` } as const;
    chain.mine(isHit ? { transactions: [scripted.log(log)] } : {});
  }
  // Each node serves the same blocks as a chain of its own, so that one service can read them all.
  const nodes: RunningScriptedChain[] = [];
  for (const [n, { trouble }] of CASES.entries()) {
    const own: ScriptedChain = { ...chain, chainId: FIRST_CHAIN + n };
    const node = await startScriptedChain({ chain: own });
    node.trouble(trouble);
    nodes.push(node);
  }
  const sink = await startEventSink();
  try {
    return await measureAll(nodes, sink);
  } finally {
    await sink.stop();
    for (const node of nodes) await node.stop();
  }
}

async function measureAll(
  nodes: readonly RunningScriptedChain[],
  sink: EventSink,
): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-refusals-'));
  // The heads do not move, so they are hardly polled.
  const chains = nodes.flatMap(({ chainId, url }) => [
    '--chain',
    `${toHex(chainId)}=${url},poll=600000`,
  ]);
  const served = await serve(['--data', folder, ...chains]);
  const worst = { ratio: 0, seconds: 0 };
  try {
    const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
    const areLive = async (): Promise<boolean> =>
      (await sluice.listChains()).every(({ state }) => state === 'live');
    await until('the chains are live', areLive, 300_000);
    console.log(
      '| refusal | limit | requests | needed | ratio | seconds |\n|---|---|---|---|---|---|',
    );
    for (const [n, node] of nodes.entries()) {
      const chainId = toHex(node.chainId);
      const { id: streamId } = await client.streams.create({
        webhookUrl: sink.url,
        description: 'bench',
        tag: 'bench',
        chainIds: [chainId],
        includeContractLogs: true,
        topic0: [EVENT],
      });
      await client.streams.addAddress(streamId, CONTRACT);
      sink.expect(EVENTS);
      const before = countCalls(node);
      const started = performance.now();
      const range = { blockFrom: 1, blockTo: BLOCKS };
      await client.streams.createHistoricalJob({ streamId, chainId, ...range });
      await sink.complete();
      const seconds = (performance.now() - started) / 1_000;
      const requests = countCalls(node) - before;
      const { name, limit } = CASES[n]!;
      const needed = countNeeded(limit);
      worst.ratio = Math.max(worst.ratio, requests / needed);
      worst.seconds = Math.max(worst.seconds, seconds);
      const numbers = [limit, requests, needed].map((each) => each.toLocaleString('en'));
      const shown = [...numbers, (requests / needed).toFixed(2), seconds.toFixed(1)].join(' | ');
      console.log(`| ${name} | ${shown} |`);
    }
  } finally {
    await served.stop();
    rmSync(folder, { recursive: true });
  }
  const what = `of ${nodes.length} backfills of ${EVENTS} events in ${BLOCKS.toLocaleString('en')} blocks`;
  return {
    'refusals ratio': toFigure(
      worst.ratio,
      '',
      `highest ratio of requests to those that the node's limit needs, ${what}`,
    ),
    'refusals seconds': toFigure(worst.seconds, 's', `the slowest ${what}`),
  };
}

/** Returns the number of requests of a search that knows the limit, so that none is refused. */
const countNeeded = (limit: number): number =>
  limit === 0 ? PER_BLOCK * BLOCKS : Math.ceil(BLOCKS / limit) + PER_BLOCK * EVENTS;

const toHex = (chainId: number): string => `0x${chainId.toString(16)}`;

const countCalls = ({ calls }: RunningScriptedChain): number =>
  Object.values(calls).reduce((sum, count) => sum + count, 0);
