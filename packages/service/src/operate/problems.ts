/**
 * Finds the current problems of streams, deliveries, chains, the disk and the client certificate,
 * and their recoveries.
 */
import type { Alert, ChainState, StreamStatus } from '@sluice/kit/contract';
import { toPlace } from '../store/rows/laneIds.ts';
import type { Store } from '../store/store.ts';
import type { ChainReport } from '../store/leases/contract.ts';

/** An alert before it has a timestamp. */
export type AlertContent = Alert extends infer Each
  ? Each extends Alert
    ? Pick<Each, 'type' | 'data'>
    : never
  : never;

export interface SituationSources {
  store: Pick<Store, 'readProblems' | 'readStream' | 'listDestinations' | 'listFeedsBehind'>;
  /** Retention of delivered webhooks, which includes those that consumers of feeds have not read. */
  deliveredMs: number;
  chains(): ChainReport[];
  /** Returns a warning if the ledger's disk is almost full or soon will be; undefined otherwise. */
  diskFilling(): string | undefined;
  /** Returns a warning if the client certificate must be renewed; undefined otherwise. */
  certificateExpiring(): string | undefined;
  /**
   * Milliseconds for which a chain must be down to count as halted. Default: 30,000, which ignores
   * brief outages of nodes.
   */
  haltMs?: number | undefined;
}

export interface Situation {
  /**
   * Returns the ledger's time, and the alert for each subject with a problem; `state` distinguishes
   * different problems of a subject.
   */
  readProblems(): Promise<{
    now: number;
    problems: Map<string, { state: string; alert: AlertContent }>;
  }>;
  /**
   * Returns the alert for a recovery; undefined if the subject has not recovered, or needs no such
   * alert.
   */
  readRecovery(subject: string): Promise<AlertContent | undefined>;
  /**
   * Returns whether a subject without a problem has recovered: false for a chain that is starting
   * or just went down.
   */
  isOver(subject: string): boolean;
}

/** Returns whether a chain in this state is read, even if its next block must wait. */
export const isUp = (state: ChainState): boolean => state !== 'starting' && state !== 'down';

const HALT_MS = 30_000;
/** Time before the first delivery of a consumer expires, at which an alert reports that. */
const EXPIRING_MS = 24 * 3_600_000;
const DISK = 'disk';
const CERTIFICATE = 'client certificate';

export function createSituation({
  store,
  deliveredMs,
  chains,
  diskFilling,
  certificateExpiring,
  haltMs = HALT_MS,
}: SituationSources): Situation {
  /** Times at which chains went down, on a monotonic clock. */
  const downSince = new Map<string, number>();

  /** Returns the status of a stream or of an additional destination, and the tag of the stream. */
  const readLane = async (
    id: string,
  ): Promise<{ status: StreamStatus; tag: string } | undefined> => {
    const { streamId, destination } = toPlace(id);
    const stream = await store.readStream(streamId);
    if (stream === undefined || destination === undefined) return stream;
    const added = await store.listDestinations(streamId);
    const found = added.find((each) => each.destination === destination);
    return found && { status: found.status, tag: stream.tag };
  };

  return {
    async readProblems() {
      const { now, streams, quarantined } = await store.readProblems();
      const problems = new Map<string, { state: string; alert: AlertContent }>();
      for (const { id, tag, status, reason } of streams) {
        const type =
          status === 'error' ? ('stream.error' as const) : ('stream.terminated' as const);
        const alert = { type, data: { ...toPlace(id), tag, reason } };
        problems.set(`stream ${id}`, { state: status, alert });
      }
      for (const { streamId: lane, ...counted } of quarantined) {
        const data = { ...toPlace(lane), ...counted };
        const alert = { type: 'delivery.quarantined' as const, data };
        problems.set(`quarantine ${lane}`, { state: String(data.count), alert });
      }
      const expiringMs = Math.min(EXPIRING_MS, deliveredMs / 2);
      for (const { oldestAt, ...consumer } of await store.listFeedsBehind(
        now - deliveredMs + expiringMs,
      )) {
        const expires = new Date(oldestAt + deliveredMs).toISOString();
        const data = {
          ...consumer,
          ...toPlace(consumer.streamId),
          oldestAt: new Date(oldestAt).toISOString(),
          reason: `The consumer ${consumer.consumer} has not acknowledged deliveries, the first of which expires at ${expires}`,
        };
        const subject = `feed ${consumer.streamId} ${consumer.consumer}`;
        problems.set(subject, { state: 'expiring', alert: { type: 'feed.expiring', data } });
      }
      for (const { id: chainId, state, message: reason } of chains()) {
        if (state !== 'down') downSince.delete(chainId);
        else if (!downSince.has(chainId)) downSince.set(chainId, performance.now());
        const since = downSince.get(chainId);
        if (since === undefined || performance.now() - since < haltMs) continue;
        const alert = { type: 'chain.halted' as const, data: { chainId, reason } };
        problems.set(`chain ${chainId}`, { state: 'down', alert });
      }
      const filling = diskFilling();
      if (filling !== undefined) {
        const alert = { type: 'disk.filling' as const, data: { reason: filling } };
        problems.set(DISK, { state: 'filling', alert });
      }
      const expiring = certificateExpiring();
      if (expiring !== undefined) {
        const alert = { type: 'client-certificate.expiring' as const, data: { reason: expiring } };
        problems.set(CERTIFICATE, { state: 'expiring', alert });
      }
      return { now, problems };
    },

    async readRecovery(subject) {
      if (subject === DISK) return { type: 'disk.recovered', data: {} };
      if (subject === CERTIFICATE) return { type: 'client-certificate.renewed', data: {} };
      const [kind, id = '', consumer = ''] = subject.split(' ');
      if (kind === 'stream') {
        const lane = await readLane(id);
        return lane?.status === 'active'
          ? { type: 'stream.recovered', data: { ...toPlace(id), tag: lane.tag } }
          : undefined;
      }
      if (kind === 'feed') {
        const lane = await readLane(id);
        return (
          lane && { type: 'feed.recovered', data: { ...toPlace(id), tag: lane.tag, consumer } }
        );
      }
      if (kind !== 'chain') return undefined;
      // A chain that is starting is not being read yet. A chain that was removed from the settings
      // will never be read.
      const state = chains().find((chain) => chain.id === id)?.state;
      return state !== undefined && isUp(state)
        ? { type: 'chain.resumed', data: { chainId: id } }
        : undefined;
    },

    isOver(subject) {
      const [kind, id] = subject.split(' ');
      const chain = kind === 'chain' ? chains().find((each) => each.id === id) : undefined;
      return chain === undefined || isUp(chain.state);
    },
  };
}
