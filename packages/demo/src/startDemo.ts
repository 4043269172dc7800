/** The setup of `sluice dev --seed demo`: scripted chains, a receiver and a day of sample data. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { fillSqlite } from './sqlitePast.ts';
import type { ServiceConfig } from '@sluice/service';
import { startScriptedAptos, startScriptedChain } from '@sluice/testkit';
import { happeningsOn, happeningsOnAptos, toAptosTransaction } from './demoBlocks.ts';
import { makeDemoDay, type DemoChain } from './demoDay.ts';
import { BASE, DEMO_STREAMS, ETHEREUM } from './demoStreams.ts';
import { createRandom } from './random.ts';

const MINUTE = 60_000;
const SECONDS_BEFORE = 3_600n;
/** The reason for a chain's pause: its URL briefly led to a node of a different chain. */
const MISROUTED =
  'block 0 is that of Ethereum: the node serves a different chain with this id. Point --chain 0x2105 at the right node, or use another --data folder.';

export interface Demo {
  readonly chains: ServiceConfig['chains'];
  readonly aptos: ServiceConfig['aptos'];
  /** Number of deliveries written to the ledger. */
  readonly deliveries: number;
  /** Starts producing blocks at the rate of the real chains. */
  startActivity(): void;
  stop(): Promise<void>;
}

/**
 * Writes the ledger of the day that ends now, and starts the chains and the receiver.
 *
 * @param folder folder of the ledger; the ledger must not exist.
 * @param hours length of the day; a shorter day has fewer deliveries.
 */
export async function startDemo({
  folder,
  hours = 24,
}: {
  folder: string;
  hours?: number;
}): Promise<Demo> {
  const nowMs = Date.now();
  const random = createRandom(nowMs);
  const receiver = await startDemoReceiver(nowMs);
  const chains = await Promise.all([
    startChain(nowMs, {
      id: ETHEREUM,
      blockMs: 12_000,
      confirmations: 12,
      head: 23_835_256,
      reorg: { agoMs: 190 * MINUTE, depth: 2 },
    }),
    startChain(nowMs, {
      id: BASE,
      blockMs: 2_000,
      confirmations: 100,
      head: 38_412_907,
      reorg: { agoMs: 1.2 * MINUTE, depth: 2 },
      halt: {
        agoMs: 332 * MINUTE,
        lengthMs: 4.5 * MINUTE,
        why: MISROUTED,
      },
    }),
  ]);
  const aptosBlockMs = 1_000;
  const aptosHead = 512_330_418;
  const aptos = await startScriptedAptos({
    chainId: 1,
    start: { height: BigInt(aptosHead - 256), version: 3_481_220_117n },
    genesisTimestampUsecs: BigInt(Math.floor(nowMs / 1000) - 600) * 1_000_000n,
  });
  const deliveries = await fillSqlite(
    folder,
    makeDemoDay({
      chains,
      aptos: { ledger: aptos, blockMs: aptosBlockMs, head: aptosHead },
      webhookUrlOf: (tag) => `${receiver.url}/hooks/${tag}`,
      nowMs,
      spanMs: hours * 60 * MINUTE,
    }),
  );
  const timers: NodeJS.Timeout[] = [];
  return {
    chains: chains.map(({ id, chain, confirmations }) => ({
      id,
      urls: [chain.wsUrl],
      confirmations,
      pollMs: 1_000,
    })),
    aptos: [{ network: 'mainnet', urls: [aptos.url], pollMs: 500 }],
    deliveries,
    startActivity() {
      for (const { id, chain, blockMs } of chains) {
        const mine = () =>
          chain.mine({
            transactions: happeningsOn(id, random).map(({ transaction }) => transaction),
            timestamp: BigInt(Math.floor(Date.now() / 1000)),
          });
        timers.push(setInterval(mine, blockMs));
      }
      const mineAptos = () =>
        aptos.mine({
          transactions: happeningsOnAptos(random).map(toAptosTransaction),
          timestampUsecs: BigInt(Date.now()) * 1_000n,
        });
      timers.push(setInterval(mineAptos, aptosBlockMs));
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all([...chains.map(({ chain }) => chain.stop()), aptos.stop()]);
      await receiver.stop();
    },
  };
}

async function startChain(nowMs: number, options: Omit<DemoChain, 'chain'>) {
  const chain = await startScriptedChain({
    chainId: Number(options.id),
    seed: `demo ${nowMs}`,
    firstNumber: BigInt(options.head - 255),
    genesisTimestamp: BigInt(Math.floor(nowMs / 1000)) - SECONDS_BEFORE * 24n,
  });
  return { ...options, chain };
}

/** Responds on each path like the receiver of that stream, with its latency. */
async function startDemoReceiver(nowMs: number): Promise<{ url: string; stop(): Promise<void> }> {
  const random = createRandom(nowMs);
  const server = createServer((request, response) => {
    const stream = DEMO_STREAMS[request.url?.split('/').at(-1) ?? ''];
    request.resume().on('end', () => {
      const answer = stream?.answer(nowMs - Date.now(), random);
      setTimeout(() => {
        response.writeHead(answer?.status ?? 404, { 'content-type': 'text/plain; charset=utf-8' });
        response.end(answer?.responseBody ?? 'not found');
      }, answer?.durationMs ?? 0);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
