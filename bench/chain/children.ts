/** Measures how a million past children of a factory are found, from a node that limits ranges. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { eventTopic, parseEvent } from '@sluice/kit/contract';
import { createLog } from '../../packages/service/src/base/log.ts';
import { createEvmMatching } from '../../packages/service/src/families/evm/chains/matching.ts';
import { createEvmSource } from '../../packages/service/src/families/evm/ingest/evm.ts';
import { createBackfill } from '../../packages/service/src/ingest/backfill.ts';
import { openSqliteStore } from '../../packages/service/src/store/engine/sqlite/sqlite.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamDraft,
  type Sealed,
} from '../../packages/service/src/store/streams/contract.ts';
import { type Figures, toFigure } from '../figures.ts';
import type { ChildrenChain } from './childrenNode.ts';

const EVENT = 'Created(address indexed child)';
const NODE = {
  chain: '0x2105',
  factory: `0x${'fa'.repeat(20)}`,
  topic0: eventTopic(parseEvent(EVENT)!),
  blocksPerQuery: 10_000,
  logsPerQuery: 10_000,
};
const SPARSE = { ...NODE, blocks: 10_000_000, every: 10, perBlock: 1 };
const DENSE = { ...NODE, blocks: 100_000, every: 1, perBlock: 10 };

export const measureChildren = async (): Promise<Figures> => ({
  ...(await measure('sparse children', SPARSE)),
  ...(await measure('dense children', DENSE)),
});

async function measure(name: string, workerData: ChildrenChain): Promise<Figures> {
  const { chain, factory: address, blocks, every, perBlock } = workerData;
  const worker = new Worker(new URL('./childrenNode.ts', import.meta.url), { workerData });
  const next = <T>(): Promise<T> => new Promise((resolve) => worker.once('message', resolve));
  const url = await next<string>();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-children-'));
  const store = await openSqliteStore(folder);
  const log = createLog((line) => process.stderr.write(line));
  const source = createEvmSource({ chain, urls: [url], pollMs: 60_000, log });
  try {
    const epoch = (await store.takeLease({ name: chain, holder: 'a bench', forMs: 3_600_000 }))!;
    const block = (await source.readHeader(blocks))!;
    await store.startChain({ chain, epoch, block, genesisHash: block.hash });
    const { id } = await store.createStream({
      family: 'evm',
      tag: '',
      description: '',
      webhookUrl: 'http://127.0.0.1:1/',
      chainIds: [chain],
      options: {
        ...DEFAULT_OPTIONS,
        factories: [{ address, event: EVENT, parameter: 'child', from: 1 }],
      },
      ...DEFAULT_DELIVERY,
    } as unknown as Sealed<EvmStreamDraft>);
    const matching = createEvmMatching({
      store,
      enrichOf: () => undefined as never,
      spamLists: {},
      omitRecentFields: false,
      maxWebhookBytes: 1e6,
    });
    const heights = { chain: blocks, latest: blocks, depth: blocks, safe: -1, finalized: -1 };
    const backfill = createBackfill({
      chain,
      epoch,
      source,
      store,
      log,
      openMatcher: (streamId) => matching.open(chain, streamId),
      openFinder: (search) => matching.openFinder(chain, search),
      matcher: matching.live,
      confirmedHeights: () => heights,
      settledUpTo: () => blocks,
    });
    const takeRequests = (): Promise<number> => {
      const answer = next<number>();
      worker.postMessage('take');
      return answer;
    };
    await takeRequests();
    const started = performance.now();
    const isDone = async (): Promise<boolean> =>
      (await store.listJobs({ streamId: id, limit: 1 }))[0]?.state === 'done';
    backfill.start();
    while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 50));
    const seconds = (performance.now() - started) / 1_000;
    const requests = await takeRequests();
    await backfill.stop();
    const [job] = await store.listJobs({ streamId: id, limit: 1 });
    const { blocksPerQuery, logsPerQuery } = workerData;
    const logs = Math.floor(blocks / every) * perBlock;
    const least = Math.max(blocks / blocksPerQuery, logs / logsPerQuery);
    return {
      [name]: toFigure(job!.matches, '', `found in ${blocks.toLocaleString('en')} blocks`),
      [`${name} time`]: toFigure(seconds, 's', 'to find them and to store them in SQLite'),
      [`${name} requests`]: toFigure(requests, '', 'of any kind, including refused ones'),
      [`${name} ratio`]: toFigure(
        requests / least,
        '',
        `of ${least} requests for up to ${blocksPerQuery.toLocaleString('en')} blocks and ${logsPerQuery.toLocaleString('en')} logs each`,
      ),
    };
  } finally {
    await source.stop();
    await store.close();
    await worker.terminate();
    rmSync(folder, { recursive: true });
  }
}
