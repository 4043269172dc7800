/** Runs a complete service on a scripted chain, and checks its deliveries against that chain. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { type ChainHealth, DELIVERY_STATES, type DeliverySummary } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedChain,
  type ScriptedBlock,
  type ScriptedChainOptions,
  type WebhookSink,
  scripted,
  startScriptedChain,
  startWebhookSink,
} from '@sluice/testkit';
import { expect } from 'vitest';
import type { ServiceConfig } from '../config/config.ts';
import type { ChainConfig } from '../families/evm/config/chains.ts';
import { createLog } from '../base/log.ts';
import { type Service, startService } from '../service.ts';

export const API_KEY = 'test-key-0123456789abcdef';
export const CHAIN = '0x7a69';
export const CONFIRMATIONS = 3;
export const WATCHED = '0x00000000000000000000000000000000000000aa';
export const TOKEN = '0x00000000000000000000000000000000000000bb';
export const OTHER = '0x00000000000000000000000000000000000000cc';

/** States of deliveries that are neither sent nor canceled. */
const UNSENT = DELIVERY_STATES.filter((state) => state !== 'succeeded' && state !== 'cancelled');

/** Settings that differ from the defaults of these tests. */
type Change = Partial<ChainConfig> &
  Pick<ServiceConfig, 'settle' | 'readAgainAfterMs' | 'maxChildren'>;

export interface IngestWorld {
  readonly chain: RunningScriptedChain;
  readonly sink: WebhookSink;
  readonly folder: string;
  /** Log lines of the service since the first start. */
  readonly log: readonly string[];
  /** The service that was started last; `sluice` is a client of it. */
  readonly service: Service;
  readonly sluice: SluiceClient;
  start(change?: Change): Promise<void>;
  /**
   * Starts the service, and creates a stream that watches `WATCHED` from the next block on. Returns
   * the id of the stream.
   */
  startWatching(change?: Change, native?: boolean): Promise<string>;
  health(): Promise<ChainHealth>;
  until<T>(
    what: string,
    read: () => Promise<T | undefined | false>,
    timeoutMs?: number,
  ): Promise<T>;
  /** Waits until the service is at the head of the chain. */
  caughtUp(): Promise<boolean>;
  readDeliveries(): Promise<DeliverySummary[]>;
  /**
   * Waits until every delivery is sent, and checks the deliveries against the canonical chain from
   * this block on.
   */
  expectOracle(from: number): Promise<void>;
  stop(): Promise<void>;
}

/** @param databaseUrl an empty PostgreSQL database for the ledger; default: SQLite */
export async function createIngestWorld(
  databaseUrl?: string,
  chainOptions?: ScriptedChainOptions,
): Promise<IngestWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ingest-'));
  const sink = await startWebhookSink();
  const chain = await startScriptedChain(chainOptions);
  const log: string[] = [];
  let service: Service | undefined;
  let sluice: SluiceClient;

  const world: IngestWorld = {
    chain,
    sink,
    folder,
    log,
    get service() {
      return service!;
    },
    get sluice() {
      return sluice;
    },

    async start({ settle, readAgainAfterMs, maxChildren, ...change } = {}) {
      service = await startService(
        {
          port: 0,
          host: '127.0.0.1',
          data: folder,
          databaseUrl,
          apiKey: API_KEY,
          chains: [
            {
              id: CHAIN,
              urls: [chain.url],
              confirmations: CONFIRMATIONS,
              pollMs: 20,
              // As for a chain with public nodes.
              ...{ resetWhenReplaced: false, ...change },
            },
          ],
          aptos: [],
          settle,
          readAgainAfterMs,
          maxChildren,
          allowPrivateEndpoints: true,
        },
        createLog((line) => log.push(line)),
      );
      sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
    },

    async startWatching(change = {}, native = true) {
      await world.start(change);
      await world.until('the chain is live', async () => (await world.health()).state === 'live');
      const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
      const stream = await client.streams.create({
        webhookUrl: `${sink.url}/hook`,
        description: '',
        tag: 'test',
        chainIds: [CHAIN],
        includeContractLogs: true,
        includeNativeTxs: native,
      });
      const added = await client.streams.addAddress(stream.id, WATCHED);
      expect(added.effectiveFrom).toEqual({ [CHAIN]: (await world.health()).checkpoint! + 1 });
      return stream.id;
    },

    health: async () => (await sluice.listChains())[0]!,

    async until(what, read, timeoutMs = 60_000) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const value = await read();
        if (value !== undefined && value !== false) return value;
        if (Date.now() > deadline) {
          const health = JSON.stringify({ ...(await world.health()), blocks: [] });
          throw new Error(`${what}: timed out; ${health}\n${log.join('')}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },

    caughtUp: () =>
      world.until('the service reaches the head', async () => {
        const { blocks } = await world.health();
        return blocks[0]?.hash === chain.head.hash;
      }),

    async readDeliveries() {
      const all: DeliverySummary[] = [];
      for await (const each of sluice.listDeliveries({ limit: 100 })) all.push(each);
      return all;
    },

    async expectOracle(from) {
      await world.caughtUp();
      const head = Number(chain.head.number);
      const matching = chain
        .canonical()
        .filter((block) => Number(block.number) >= from && concernsUs(block))
        .map((block) => Number(block.number));
      const expected = matching
        .flatMap((number) => [
          `${number} unconfirmed`,
          ...(number + CONFIRMATIONS <= head ? [`${number} confirmed`] : []),
        ])
        .toSorted();
      await world.until('every delivery is sent', async () => {
        const { result } = await sluice.listDeliveries({ limit: 1, state: UNSENT });
        return result.length === 0;
      });
      const received = new Map(
        sink.requests.map(({ id, body }) => [id, JSON.parse(body) as { block: { hash: string } }]),
      );
      const details = await Promise.all(
        (await world.readDeliveries()).map(async (each) => {
          // Only the ledger has the blocks of deliveries that were canceled before they were sent.
          const blockHash =
            received.get(each.id)?.block.hash ?? (await sluice.getDelivery(each.id)).blockHash;
          return { ...each, blockHash };
        }),
      );
      const canonical = new Set<string>(chain.canonical().map((block) => block.hash));
      const live = details.filter((each) => canonical.has(each.blockHash));
      expect(live.map((each) => `${each.blockNumber} ${each.phase}`).toSorted()).toEqual(expected);
      expect(live.every((each) => each.state === 'succeeded')).toBe(true);
      // Confirmed deliveries of a removed block must have been sent before the block was removed.
      const gone = details.filter((each) => !canonical.has(each.blockHash));
      for (const each of gone)
        expect(each.phase === 'unconfirmed' || each.state === 'succeeded').toBe(true);
      for (const each of live) expect(received.has(each.id)).toBe(true);
    },

    async stop() {
      await service?.stop();
      await chain.stop();
      await sink.close();
      rmSync(folder, { recursive: true });
    },
  };
  return world;
}

/** Returns the contents of a block with one native transaction to this address. */
export const transferTo = (to: string) => ({
  transactions: [scripted.transfer({ from: OTHER, to: to as `0x${string}`, value: 5n })],
});

/**
 * Returns the contents of a block with a token transfer to the watched address, and an unrelated
 * native transaction.
 */
export const tokenTransfer = () => ({
  transactions: [
    scripted.erc20Transfer({ token: TOKEN, from: OTHER, to: WATCHED, value: 7n }),
    scripted.transfer({ from: OTHER, to: TOKEN, value: 1n }),
  ],
});

const concernsUs = (block: ScriptedBlock): boolean =>
  block.transactions.some(
    (each) =>
      each.to?.toLowerCase() === WATCHED ||
      each.logs.some((one) => one.topics.some((topic) => topic.endsWith(WATCHED.slice(2)))),
  );
