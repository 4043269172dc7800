/**
 * Effects of a transaction on the rest of the service: signals, live events, and changes to the
 * queues. A write adds them while its transaction runs, and they take effect once it has committed.
 */
import type { DeliverySummary, LiveEvent } from '@sluice/kit/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { LedgerLimits } from './limits.ts';
import type { Tables } from '../tables/tables.ts';
import type { Signal } from './signals.ts';

/** The effects of a transaction, which can be passed between threads. */
export interface CommittedEffects {
  signals: Signal[];
  events: LiveEvent[];
  /** Deliveries that entered or left the queue of their stream, in their new state. */
  queued: DeliverySummary[];
}

export interface Effects {
  readonly committed: CommittedEffects;
  signal(...signals: Signal[]): void;
  publish(...events: LiveEvent[]): void;
  publishStream(streamId: string): void;
  publishDeliveries(deliveries: readonly DeliverySummary[]): void;
  /** Publishes deliveries, and signals that some of them may be due or wait for enrichment. */
  offerDeliveries(deliveries: readonly DeliverySummary[]): void;
  /** Offers deliveries that entered or left the queue of their stream. */
  moveDeliveries(deliveries: readonly DeliverySummary[]): void;
}

export function createEffects(): Effects {
  const committed: CommittedEffects = { signals: [], events: [], queued: [] };
  const effects: Effects = {
    committed,
    signal: (...signals) => void committed.signals.push(...signals),
    publish: (...events) => void committed.events.push(...events),
    publishStream: (streamId) => effects.publish({ type: 'stream', streamId }),
    publishDeliveries(deliveries) {
      for (const delivery of deliveries) effects.publish({ type: 'delivery', delivery });
    },
    offerDeliveries(deliveries) {
      effects.publishDeliveries(deliveries);
      if (deliveries.length > 0) effects.signal('deliveries');
    },
    moveDeliveries(deliveries) {
      effects.offerDeliveries(deliveries);
      committed.queued.push(...deliveries);
    },
  };
  return effects;
}

/** Runs a transaction. If it rejects, it has no effects. */
export type Transact = <Result>(
  work: (trx: Transaction<Tables>, effects: Effects) => Promise<Result>,
) => Promise<Result>;

/** The database of a ledger, as the writes use it. */
export interface Ledger extends LedgerLimits {
  db: Kysely<Tables>;
  engine: Engine;
  transact: Transact;
}
