/** Shared tools of the store's suites. */
import { randomBytes } from 'node:crypto';
import type { UnverifiedCode } from '@sluice/kit/contract';
import { afterAll, beforeAll } from 'vitest';
import { createAddressChanges } from '../../src/store/addresses/addressChanges.ts';
import { packAddresses } from '../../src/store/addresses/packedAddresses.ts';
import { movedBy } from '../../src/store/live/movedBy.test-only.ts';
import { takeChain } from './takeChain.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamDraft,
  type Sealed,
} from '../../src/store/streams/contract.ts';
import { plain } from './plain.ts';
import type { AddressPart } from '../../src/store/addresses/contract.ts';
import type { Child } from '../../src/store/children/contract.ts';
import type { AttemptOutcome } from '../../src/store/deliveries/contract.ts';
import type { BlockHeader, NewMatch, Unverified } from '../../src/store/blocks/contract.ts';
import type { Store } from '../../src/store/store.ts';

export const hashOf = (): string => `0x${randomBytes(32).toString('hex')}`;
let lastChain = 0x10_000;
export const newChain = (): string => `0x${(++lastChain).toString(16)}`;

export const draft = (
  chainIds: string[],
  changes: Partial<EvmStreamDraft> = {},
): Sealed<EvmStreamDraft> =>
  plain<EvmStreamDraft>({
    tag: 'tag',
    description: 'a stream',
    webhookUrl: 'http://127.0.0.1:1/hook',
    chainIds,
    options: { ...DEFAULT_OPTIONS, includeContractLogs: true },
    family: 'evm',
    ...DEFAULT_DELIVERY,
    ...changes,
  });

export const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;

/** The API key with which the suites add addresses by default. */
export const KEY_ID = 'bootstrap';

/** A store that is open while the tests of a suite run, with helpers for the tests. */
export type StoreTools = ReturnType<typeof useStore>;

export function useStore(open: () => Promise<Store>) {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  const packed = (numbers: readonly number[]) => packAddresses(numbers.map(address));
  const labelsOf = (labels: Record<number, string>) =>
    Object.entries(labels).map(([n, label]) => [address(Number(n)), label] as const);
  const addition = (
    numbers: readonly number[],
    labels: Record<number, string> = {},
  ): AddressPart => ({
    kind: 'add',
    addresses: packed(numbers),
    labels: Object.fromEntries(labelsOf(labels)),
    clearLabels: false,
    keyId: KEY_ID,
  });
  const add = (id: string, numbers: readonly number[], labels: Record<number, string> = {}) =>
    createAddressChanges(store).add(id, {
      addresses: packed(numbers),
      labels: new Map(labelsOf(labels)),
      keyId: KEY_ID,
    });
  const remove = (id: string, numbers: readonly number[]) =>
    createAddressChanges(store).remove(id, packed(numbers));
  const replace = (id: string, numbers: readonly number[], labels: Record<number, string> = {}) =>
    createAddressChanges(store).replace(id, {
      addresses: packed(numbers),
      labels: new Map(labelsOf(labels)),
      keyId: KEY_ID,
    });
  const labelsIn = async (id: string, page: { limit: number; after?: string | undefined }) => {
    const { addresses, next } = await store.listAddresses(id, page);
    return { addresses: addresses.map(({ address, label }) => ({ address, label })), next };
  };
  const listed = async (id: string): Promise<number[]> =>
    (await store.listAddresses(id, { limit: 100 })).addresses.map((row) => Number(row.address));
  /** Cleans up address changes until nothing is left to do. */
  const cleanUp = async (ages: { keepMs?: number; staleMs?: number }): Promise<void> => {
    while (await store.cleanUpAddresses({ keepMs: 3_600_000, staleMs: 60_000, ...ages }));
  };

  /** Starts a new chain with a checkpoint at block 100. */
  const startChain = async () => {
    const chain = newChain();
    let tip: BlockHeader = {
      number: 100,
      hash: hashOf(),
      parentHash: hashOf(),
      timestamp: 1_700_000_000,
    };
    const epoch = await takeChain(store, chain);
    await store.startChain({ chain, epoch, block: tip, genesisHash: hashOf() });
    return {
      chain,
      /** Arguments that all writes to the chain have in common. */
      held: { chain, epoch },
      tip: () => tip,
      next: (parent = tip): BlockHeader => ({
        number: parent.number + 1,
        hash: hashOf(),
        parentHash: parent.hash,
        timestamp: parent.timestamp + 12,
      }),
      async commit(
        block: BlockHeader,
        matches: NewMatch[],
        confirmations = 2,
        codes: readonly UnverifiedCode[] = [],
        witnesses = 1,
        unverified: Unverified | undefined = codes.length === 0
          ? undefined
          : { codes, witnesses, isUncertain: false },
        children: readonly Child[] = [],
        readsState = false,
        windowBlocks = 256,
      ) {
        const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
        const { result, moved } = await movedBy(store, () =>
          store.commitBlock({
            chain,
            epoch,
            block,
            ruleRevision: revision,
            confirmUpTo: block.number - confirmations,
            windowBlocks,
            matches,
            children,
            readsState,
            unverified,
          }),
        );
        if (result.outcome !== 'committed') return result;
        tip = block;
        return { ...result, deliveries: moved };
      },
      async rewind(to: BlockHeader) {
        const { moved } = await movedBy(store, () =>
          store.rewindChain({ chain, epoch, ancestor: to }),
        );
        tip = to;
        return moved;
      },
    };
  };

  const deliveriesOf = async (streamId: string) =>
    (await store.listDeliveries({ limit: 100, streamId })).rows;

  const claimOf = async (streamId: string, leaseMs = 40_000) => {
    const claimed = await store.claimDeliveries({
      limit: 1000,
      maxBytes: 1e9,
      perStream: 1000,
      taken: {},
      leaseMs,
    });
    return claimed.filter((each) => each.streamId === streamId);
  };

  const outcomeOf = (
    claimed: { id: string; leaseToken: string },
    changes: Partial<AttemptOutcome> = {},
  ): AttemptOutcome => ({
    id: claimed.id,
    leaseToken: claimed.leaseToken,
    webhookUrl: 'http://127.0.0.1:1/hook',
    startedAt: Date.now(),
    durationMs: 5,
    status: 200,
    error: null,
    responseBody: 'ok',
    transport: null,
    result: 'succeeded',
    retryInMs: 0,
    isFastRetry: false,
    ...changes,
  });

  return {
    /** Available once the tests run. */
    get store() {
      return store;
    },
    packed,
    labelsOf,
    addition,
    add,
    remove,
    replace,
    listed,
    labelsIn,
    cleanUp,
    startChain,
    deliveriesOf,
    claimOf,
    outcomeOf,
  };
}
