/** What is in trouble now, as the ledger, the chains and the disk have it. */
import type { OperatorNotice } from '@sluice/kit/contract';
import type { Store } from '../store/store.ts';
import type { ChainReport } from '../store/upkeep/contract.ts';

export type Told = OperatorNotice extends infer Notice
  ? Notice extends OperatorNotice
    ? Pick<Notice, 'type' | 'data'>
    : never
  : never;

export interface SituationSources {
  store: Pick<Store, 'readTroubles' | 'readStream'>;
  chains(): ChainReport[];
  /** That the ledger's disk will be full some day, for people; undefined while it is not. */
  diskFilling(): string | undefined;
  /** Milliseconds a chain must be down. Default 30,000: a node that is away for a moment is no halt. */
  haltMs?: number | undefined;
}

export interface Situation {
  /** By subject, what is to be said of it as it is now; its state tells one trouble from the next. */
  readTroubles(): Promise<{ now: number; troubles: Map<string, { state: string; notice: Told }> }>;
  /** What is said when a trouble is over, or undefined where that says itself. */
  readRecovery(subject: string): Promise<Told | undefined>;
  /** A chain that is only starting, or went down a moment ago, is neither well nor told again. */
  isOver(subject: string): boolean;
}

const HALT_MS = 30_000;
const DISK = 'disk';

export function createSituation({
  store,
  chains,
  diskFilling,
  haltMs = HALT_MS,
}: SituationSources): Situation {
  /** Since when a chain is down, by a clock that never jumps. */
  const downSince = new Map<string, number>();

  return {
    async readTroubles() {
      const { now, streams, quarantined } = await store.readTroubles();
      const troubles = new Map<string, { state: string; notice: Told }>();
      for (const { id: streamId, tag, status, reason } of streams) {
        const type =
          status === 'error' ? ('stream.error' as const) : ('stream.terminated' as const);
        const notice = { type, data: { streamId, tag, reason } };
        troubles.set(`stream ${streamId}`, { state: status, notice });
      }
      for (const data of quarantined) {
        const notice = { type: 'delivery.quarantined' as const, data };
        troubles.set(`quarantine ${data.streamId}`, { state: String(data.count), notice });
      }
      for (const { id: chainId, state, message: reason } of chains()) {
        if (state !== 'down') downSince.delete(chainId);
        else if (!downSince.has(chainId)) downSince.set(chainId, performance.now());
        const since = downSince.get(chainId);
        if (since === undefined || performance.now() - since < haltMs) continue;
        const notice = { type: 'chain.halted' as const, data: { chainId, reason } };
        troubles.set(`chain ${chainId}`, { state: 'down', notice });
      }
      const reason = diskFilling();
      if (reason !== undefined) {
        troubles.set(DISK, {
          state: 'filling',
          notice: { type: 'disk.filling', data: { reason } },
        });
      }
      return { now, troubles };
    },

    async readRecovery(subject) {
      if (subject === DISK) return { type: 'disk.recovered', data: {} };
      const [kind, id = ''] = subject.split(' ');
      if (kind === 'stream') {
        const stream = await store.readStream(id);
        return stream?.status === 'active'
          ? { type: 'stream.recovered', data: { streamId: id, tag: stream.tag } }
          : undefined;
      }
      if (kind !== 'chain') return undefined;
      // A chain that starts is not read yet; one that is gone from the settings never is again.
      const state = chains().find((chain) => chain.id === id)?.state;
      return state === 'live' || state === 'catching-up'
        ? { type: 'chain.resumed', data: { chainId: id } }
        : undefined;
    },

    isOver(subject) {
      const [kind, id] = subject.split(' ');
      const chain = kind === 'chain' ? chains().find((each) => each.id === id) : undefined;
      return chain === undefined || chain.state === 'live' || chain.state === 'catching-up';
    },
  };
}
