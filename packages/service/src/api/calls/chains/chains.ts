/** Call for the health of every chain, with its newest blocks. */
import type { ChainHealth } from '@sluice/kit/contract';
import { toChainBlock } from '../../../store/blocks/chainBlock.ts';
import type { Store } from '../../../store/store.ts';
import type { ChainReport } from '../../../store/leases/contract.ts';
import type { Handlers } from '../../handlers.ts';

const TIMELINE_BLOCKS = 60;

export interface ChainHandlerNeeds {
  store: Store;
  chains(): ChainReport[];
}

export function createChainHandlers({ store, chains }: ChainHandlerNeeds) {
  return {
    async listChains() {
      const result = await Promise.all(
        chains().map(
          async ({ lacks: _lacks, failingReads: _failing, ...health }): Promise<ChainHealth> => {
            const [window, unverified] = await Promise.all([
              store.readWindow(health.id, TIMELINE_BLOCKS),
              store.readUnverified(health.id),
            ]);
            // A report from another process may be a few seconds old, but the ledger is always
            // current.
            const checkpoint = window[0]?.number ?? health.checkpoint;
            return { ...health, checkpoint, unverified, blocks: window.map(toChainBlock) };
          },
        ),
      );
      return { result };
    },
  } satisfies Partial<Handlers>;
}
