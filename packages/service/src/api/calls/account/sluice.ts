/**
 * Calls that only Sluice has, for the console and the command line: sessions, streams, deliveries,
 * chains and live events.
 */
import {
  familyOf,
  type About,
  type ChainHealth,
  type StreamSummary,
  timeOfId,
} from '@sluice/kit/contract';
import { hideSecrets } from '../../../base/hideSecrets.ts';
import { eachStream } from '../../../store/streams/eachStream.ts';
import { type ChainReport, NEXT_SWEEP } from '../../../store/upkeep/contract.ts';
import type { Store } from '../../../store/store.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import { toChainBlock } from '../../../store/blocks/chainBlock.ts';
import { type Auth, callerOf } from '../../auth/auth.ts';
import { notFound } from '../../answers.ts';
import type { Handlers } from '../../handlers.ts';
import type { Live } from '../../live.ts';
import { fromCursor, toCursor } from '../../pages.ts';
import type { ApiFamilies, ApiFamily, ProblemNeeds } from '../../family.ts';
import { problemOf } from '../streams/streamProblems.ts';
import { isWaiting } from '../../../store/rows/deliveryRow.ts';

const TIMELINE_BLOCKS = 60;

export interface SluiceHandlerNeeds extends ProblemNeeds {
  store: Store;
  auth: Auth;
  live: Live;
  chains(): ChainReport[];
  families: ApiFamilies;
  /** Chains for which ABIs of verified contracts are read. */
  abiChains: readonly string[];
  /** Base URLs of block explorers by chain id. */
  explorers: Readonly<Record<string, string>>;
  version: string;
  commit: string;
  environment: About['environment'];
  /** Whether calls may add, test and remove nodes and alert URLs. */
  allowsNodeChanges: boolean;
  /** Retention of deliveries. */
  kept: { deliveredMs: number; undeliveredMs: number };
  /**
   * Returns the scheduled waits that remain after the next attempt of a delivery. `attempts` is the
   * number of attempts so far; `fastRetried` is true if one of them was the fast retry.
   */
  remainingWaitsMs(attempts: number, fastRetried: boolean): number[];
  /** Wait before the fast retry, which precedes the schedule; undefined if there is none. */
  fastRetryMs: number | undefined;
}

export function createSluiceHandlers(needs: SluiceHandlerNeeds) {
  const { store, auth, live, chains, version, commit, environment, kept, families, explorers } =
    needs;
  const { remainingWaitsMs, fastRetryMs } = needs;

  return {
    async createSession({ context, body: { apiKey, sessionName } }) {
      await auth.signIn(context, apiKey, sessionName);
      return undefined;
    },
    checkSession: () => undefined,
    async deleteSession({ context }) {
      await auth.signOut(context);
      return undefined;
    },
    async getAbout() {
      return {
        version,
        commit,
        environment,
        database: store.engine,
        ...kept,
        retryWaitsMs: remainingWaitsMs(0, false),
        quickRetryMs: fastRetryMs ?? null,
        oldestDeliveryAt: await store.readOldestDelivery(),
        abiChains: [...needs.abiChains],
        allowsNodeChanges: needs.allowsNodeChanges,
        explorers: { ...explorers },
      };
    },
    async getExpiry() {
      const [next, now] = await Promise.all([
        store.readSetting(NEXT_SWEEP),
        store.readLedgerTime(),
      ]);
      const at = next === undefined ? null : Number(next);
      const expiring = await store.countExpiring({ ...kept, atMs: Math.max(at ?? 0, now) });
      return { at, ...expiring };
    },
    async listStreamSummaries() {
      const [stats, backOff, certificates, pauses] = await Promise.all([
        store.readStreamStats(),
        store.listBackOffs(),
        store.listCertificates(),
        store.listPauses(),
      ]);
      const statsOf = new Map(stats.map((each) => [each.streamId, each]));
      const backOffOf = new Map(
        backOff.map(({ streamId, leftMs: _leftMs, ...spell }) => [streamId, spell]),
      );
      const pauseOf = new Map(pauses.map(({ streamId, ...pause }) => [streamId, pause]));
      const endsAtOf = new Map(certificates.map(({ streamId, endsAt }) => [streamId, endsAt]));
      const toSummary = (stream: StreamRecord): StreamSummary => {
        const its = statsOf.get(stream.id);
        const family = families[stream.family];
        return {
          id: stream.id,
          family: stream.family,
          tag: stream.tag,
          description: stream.description,
          webhookUrl: hideSecrets(stream.webhookUrl),
          status: stream.status,
          statusMessage:
            stream.status === 'active' ? problemOf(stream, family, needs) : stream.statusMessage,
          chainIds: stream.chainIds,
          allAddresses: stream.options.allAddresses,
          amountOfAddresses: stream.addressCount,
          topic0: family.topicsOf(stream),
          createdAt: stream.createdAt,
          queue: its?.queue ?? 0,
          delivered24h: its?.delivered24h ?? 0,
          redelivered24h: its?.redelivered24h ?? 0,
          failedAttempts24h: its?.failedAttempts24h ?? 0,
          deliveredSeries: its?.deliveredSeries ?? [],
          hourlyDelivered: its?.hourlyDelivered ?? [],
          hourlyFailed: its?.hourlyFailed ?? [],
          p95Ms: its?.p95Ms ?? null,
          lastDeliveryAt: its?.lastDeliveryAt ?? null,
          failingSince: its?.failingSince ?? null,
          paused: pauseOf.get(stream.id) ?? null,
          backOff: backOffOf.get(stream.id) ?? null,
          certificateEndsAt: endsAtOf.get(stream.id) ?? null,
        };
      };
      const result: StreamSummary[] = [];
      for await (const stream of eachStream(store)) result.push(toSummary(stream));
      return { result };
    },
    async listDeliveries({ query: { cursor, ...listing } }) {
      const page = await store.listDeliveries({ ...listing, after: fromCursor(cursor)?.id });
      return {
        result: page.rows,
        ...(page.next !== undefined && { cursor: toCursor({ at: 0, id: page.next }) }),
        ...(page.searchedTo !== undefined && { searchedTo: timeOfId(page.searchedTo) }),
      };
    },
    getDeliveryCounts: ({ query }) => store.countByField(query),
    async getDelivery({ params: { id } }) {
      const [found, body] = await Promise.all([store.readDelivery(id), store.readDeliveryBody(id)]);
      if (found === undefined || body === undefined) throw notFound('Delivery');
      const { fastRetried, ...delivery } = found;
      const waits = isWaiting(delivery) || delivery.state === 'leased';
      return {
        ...delivery,
        webhookUrl: hideSecrets(delivery.webhookUrl),
        labels: await store.listLabels(
          delivery.streamId,
          addressesIn(body, families[familyOf(delivery.chainId)]),
        ),
        bodyBytes: Buffer.byteLength(body),
        remainingWaitsMs: waits ? remainingWaitsMs(delivery.attempts, fastRetried) : [],
      };
    },
    async getDeliveryBody({ context, params: { id } }) {
      const body = await store.readDeliveryBody(id);
      if (body === undefined) throw notFound('Delivery');
      return context.body(body, 200, { 'content-type': 'application/json' });
    },
    async listChains() {
      const result = await Promise.all(
        chains().map(async ({ lacksTraces: _lacksTraces, ...health }): Promise<ChainHealth> => {
          const [window, unverified] = await Promise.all([
            store.readWindow(health.id, TIMELINE_BLOCKS),
            store.readUnverified(health.id),
          ]);
          // A report from another process may be a few seconds old, but the ledger is always
          // current.
          const checkpoint = window[0]?.number ?? health.checkpoint;
          return { ...health, checkpoint, unverified, blocks: window.map(toChainBlock) };
        }),
      );
      return { result };
    },
    liveEvents({ context }) {
      const headers = {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      };
      // A HEAD request gets only the headers, because nothing would read a stream.
      if (context.req.method === 'HEAD') return context.body(null, 200, headers);
      const events = live.open(context.req.header('last-event-id'), callerOf(context).keyId, () =>
        auth.watch(context, context.req.raw.signal),
      );
      return context.body(events, 200, headers);
    },
  } satisfies Partial<Handlers>;
}

/** Maximum number of addresses in a body for which labels are read. */
const ADDRESSES = 1_000;

/** Returns the hex values in a body that may be addresses, in lowercase. */
function addressesIn(body: string, family: ApiFamily): string[] {
  const found = new Set<string>();
  for (const [hex] of body.matchAll(/0x(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])/gi)) {
    found.add(family.toBodyAddress(hex));
    if (found.size >= ADDRESSES) break;
  }
  return [...found];
}
