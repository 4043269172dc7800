/**
 * Records incidents: the problems that stop or delay webhooks, grouped by cause, with their start
 * and end. One process at a time records them.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { UNDELIVERED, cutText, receiverOf } from '@sluice/kit/contract';
import { type Log, describeError } from '../base/log.ts';
import type { FailingLane, IncidentRow } from '../store/incidents/contract.ts';
import { subjectOfReceiver } from '../store/incidents/subject.ts';
import { newId } from '../store/rows/ids.ts';
import { type Place, laneOf, toPlace } from '../store/rows/laneIds.ts';
import type { Store } from '../store/store.ts';
import type { LeaseTerm } from './duty.ts';
import { type AlertContent, type SituationSources, createSituation } from './problems.ts';

const CHECK_MS = 5_000;
/** Time for which a problem must last to be an incident. Short ones would hide the others. */
const LASTING_MS = 15_000;
/** Interval at which the newest failure of a receiver is read again. */
const FAILURE_MS = 60_000;
/** Interval at which old incidents are deleted. */
const DELETE_MS = 3_600_000;
const KEPT_MS = 30 * 24 * 3_600_000;
/** Number of lanes that an incident names. */
const MAX_LANES = 100;
/** Maximum number of open incidents. There are more only if hundreds of receivers fail. */
const MAX_OPEN = 1_000;
const REASON_CHARACTERS = 500;

/** A current problem, as an incident shows it. */
type Problem = Pick<
  IncidentRow,
  'kind' | 'cause' | 'reason' | 'chain' | 'lanes' | 'laneCount' | 'deliveryId'
> & {
  /** Start of the problem in Unix milliseconds, if it is known better than by the checks. */
  since?: number | undefined;
};

export interface IncidentOptions {
  sources: SituationSources & {
    store: Pick<
      Store,
      'listFailingLanes' | 'listIncidents' | 'saveIncident' | 'deleteIncidents' | 'listDeliveries'
    >;
  };
  log: Log;
  /** Intervals in milliseconds. Tests override the defaults. */
  timing?: { checkMs?: number; lastingMs?: number; failureMs?: number };
}

export function startIncidents({ sources, log, timing = {} }: IncidentOptions): LeaseTerm {
  const { checkMs = CHECK_MS, lastingMs = LASTING_MS, failureMs = FAILURE_MS } = timing;
  const { store } = sources;
  const stopping = new AbortController();
  const situation = createSituation({ ...sources, haltMs: 0 });
  let deleteAt = 0;
  /** When each current problem was first seen, on a monotonic clock. */
  const firstSeen = new Map<string, number>();
  /** The newest failure of each receiver, and when it was read, on a monotonic clock. */
  const failures = new Map<string, { readAt: number; failure: Failure }>();

  const readFailure = async (receiver: string, lanes: readonly FailingLane[]): Promise<Failure> => {
    const known = failures.get(receiver);
    const now = performance.now();
    if (known !== undefined && now - known.readAt < failureMs) return known.failure;
    const { rows } = await store.listDeliveries({
      streamId: lanes.slice(0, MAX_LANES).map(({ id }) => toPlace(id).streamId),
      state: UNDELIVERED,
      attemptsFrom: 1,
      limit: MAX_LANES,
    });
    const ids = new Set(lanes.map(({ id }) => id));
    const newest = rows
      .filter((row) => ids.has(laneOf(row)))
      .toSorted((a, b) => b.updatedAt - a.updatedAt)[0];
    const failure = describeFailure(receiver, newest);
    failures.set(receiver, { readAt: now, failure });
    return failure;
  };

  const nameOf = (chainId: string): string =>
    sources.chains().find(({ id }) => id === chainId)?.name ?? chainId;

  const readProblems = async (): Promise<{ now: number; problems: Map<string, Problem> }> => {
    const { now, problems: alerts } = await situation.readProblems();
    const problems = new Map<string, Problem>();
    for (const [subject, { alert }] of alerts) {
      const problem = toProblem(alert, nameOf);
      if (problem !== undefined) problems.set(subject, problem);
    }
    const failing = Map.groupBy(await store.listFailingLanes(), receiverOf);
    for (const receiver of failures.keys()) if (!failing.has(receiver)) failures.delete(receiver);
    for (const [receiver, lanes] of failing) {
      const starts = lanes.flatMap(({ since }) => since ?? []);
      problems.set(subjectOfReceiver(receiver), {
        kind: 'receiver',
        chain: null,
        lanes: lanes.slice(0, MAX_LANES).map(({ id }) => id),
        laneCount: lanes.length,
        since: starts.length === 0 ? undefined : Math.min(...starts),
        ...(await readFailure(receiver, lanes)),
      });
    }
    return { now, problems };
  };

  const look = async (): Promise<void> => {
    const { now, problems } = await readProblems();
    const open = new Map(
      (await store.listIncidents({ isOpen: true, limit: MAX_OPEN })).map((row) => [
        row.subject,
        row,
      ]),
    );
    const at = performance.now();
    for (const subject of firstSeen.keys()) if (!problems.has(subject)) firstSeen.delete(subject);
    for (const [subject, { since, ...found }] of problems) {
      const problem = { ...found, reason: cutText(found.reason, REASON_CHARACTERS) };
      const seen = firstSeen.get(subject) ?? at;
      firstSeen.set(subject, seen);
      const row = open.get(subject);
      if (row === undefined) {
        if (at - seen < lastingMs || open.size >= MAX_OPEN) continue;
        const startedAt = since ?? Math.round(now - (at - seen));
        await store.saveIncident({ id: newId(now), subject, ...problem, startedAt, endedAt: null });
        continue;
      }
      const changed = { ...row, ...problem };
      if (JSON.stringify(changed) !== JSON.stringify(row)) await store.saveIncident(changed);
    }
    for (const [subject, row] of open) {
      if (problems.has(subject) || !situation.isOver(subject)) continue;
      await store.saveIncident({ ...row, endedAt: now });
    }
    if (at >= deleteAt) {
      await store.deleteIncidents(now - KEPT_MS);
      deleteAt = at + DELETE_MS;
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await look();
      } catch (error) {
        log.warn('failed to record incidents, retrying', { error: describeError(error) });
      }
      await wait(checkMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const running = run();
  return {
    report: () => null,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

type Failure = Pick<IncidentRow, 'cause' | 'reason' | 'deliveryId'>;

function describeFailure(
  receiver: string,
  newest: { id: string; status: number | null; error: string | null } | undefined,
): Failure {
  if (newest === undefined) return { cause: `${receiver} fails`, reason: '', deliveryId: null };
  const { id, status, error } = newest;
  return {
    cause: status === null ? `no response from ${receiver}` : `${status} from ${receiver}`,
    reason: error ?? '',
    deliveryId: id,
  };
}

/** Returns the problem of an alert; undefined for streams, which are grouped by their receiver. */
function toProblem(alert: AlertContent, nameOf: (chainId: string) => string): Problem | undefined {
  const common = { chain: null, lanes: [], laneCount: 0, deliveryId: null };
  const ofLane = (place: Place) => ({ lanes: [laneOf(place)], laneCount: 1 });
  if (alert.type === 'delivery.quarantined') {
    const { tag, deliveryId, reason } = alert.data;
    const cause = `deliveries of ${tag} are set aside`;
    return { ...common, ...ofLane(alert.data), kind: 'quarantine', cause, reason, deliveryId };
  }
  if (alert.type === 'feed.expiring') {
    const { tag, consumer, reason } = alert.data;
    const cause = `the consumer ${consumer} of ${tag} is behind`;
    return { ...common, ...ofLane(alert.data), kind: 'feed', cause, reason };
  }
  if (alert.type === 'chain.halted') {
    const { chainId, reason } = alert.data;
    const cause = `${nameOf(chainId)} is down`;
    return { ...common, kind: 'chain', cause, reason, chain: chainId };
  }
  if (alert.type === 'disk.filling') {
    return { ...common, kind: 'disk', cause: 'the disk is filling', ...alert.data };
  }
  if (alert.type === 'client-certificate.expiring') {
    const cause = 'the client certificate expires';
    return { ...common, kind: 'certificate', cause, ...alert.data };
  }
  return undefined;
}
