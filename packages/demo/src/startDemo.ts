/**
 * Starts the scripted chains and the receiver of `sluice dev --seed demo`, and writes the day of
 * sample data.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { fillSqlite, readHeads } from './sqlitePast.ts';
import type { Config } from '@sluice/service';
import { startScriptedAptos, startScriptedChain } from '@sluice/testkit';
import { happeningsOn, happeningsOnAptos, toAptosTransaction } from './demoBlocks.ts';
import { makeDemoDay, type DemoChain } from './demoDay.ts';
import { APTOS, BASE, DEMO_STREAMS, ETHEREUM } from './demoStreams.ts';
import { createRandom } from './random.ts';

const MINUTE = 60_000;
const SECONDS_BEFORE = 3_600n;
/** The reason for a chain's halt: its URL briefly led to a node of a different chain. */
const MISROUTED =
  'block 0 is that of Ethereum: the node serves a different chain with this ID. Point --chain 0x2105 at the right node, or use another --data folder.';

const DEMO_CHAINS: readonly Omit<DemoChain, 'chain'>[] = [
  {
    id: ETHEREUM,
    blockMs: 12_000,
    confirmations: 12,
    head: 23_835_256,
    reorg: { agoMs: 190 * MINUTE, depth: 2 },
  },
  {
    id: BASE,
    blockMs: 2_000,
    confirmations: 100,
    head: 38_412_907,
    reorg: { agoMs: 1.2 * MINUTE, depth: 2 },
    halt: { agoMs: 332 * MINUTE, lengthMs: 4.5 * MINUTE, why: MISROUTED },
  },
];

export interface Demo {
  readonly chains: Config['chains'];
  readonly aptos: Config['aptos'];
  /** Number of deliveries written to the ledger; undefined if an earlier start wrote them. */
  readonly deliveries: number | undefined;
  /** Starts producing blocks at the rate of the real chains. */
  startActivity(): void;
  stop(): Promise<void>;
}

/** File with the receiver's port, which is part of the webhook URLs in the ledger. */
const PORT_FILE = 'demo-receiver-port';
const APTOS_BLOCK_MS = 1_000;

/**
 * Writes a ledger for a day that ends now, and starts the chains and the receiver. If an earlier
 * call wrote a ledger to the folder, keeps it and starts new chains at the heights of its last
 * blocks.
 *
 * @param folder folder of the ledger.
 * @param hours length of the day, at least 1; a shorter day has fewer deliveries. Default: 24.
 * @throws CallerError if the folder has a ledger that this function did not write.
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
  const portFile = join(folder, PORT_FILE);
  const port = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : undefined;
  const receiver = await startDemoReceiver(nowMs, port);
  const heights =
    port === undefined
      ? undefined
      : await readHeads(folder, [...DEMO_CHAINS.map(({ id }) => id), APTOS]);
  const chains = await Promise.all(
    DEMO_CHAINS.map((each) => startChain(nowMs, each, heights?.get(each.id))),
  );
  const aptosHead = heights?.get(APTOS) ?? 512_330_418;
  const aptos = await startScriptedAptos({
    chainId: 1,
    start: {
      height: BigInt(heights === undefined ? aptosHead - 256 : aptosHead - 1),
      version: 3_481_220_117n,
    },
    genesisTimestampUsecs: BigInt(Math.floor(nowMs / 1000) - 600) * 1_000_000n,
  });
  let deliveries: number | undefined;
  if (heights === undefined) {
    deliveries = await fillSqlite(
      folder,
      makeDemoDay({
        chains,
        aptos: { ledger: aptos, blockMs: APTOS_BLOCK_MS, head: aptosHead },
        webhookUrlOf: (tag) => `${receiver.url}/hooks/${tag}`,
        nowMs,
        spanMs: hours * 60 * MINUTE,
      }),
    );
    writeFileSync(portFile, String(receiver.port));
  } else {
    // The new chains have different blocks than the ledger, so the service starts over at the heads
    // of the new chains.
    for (const { chain } of chains) chain.mine({ timestamp: BigInt(Math.floor(nowMs / 1000)) });
    aptos.mine({ timestampUsecs: BigInt(nowMs) * 1_000n });
  }
  const timers: NodeJS.Timeout[] = [];
  return {
    chains: chains.map(({ id, chain, confirmations }) => ({
      id,
      urls: [chain.wsUrl],
      confirmations,
      pollMs: 1_000,
      resetWhenReplaced: true,
    })),
    aptos: [{ network: 'mainnet', urls: [aptos.url], pollMs: 500, resetWhenReplaced: true }],
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
      timers.push(setInterval(mineAptos, APTOS_BLOCK_MS));
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all([...chains.map(({ chain }) => chain.stop()), aptos.stop()]);
      await receiver.stop();
    },
  };
}

async function startChain(
  nowMs: number,
  options: Omit<DemoChain, 'chain'>,
  /** Number of the last block in the ledger; undefined at the first start. */
  height: number | undefined,
) {
  const chain = await startScriptedChain({
    chainId: Number(options.id),
    seed: `demo ${nowMs}`,
    firstNumber: BigInt(height ?? options.head - 255),
    genesisTimestamp: BigInt(Math.floor(nowMs / 1000)) - SECONDS_BEFORE * 24n,
  });
  return { ...options, chain };
}

/**
 * Starts a server that responds on each stream's path like the stream's receiver, with its latency.
 */
async function startDemoReceiver(
  nowMs: number,
  port = 0,
): Promise<{ url: string; port: number; stop(): Promise<void> }> {
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
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: found } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${found}`,
    port: found,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
