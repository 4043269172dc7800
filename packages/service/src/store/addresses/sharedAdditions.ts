/**
 * Commits small additions of addresses in groups: additions that arrive during a transaction share
 * the next one. Additions to the same stream become a single change.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  countAddresses,
  packAddresses,
  sortAddresses,
  unpackAddresses,
} from './packedAddresses.ts';
import type {
  AddressChange,
  AddressList,
  AddressOutcome,
  AddressPart,
  AddressWrites,
} from './contract.ts';
import { isUnavailable } from '../engine/unavailable.ts';

/** Addresses to add to a stream, with their labels. */
export interface AddedAddresses {
  addresses: AddressList;
  /** Labels by lowercase address. */
  labels: ReadonlyMap<string, string>;
  keyId: string;
}

/**
 * Maximum number of addresses per transaction, so that no request waits long for other requests.
 */
const SHARED_ADDRESSES = 1_000;
/** Maximum number of additions per millisecond. More would delay block commits. */
const MAX_PER_MS = 4;

/** Additions to one stream that take effect together. */
interface Batch {
  streamId: string;
  added: AddedAddresses[];
  size: number;
  outcomes: PromiseWithResolvers<AddressOutcome>[];
}

export interface SharedAdditions {
  /** Returns whether an addition is small enough to share a transaction. */
  takes(added: AddedAddresses): boolean;
  /** @param inTurn runs a function after the earlier changes of the stream have ended */
  add(
    streamId: string,
    added: AddedAddresses,
    inTurn: (run: () => Promise<void>) => Promise<void>,
  ): Promise<AddressOutcome>;
}

export function createSharedAdditions(
  store: Pick<AddressWrites, 'changeAddresses'>,
): SharedAdditions {
  /** For each stream, the batch that further additions can still join. */
  const joinable = new Map<string, Batch>();
  /** Batches to write next, in order. Earlier changes of their streams have ended. */
  const ready: { batch: Batch; done: () => void }[] = [];
  let working = false;

  const commit = async (batches: readonly Batch[]): Promise<void> => {
    try {
      const outcomes = await store.changeAddresses(await Promise.all(batches.map(toChange)));
      for (const [n, batch] of batches.entries()) {
        for (const { resolve } of batch.outcomes) resolve(outcomes[n]!);
      }
    } catch (error) {
      const alone = batches.flatMap(split);
      // Retries each addition alone, so that a faulty addition does not affect other additions.
      // Additions can safely be repeated, even if the transaction was committed.
      if (alone.length > 1 && !isUnavailable(error)) {
        for (const batch of alone) await commit([batch]);
        return;
      }
      for (const { outcomes } of batches) for (const { reject } of outcomes) reject(error);
    }
  };

  const takeReady = (): typeof ready => {
    let size = 0;
    const end = ready.findIndex(({ batch }) => (size += batch.size) > SHARED_ADDRESSES);
    return ready.splice(0, end < 0 ? ready.length : Math.max(1, end));
  };

  const work = async (): Promise<void> => {
    working = true;
    while (ready.length > 0) {
      const taken = takeReady();
      for (const { batch } of taken) {
        if (joinable.get(batch.streamId) === batch) joinable.delete(batch.streamId);
      }
      await commit(taken.map(({ batch }) => batch));
      for (const { done } of taken) done();
      const additions = taken.reduce((sum, { batch }) => sum + batch.outcomes.length, 0);
      if (additions > 1) await wait(additions / MAX_PER_MS);
    }
    working = false;
  };

  return {
    takes: ({ addresses }) => countAddresses(addresses) <= SHARED_ADDRESSES,

    add(streamId, added, inTurn) {
      const outcome = Promise.withResolvers<AddressOutcome>();
      const size = countAddresses(added.addresses);
      const known = joinable.get(streamId);
      if (known !== undefined && known.size + size <= SHARED_ADDRESSES) {
        known.added.push(added);
        known.size += size;
        known.outcomes.push(outcome);
        return outcome.promise;
      }
      const batch = { streamId, added: [added], size, outcomes: [outcome] };
      joinable.set(streamId, batch);
      void inTurn(
        () =>
          new Promise((done) => {
            ready.push({ batch, done });
            if (!working) void work();
          }),
      );
      return outcome.promise;
    },
  };
}

/** Splits a batch into one batch per addition. */
const split = ({ streamId, added, outcomes }: Batch): Batch[] =>
  added.map((each, n) => ({
    streamId,
    added: [each],
    size: countAddresses(each.addresses),
    outcomes: [outcomes[n]!],
  }));

/**
 * Combines a batch into one change. If an address was added several times, its first API key and
 * its last label apply.
 */
async function toChange({ streamId, added }: Batch): Promise<AddressChange> {
  const [{ addresses }, ...others] = added as [AddedAddresses, ...AddedAddresses[]];
  if (others.length === 0) return { streamId, parts: [toAddition(addresses, added[0]!)] };
  const keys = new Map<string, string>();
  const labels = new Map<string, string>();
  for (const each of added) {
    for (const address of unpackAddresses(each.addresses)) {
      if (!keys.has(address)) keys.set(address, each.keyId);
    }
    for (const [address, label] of each.labels) labels.set(address, label);
  }
  const byKey = Map.groupBy(keys.keys(), (address) => keys.get(address)!);
  const parts = await Promise.all(
    [...byKey].map(async ([keyId, own]) =>
      toAddition(await sortAddresses(packAddresses(own, addresses.width)), { labels, keyId }),
    ),
  );
  return { streamId, parts };
}

/** @param clearLabels whether addresses without a new label lose their current one */
export function toAddition(
  addresses: AddressList,
  { labels, keyId }: Pick<AddedAddresses, 'labels' | 'keyId'>,
  clearLabels = false,
): AddressPart {
  const own: Record<string, string> = {};
  if (labels.size > 0) {
    for (const address of unpackAddresses(addresses)) {
      const label = labels.get(address);
      if (label !== undefined) own[address] = label;
    }
  }
  return { kind: 'add', addresses, labels: own, clearLabels, keyId };
}
