/** The service on the cluster, its streams, a chain that mines all the time, and the receiver. */
import { Worker } from 'node:worker_threads';
import { createClient } from '@sluice/kit';
import { scripted, startScriptedChain } from '@sluice/testkit';
import type { BlockPhase, Receipts } from '../faults/invariants.ts';
import { API_KEY, type Served, serve } from '../serve.ts';
import type { ReceiverReply, ReceiverQuestion, ReceiverState } from './receiver.ts';

export interface Load {
  readonly service: Served;
  readonly streams: readonly string[];
  /** `chain:blockHash:phase` of each mined block. Each stream has a delivery for each of them. */
  readonly phases: ReadonlySet<BlockPhase>;
  /** Number of the newest block. */
  readonly head: number;
  /** Returns the state of the receiver. `restart` first forgets the longest time without webhooks. */
  receiver(question?: 'state' | 'restart'): Promise<ReceiverState>;
  /** Returns what the receiver got: requests by webhook ID, and blocks with two webhook IDs. */
  received(): Promise<{ receipts: Map<string, Receipts>; secondIds: string[] }>;
  /** Stops mining. The blocks that wait for confirmations become final. */
  finish(): void;
  stop(): Promise<void>;
}

const CHAIN = '0x7a69';
const CONFIRMATIONS = 2;
const PHASES = ['unconfirmed', 'confirmed'] as const;
export const DELIVERIES_PER_SECOND = 500;
const WATCHED = `0x${'ab'.repeat(20)}` as const;

/**
 * Starts the service and the load.
 * @param options.blockMs time between blocks. The measured times without webhooks include it.
 */
export async function startLoad(
  databaseUrl: string,
  { blockMs }: { blockMs: number },
): Promise<Load> {
  const chain = await startScriptedChain();
  const worker = new Worker(new URL('./receiver.ts', import.meta.url));
  const ask = (question: ReceiverQuestion): Promise<ReceiverReply> =>
    new Promise((resolve) => {
      worker.once('message', resolve);
      worker.postMessage(question);
    });
  const receiver = async (question: 'state' | 'restart' = 'state'): Promise<ReceiverState> =>
    ((await ask(question)) as { state: ReceiverState }).state;

  const service = await serve([
    ...['--database-url', databaseUrl],
    ...['--chain', `${CHAIN}=${chain.url},confirmations=${CONFIRMATIONS},poll=50`],
    '--no-test-webhook',
  ]);
  const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  const { port } = await receiver();
  const streams: string[] = [];
  const count = (DELIVERIES_PER_SECOND * blockMs) / 1_000 / PHASES.length;
  for (let n = 0; n < count; n++) {
    const { id } = await client.streams.create({
      webhookUrl: `http://127.0.0.1:${port}/${n}`,
      description: 'failover',
      tag: `failover-${n}`,
      chainIds: [CHAIN],
      includeNativeTxs: true,
    });
    await client.streams.addAddress(id, WATCHED);
    streams.push(id);
  }

  const phases = new Set<BlockPhase>();
  let head = 0;
  const mining = setInterval(() => {
    const transfer = scripted.transfer({ from: `0x${'cd'.repeat(20)}`, to: WATCHED, value: 1n });
    const { hash, number } = chain.mine({ transactions: [transfer] });
    head = Number(number);
    for (const phase of PHASES) phases.add(`${CHAIN}:${hash}:${phase}`);
  }, blockMs);

  return {
    service,
    streams,
    phases,
    get head() {
      return head;
    },
    receiver,
    async received() {
      return (await ask('receipts')) as { receipts: Map<string, Receipts>; secondIds: string[] };
    },
    finish() {
      clearInterval(mining);
      chain.mineMany(CONFIRMATIONS);
    },
    async stop() {
      clearInterval(mining);
      await service.stop();
      await worker.terminate();
      await chain.stop();
    },
  };
}
