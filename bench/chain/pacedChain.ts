/**
 * A worker thread that serves a scripted chain and mines a block with one event at a steady pace,
 * with jitter. The node can fail for a while.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { scripted, startScriptedChain } from '@sluice/testkit';
import { toEventSelector } from 'viem';

export interface PacedChain {
  readonly url: string;
  readonly wsUrl: string;
  /** Address of the contract that emits the events. */
  readonly contract: string;
}

export interface Mined {
  /** Times at which blocks were mined, in milliseconds since 1970, by block number. */
  times: ReadonlyMap<number, number>;
  /** Number of reads of the head so far. */
  polls: number;
}

/** `fail` makes the node fail, and `heal` ends this. All three are answered with {@link Mined}. */
export type PacedRequest = 'take' | 'fail' | 'heal';

const CONTRACT = `0x${'70'.repeat(20)}` as const;
const TOPIC = toEventSelector('Ping(uint256)');

const { blockMs, jitterMs } = workerData as { blockMs: number; jitterMs: number };
const chain = await startScriptedChain({
  blockTimeSeconds: blockMs / 1_000,
  genesisTimestamp: BigInt(Math.floor(Date.now() / 1_000)),
  showsMs: true,
});
const times = new Map<number, number>();
/** Without these tags, every read of a block by number is a poll of the head. */
const withoutTags = () => chain.trouble({ kind: 'unknownTags' });
withoutTags();

parentPort!.on('message', (request: PacedRequest) => {
  if (request === 'fail') {
    chain.trouble({ kind: 'httpError', status: 503 });
    chain.trouble({ kind: 'dropWebSockets' });
  } else if (request === 'heal') {
    chain.heal();
    withoutTags();
  }
  const polls = chain.calls['eth_getBlockByNumber'] ?? 0;
  parentPort!.postMessage({ times, polls } satisfies Mined);
});
const { url, wsUrl } = chain;
parentPort!.postMessage({ url, wsUrl, contract: CONTRACT } satisfies PacedChain);

const startMs = performance.now();
for (let slot = 1; ; slot++) {
  const dueMs = startMs + slot * blockMs + (2 * Math.random() - 1) * jitterMs;
  await wait(Math.max(0, dueMs - performance.now()));
  const log = { address: CONTRACT, topics: [TOPIC], data: `0x${'00'.repeat(32)}` } as const;
  times.set(Number(chain.head.number) + 1, performance.timeOrigin + performance.now());
  chain.mine({ transactions: [scripted.log(log)] });
}
