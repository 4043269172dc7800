/** Calls for the service itself: its version and settings, and what retention deletes next. */
import type { ServiceDetails } from '@sluice/kit/contract';
import type { Store } from '../../../store/store.ts';
import { NEXT_SWEEP } from '../../../store/retention/contract.ts';
import type { Handlers } from '../../handlers.ts';

export interface AboutHandlerNeeds {
  store: Store;
  /** Chains for which ABIs of verified contracts are read. */
  abiChains: readonly string[];
  /** Base URLs of block explorers by chain id. */
  explorers: Readonly<Record<string, string>>;
  version: string;
  commit: string;
  environment: ServiceDetails['environment'];
  /** Whether calls may add, test and remove nodes and alert URLs. */
  allowsNodeChanges: boolean;
  /** Retention of deliveries. */
  kept: { deliveredMs: number; undeliveredMs: number };
  /**
   * Returns the scheduled waits that remain after the next attempt of a delivery. `attempts` is the
   * number of attempts so far; `fastRetried` is true if one of them was the fast retry. `own` is the
   * schedule of the stream, if it has one.
   */
  remainingWaitsMs(attempts: number, fastRetried: boolean, own?: readonly number[]): number[];
  /** Wait before the fast retry, which precedes the schedule; undefined if there is none. */
  fastRetryMs: number | undefined;
}

export function createAboutHandlers({ store, kept, ...needs }: AboutHandlerNeeds) {
  return {
    async getAbout() {
      return {
        version: needs.version,
        commit: needs.commit,
        environment: needs.environment,
        database: store.engine,
        ...kept,
        retryWaitsMs: needs.remainingWaitsMs(0, false),
        fastRetryMs: needs.fastRetryMs ?? null,
        oldestDeliveryAt: await store.readOldestDelivery(),
        abiChains: [...needs.abiChains],
        allowsNodeChanges: needs.allowsNodeChanges,
        explorers: { ...needs.explorers },
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
  } satisfies Partial<Handlers>;
}
