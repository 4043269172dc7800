/** Our own routes: what the console and the command line read (`@sluice/kit/contract`, sluice.ts). */
import type { Context } from 'hono';
import * as z from 'zod';
import {
  type About,
  type ChainFamily,
  type ChainHealth,
  type DeliveryDetail,
  type DeliveryPage,
  type Expiry,
  type StreamSummary,
  deliveryFacetsQuerySchema,
  findAptosNetwork,
  listDeliveriesQuerySchema,
} from '@sluice/kit/contract';
import { hideSecrets } from '../../hideSecrets.ts';
import { eachStream } from '../../store/eachStream.ts';
import { type ChainReport, NEXT_SWEEP, type Store, type StreamRecord } from '../../store/store.ts';
import { toChainBlock } from '../../store/liveEvents.ts';
import type { AbiSource } from '../../abiSource.ts';
import type { Auth } from '../auth.ts';
import { check, notFound, readId } from '../answers.ts';
import { takeQuery } from '../query.ts';
import { readJson } from '../body.ts';
import type { Live } from '../live.ts';
import { fromCursor, toCursor } from '../pages.ts';
import { type ProblemNeeds, problemOf } from './streamProblems.ts';

export interface SluiceHandlers {
  createSession(context: Context): Promise<Response>;
  deleteSession(context: Context): Promise<Response>;
  getAbout(context: Context): Promise<Response>;
  getExpiry(context: Context): Promise<Response>;
  listStreamSummaries(context: Context): Promise<Response>;
  listDeliveries(context: Context): Promise<Response>;
  getDeliveryFacets(context: Context): Promise<Response>;
  getDelivery(context: Context): Promise<Response>;
  getDeliveryBody(context: Context): Promise<Response>;
  listChains(context: Context): Promise<Response>;
  liveEvents(context: Context): Response;
}

export const signInSchema = z.strictObject({ apiKey: z.string() });
const TAPE_BLOCKS = 60;

export interface SluiceHandlerNeeds extends ProblemNeeds {
  store: Store;
  auth: Auth;
  live: Live;
  chains(): ChainReport[];
  abiSource: Pick<AbiSource, 'chains'>;
  version: string;
  environment: About['environment'];
  /** How long deliveries are kept. */
  kept: { deliveredMs: number; undeliveredMs: number };
  /** The waits behind the next attempt of a delivery that had so many. */
  laterWaitsMs(attempts: number, fastRetried: boolean): number[];
  /** Before the schedule begins; undefined for none. */
  fastRetryMs: number | undefined;
}

export function createSluiceHandlers(needs: SluiceHandlerNeeds): SluiceHandlers {
  const { store, auth, live, chains, version, environment, kept, abiSource } = needs;
  const { laterWaitsMs, fastRetryMs } = needs;

  return {
    async createSession(context) {
      const { apiKey } = check(signInSchema, 'requestBody', readJson(context));
      await auth.signIn(context, apiKey);
      return context.body(null, 204);
    },
    async deleteSession(context) {
      await auth.signOut(context);
      return context.body(null, 204);
    },
    async getAbout(context) {
      return context.json({
        version,
        environment,
        store: store.engine,
        ...kept,
        retryWaitsMs: laterWaitsMs(0, false),
        quickRetryMs: fastRetryMs ?? null,
        oldestDeliveryAt: await store.readOldestDelivery(),
        abiChains: [...abiSource.chains],
      } satisfies About);
    },
    async getExpiry(context) {
      const [next, now] = await Promise.all([
        store.readSetting(NEXT_SWEEP),
        store.readLedgerTime(),
      ]);
      const at = next === undefined ? null : Number(next);
      const expiring = await store.countExpiring({ ...kept, atMs: Math.max(at ?? 0, now) });
      return context.json({ at, ...expiring } satisfies Expiry);
    },
    async listStreamSummaries(context) {
      const [stats, spared, certificates, pauses] = await Promise.all([
        store.readStreamStats(),
        store.listSpared(),
        store.listCertificates(),
        store.listPauses(),
      ]);
      const statsOf = new Map(stats.map((each) => [each.streamId, each]));
      const sparedOf = new Map(
        spared.map(({ streamId, leftMs: _leftMs, ...spell }) => [streamId, spell]),
      );
      const pauseOf = new Map(pauses.map(({ streamId, ...pause }) => [streamId, pause]));
      const endsAtOf = new Map(certificates.map(({ streamId, endsAt }) => [streamId, endsAt]));
      const toSummary = (stream: StreamRecord): StreamSummary => {
        const its = statsOf.get(stream.id);
        return {
          id: stream.id,
          family: stream.family,
          tag: stream.tag,
          description: stream.description,
          webhookUrl: hideSecrets(stream.webhookUrl),
          status: stream.status,
          statusMessage:
            stream.status === 'active' ? problemOf(stream, needs) : stream.statusMessage,
          chainIds: stream.chainIds,
          allAddresses: stream.options.allAddresses,
          amountOfAddresses: stream.addressCount,
          topic0: stream.family === 'evm' ? (stream.options.topic0 ?? []) : [],
          createdAt: stream.createdAt,
          queue: its?.queue ?? 0,
          delivered24h: its?.delivered24h ?? 0,
          failedAttempts24h: its?.failedAttempts24h ?? 0,
          deliveredSeries: its?.deliveredSeries ?? [],
          hourlyDelivered: its?.hourlyDelivered ?? [],
          hourlyFailed: its?.hourlyFailed ?? [],
          p95Ms: its?.p95Ms ?? null,
          lastDeliveryAt: its?.lastDeliveryAt ?? null,
          failingSince: its?.failingSince ?? null,
          paused: pauseOf.get(stream.id) ?? null,
          spared: sparedOf.get(stream.id) ?? null,
          certificateEndsAt: endsAtOf.get(stream.id) ?? null,
        };
      };
      const result: StreamSummary[] = [];
      for await (const stream of eachStream(store)) result.push(toSummary(stream));
      return context.json({ result });
    },
    async listDeliveries(context) {
      const { cursor, ...listing } = takeQuery(context, listDeliveriesQuerySchema).query;
      const page = await store.listDeliveries({ ...listing, after: fromCursor(cursor)?.id });
      return context.json({
        result: page.rows,
        ...(page.next !== undefined && { cursor: toCursor({ at: 0, id: page.next }) }),
      } satisfies DeliveryPage);
    },
    async getDeliveryFacets(context) {
      const filter = takeQuery(context, deliveryFacetsQuerySchema).query;
      return context.json(await store.countFacets(filter));
    },
    async getDelivery(context) {
      const id = readId(context, 'delivery');
      const [found, body] = await Promise.all([store.readDelivery(id), store.readDeliveryBody(id)]);
      if (found === undefined || body === undefined) throw notFound('Delivery');
      const { fastRetried, ...delivery } = found;
      const waits = delivery.state === 'pending' || delivery.state === 'leased';
      return context.json({
        ...delivery,
        webhookUrl: hideSecrets(delivery.webhookUrl),
        labels: await store.listLabels(
          delivery.streamId,
          addressesIn(body, findAptosNetwork(delivery.chainId) === undefined ? 'evm' : 'aptos'),
        ),
        bodyBytes: Buffer.byteLength(body),
        laterWaitsMs: waits ? laterWaitsMs(delivery.attempts, fastRetried) : [],
      } satisfies DeliveryDetail);
    },
    async getDeliveryBody(context) {
      const body = await store.readDeliveryBody(readId(context, 'delivery'));
      if (body === undefined) throw notFound('Delivery');
      return context.body(body, 200, { 'content-type': 'application/json' });
    },
    async listChains(context) {
      const result = await Promise.all(
        chains().map(async ({ lacksTraces: _lacksTraces, ...health }): Promise<ChainHealth> => {
          const [window, unverified] = await Promise.all([
            store.readWindow(health.id, TAPE_BLOCKS),
            store.readUnverified(health.id),
          ]);
          // A report from another process may be some seconds old; the ledger never is.
          const checkpoint = window[0]?.number ?? health.checkpoint;
          return { ...health, checkpoint, unverified, blocks: window.map(toChainBlock) };
        }),
      );
      return context.json({ result });
    },
    liveEvents(context) {
      const headers = {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      };
      // Nobody would read what a HEAD opened: it would fill until it is cut off.
      if (context.req.method === 'HEAD') return context.body(null, 200, headers);
      const events = live.open(
        context.req.header('last-event-id'),
        auth.watch(context, context.req.raw.signal),
      );
      return context.body(events, 200, headers);
    },
  };
}

/** Found in a body; no page shows more. */
const ADDRESSES = 1_000;

/** What may be an address in a body, in lower case: a topic holds one of EVM behind zeros. */
function addressesIn(body: string, family: ChainFamily): string[] {
  const found = new Set<string>();
  for (const [hex] of body.matchAll(/0x(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])/gi)) {
    const whole = hex.toLowerCase();
    found.add(family === 'evm' ? whole.replace(/^0x0{24}(?=.{40}$)/, '0x') : whole);
    if (found.size >= ADDRESSES) break;
  }
  return [...found];
}
