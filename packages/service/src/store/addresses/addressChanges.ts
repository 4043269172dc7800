/**
 * Changes the addresses of streams. Small additions to different streams share a transaction. Long
 * changes are staged in parts, so that other writes can run in between; all parts take effect
 * together.
 */
import {
  compareAt,
  countAddresses,
  packAddresses,
  sliceAddresses,
  sortAddresses,
} from './packedAddresses.ts';
import { type AddedAddresses, createSharedAdditions, toAddition } from './sharedAdditions.ts';
import {
  ADDRESSES_PER_PART,
  type AddressList,
  type AddressOutcome,
  type AddressPart,
  type AddressReads,
  type AddressWrites,
} from './contract.ts';
import type { StreamReads } from '../streams/contract.ts';

export interface AddressChanges {
  /** Adds addresses. Existing addresses remain, and keep their label unless a new one is given. */
  add(streamId: string, added: AddedAddresses): Promise<AddressOutcome>;
  /** Removes all of the addresses, or none if one of them is missing. */
  remove(streamId: string, addresses: AddressList): Promise<AddressOutcome>;
  /** Replaces the complete list and all of its labels. */
  replace(streamId: string, added: AddedAddresses): Promise<AddressOutcome>;
  /** Adds all addresses of one stream to another stream, with their labels. */
  copy(from: string, to: string, keyId: string): Promise<AddressOutcome>;
}

type Ledger = AddressReads & AddressWrites & Pick<StreamReads, 'readStream'>;

export function createAddressChanges(store: Ledger): AddressChanges {
  /** Last waiting or running change of each stream. */
  const queues = new Map<string, Promise<unknown>>();
  const shared = createSharedAdditions(store);

  const inTurn = async <T>(streamId: string, run: () => Promise<T>): Promise<T> => {
    const before = queues.get(streamId);
    const turn = (async () => {
      await before;
      return run();
    })();
    const settled = turn.catch(() => undefined);
    queues.set(streamId, settled);
    try {
      return await turn;
    } finally {
      if (queues.get(streamId) === settled) queues.delete(streamId);
    }
  };

  const undo = async (change: number): Promise<void> => {
    while (await store.undoAddressChange(change));
  };

  const stage = async (
    streamId: string,
    parts: AsyncIterable<AddressPart>,
    width?: AddressList['width'],
  ) => {
    const begun = await store.beginAddressChange(streamId, width);
    if (begun.outcome !== 'begun') return begun;
    const { change } = begun;
    // A change is lost only if the stream was deleted or the change made no progress for a long
    // time.
    const lose = async () => {
      await undo(change);
      const stream = await store.readStream(streamId);
      return { outcome: stream === undefined ? 'unknown-stream' : 'busy' } as const;
    };
    try {
      for await (const part of parts) {
        const staged = await store.stageAddresses(change, part);
        if (staged.outcome === 'staged') continue;
        if (staged.outcome !== 'missing') return await lose();
        await undo(change);
        return staged;
      }
      const activated = await store.activateAddressChange(change);
      if (activated.outcome === 'changed') {
        return { outcome: 'changed', effectiveFrom: activated.effectiveFrom } as const;
      }
      return await lose();
    } catch (error) {
      // If undoing fails, housekeeping undoes the change later.
      await undo(change).catch(() => undefined);
      throw error;
    }
  };

  const change = (
    streamId: string,
    addresses: AddressList,
    toPart: (addresses: AddressList) => AddressPart,
  ): Promise<AddressOutcome> =>
    inTurn(streamId, async () => {
      const sorted = await sortAddresses(addresses);
      if (countAddresses(sorted) > ADDRESSES_PER_PART) {
        return stage(streamId, partsOf(sorted, toPart), sorted.width);
      }
      const [outcome] = await store.changeAddresses([{ streamId, parts: [toPart(sorted)] }]);
      return outcome!;
    });

  return {
    add: (streamId, added) =>
      shared.takes(added)
        ? shared.add(streamId, added, (run) => inTurn(streamId, run))
        : change(streamId, added.addresses, (list) => toAddition(list, added)),

    remove: (streamId, addresses) =>
      change(streamId, addresses, (list) => ({ kind: 'remove', addresses: list })),

    replace: (streamId, added) =>
      inTurn(streamId, async () => {
        const addresses = await sortAddresses(added.addresses);
        return stage(
          streamId,
          replacementOf(store, streamId, { ...added, addresses }),
          addresses.width,
        );
      }),

    // Within this process, neither list changes during the copy; other processes may still change
    // the source.
    copy: (from, to, keyId) =>
      inTurn(from, () => inTurn(to, () => stage(to, partsOfStream(store, from, keyId)))),
  };
}

async function* partsOfStream(
  store: Ledger,
  streamId: string,
  keyId: string,
): AsyncGenerator<AddressPart> {
  let after: string | undefined;
  do {
    const page = await store.listAddresses(streamId, { limit: ADDRESSES_PER_PART, after });
    const labels: Record<string, string> = {};
    for (const { address, label } of page.addresses) if (label !== null) labels[address] = label;
    const addresses = packAddresses(page.addresses.map(({ address }) => address));
    yield { kind: 'add', addresses, labels, clearLabels: false, keyId };
    after = page.next;
  } while (after !== undefined);
}

async function* partsOf(
  addresses: AddressList,
  toPart: (addresses: AddressList) => AddressPart,
): AsyncGenerator<AddressPart> {
  for (let at = 0; at < countAddresses(addresses); at += ADDRESSES_PER_PART) {
    yield toPart(sliceAddresses(addresses, at, at + ADDRESSES_PER_PART));
  }
}

/**
 * Yields parts that remove the surplus addresses, and then parts that add all wanted addresses. The
 * stored and the wanted addresses are sorted.
 */
async function* replacementOf(
  store: Ledger,
  streamId: string,
  added: AddedAddresses,
): AsyncGenerator<AddressPart> {
  const wanted = added.addresses;
  let at = 0;
  let after: string | undefined;
  do {
    const page = await store.readAddresses(streamId, after);
    const surplus: Uint8Array[] = [];
    for (let n = 0; n < countAddresses(page.addresses); n++) {
      while (at < countAddresses(wanted) && compareAt(wanted, at, page.addresses, n) < 0) at++;
      const isWanted =
        at < countAddresses(wanted) && compareAt(wanted, at, page.addresses, n) === 0;
      if (!isWanted) surplus.push(sliceAddresses(page.addresses, n, n + 1).bytes);
    }
    if (surplus.length > 0) {
      const list = { width: wanted.width, bytes: Buffer.concat(surplus) };
      yield* partsOf(list, (addresses) => ({ kind: 'remove', addresses }));
    }
    after = page.next;
  } while (after !== undefined);
  yield* partsOf(wanted, (list) => toAddition(list, added, true));
}
