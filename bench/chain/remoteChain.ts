/**
 * A worker thread that serves a long scripted chain like a hosted node: with latency, a rate limit,
 * and a limit on the block range of a query.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type RunningScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import { toEventSelector } from 'viem';

export interface RemoteChain {
  readonly url: string;
  /** Address of the contract that emits the events. */
  readonly contract: string;
}

interface Settings {
  blocks: number;
  events: number;
  /** Number of blocks from one event to the next. */
  every: number;
  blocksPerQuery: number;
  callsPerSecond: number;
  latencyMs: number;
}

const CONTRACT = `0x${'70'.repeat(20)}` as const;
const TOPIC = toEventSelector('Ping(uint256)');

const settings = workerData as Settings;
const chain = await startScriptedChain();
for (let number = 1; number <= settings.blocks; number++) {
  const isHit = number % settings.every === 0 && number <= settings.every * settings.events;
  const log = { address: CONTRACT, topics: [TOPIC], data: `0x${'00'.repeat(32)}` } as const;
  chain.mine(isHit ? { transactions: [scripted.log(log)] } : {});
}
chain.trouble({ kind: 'delay', delayMs: settings.latencyMs });
chain.trouble({ kind: 'rateCap', perSecond: settings.callsPerSecond });
chain.trouble({ kind: 'rangeLimit', blocks: settings.blocksPerQuery });

let taken = 0;
const countCalls = ({ calls }: RunningScriptedChain): number =>
  Object.values(calls).reduce((sum, count) => sum + count, 0);
parentPort!.on('message', () => {
  const all = countCalls(chain);
  parentPort!.postMessage(all - taken);
  taken = all;
});
parentPort!.postMessage({ url: chain.url, contract: CONTRACT } satisfies RemoteChain);
