/**
 * Finds the owners and assets of fungible stores that a transaction uses but does not contain.
 * Caches only primary stores, because their owners never change.
 */
import { hash } from 'node:crypto';
import type { AptosBlock, AptosStore } from '../match/block.ts';
import { toAptosStore } from './transaction.ts';
import { SourceError } from '../../../ingest/source.ts';

export interface AptosStores {
  /**
   * Adds the missing stores to the transactions of a block. Repeated calls for a block share one
   * result.
   */
  complete(block: AptosBlock): Promise<void>;
}

const OBJECT_CORE = '0x1::object::ObjectCore';
const FUNGIBLE_STORE = '0x1::fungible_asset::FungibleStore';
const MAX_REMEMBERED = 50_000;
/** The byte that ends the hash input in `object::create_user_derived_object_address`. */
const FROM_OBJECT = 'fc';

export function createAptosStores(
  readResource: (address: string, type: string, version: number | undefined) => Promise<unknown>,
): AptosStores {
  const remembered = new Map<string, AptosStore>();
  const completed = new WeakMap<AptosBlock, Promise<void>>();

  const readAt = async (address: string, version: number | undefined): Promise<AptosStore> => {
    const [core, holding] = await Promise.all([
      readResource(address, OBJECT_CORE, version),
      readResource(address, FUNGIBLE_STORE, version),
    ]);
    return toAptosStore(core, holding);
  };

  /** Returns what the nodes know of a store; what they do not know is an empty string. */
  const read = async (address: string, version: number): Promise<AptosStore> => {
    const known = remembered.get(address);
    if (known !== undefined) return known;
    let store: AptosStore = { owner: '', asset: '' };
    const add = ({ owner, asset }: AptosStore): void => {
      store = { owner: store.owner || owner, asset: store.asset || asset };
    };
    try {
      add(await readAt(address, version));
      // If the transaction deleted the store or its object, only the state before it has both.
      if (!isComplete(store)) add(await readAt(address, version - 1));
    } catch (error) {
      if (!(error instanceof SourceError) || error.kind !== 'pruned') throw error;
      add(await readAt(address, undefined));
    }
    if (isComplete(store) && primaryStoreOf(store) === address) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(address, store);
    }
    return store;
  };

  const completeNow = async ({ transactions }: AptosBlock): Promise<void> => {
    await Promise.all(
      transactions.flatMap(({ stores, unknownStores, version }) =>
        unknownStores.map(async (address) => {
          const { owner, asset } = await read(address, version);
          const found = asset || stores.get(address)?.asset;
          if (found !== undefined) stores.set(address, { owner: owner || address, asset: found });
        }),
      ),
    );
  };

  return {
    complete(block) {
      let ready = completed.get(block);
      if (ready === undefined) {
        ready = completeNow(block);
        // After a failure, the next call retries.
        ready.catch(() => completed.delete(block));
        completed.set(block, ready);
      }
      return ready;
    },
  };
}

const isComplete = ({ owner, asset }: AptosStore): boolean => owner !== '' && asset !== '';

/** Computes the address of an owner's primary store of an asset (`primary_fungible_store`). */
export const primaryStoreOf = ({ owner, asset }: AptosStore): string =>
  `0x${hash('sha3-256', Buffer.from(`${owner.slice(2)}${asset.slice(2)}${FROM_OBJECT}`, 'hex'))}`;
