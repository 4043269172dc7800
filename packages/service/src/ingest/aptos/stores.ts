/**
 * Owners of fungible stores that a deposit or withdrawal names and its transaction does not show. As a
 * rule it shows them: a balance lies in one group of resources with the store's `ObjectCore`, and a group
 * changes as a whole. Where it does not, the node is asked for the store as it was after the transaction,
 * then before it, and where it keeps no state so old, as it is now. Blocks wait for that: a deposit whose
 * owner is not known cannot be matched.
 *
 * Only what cannot change is remembered. A primary store's address is made of its owner and its asset
 * (`primary_fungible_store`, derived by SHA3-256), and it cannot be given away.
 */
import { hash } from 'node:crypto';
import type { AptosBlock, AptosStore } from '../../match/aptos/block.ts';
import { toAptosStore } from './transaction.ts';
import { SourceError } from '../source.ts';

export interface AptosStores {
  /** Puts into the block's transactions what they do not show of stores; of each block once. */
  complete(block: AptosBlock): Promise<void>;
}

const OBJECT_CORE = '0x1::object::ObjectCore';
const FUNGIBLE_STORE = '0x1::fungible_asset::FungibleStore';
const MAX_REMEMBERED = 50_000;
/** What `object::create_user_derived_object_address` ends its input with. */
const FROM_OBJECT = 'fc';

export function createAptosStores(
  readResource: (address: string, type: string, version: number | undefined) => Promise<unknown>,
): AptosStores {
  const remembered = new Map<string, AptosStore>();
  const completed = new WeakMap<AptosBlock, Promise<void>>();

  const readAt = async (
    address: string,
    version: number | undefined,
  ): Promise<AptosStore | undefined> => {
    const [core, holding] = await Promise.all([
      readResource(address, OBJECT_CORE, version),
      readResource(address, FUNGIBLE_STORE, version),
    ]);
    return toAptosStore(core, holding);
  };

  const read = async (address: string, version: number): Promise<AptosStore | undefined> => {
    const known = remembered.get(address);
    if (known !== undefined) return known;
    let store: AptosStore | undefined;
    try {
      // One that the transaction deleted was there before it.
      store = (await readAt(address, version)) ?? (await readAt(address, version - 1));
    } catch (error) {
      if (!(error instanceof SourceError) || error.kind !== 'pruned') throw error;
      store = await readAt(address, undefined);
    }
    if (store !== undefined && primaryStoreOf(store) === address) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(address, store);
    }
    return store;
  };

  const completeNow = async ({ transactions }: AptosBlock): Promise<void> => {
    await Promise.all(
      transactions.flatMap((transaction) =>
        transaction.unknownStores.map(async (address) => {
          const store = await read(address, transaction.version);
          if (store !== undefined) transaction.stores.set(address, store);
        }),
      ),
    );
  };

  return {
    complete(block) {
      let ready = completed.get(block);
      if (ready === undefined) {
        ready = completeNow(block);
        // What failed is tried again by whoever asks next.
        ready.catch(() => completed.delete(block));
        completed.set(block, ready);
      }
      return ready;
    },
  };
}

/** Where an owner's primary store of an asset stands. */
export const primaryStoreOf = ({ owner, asset }: AptosStore): string =>
  `0x${hash('sha3-256', Buffer.from(`${owner.slice(2)}${asset.slice(2)}${FROM_OBJECT}`, 'hex'))}`;
