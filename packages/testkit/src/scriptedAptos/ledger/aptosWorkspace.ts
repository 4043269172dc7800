import type { Hex } from 'viem';
import type { AptosState, ResourceWrites } from './aptosState.ts';
import type { MoveValue } from '../rest/restShapes.ts';

/**
 * The state during the execution of a block, before the block is committed. Addresses are long, and
 * types have the form that `toCanonicalType` returns.
 */
export interface AptosWorkspace {
  read(address: Hex, type: string): MoveValue | undefined;
  /** Writes a resource; undefined deletes it. */
  write(address: Hex, type: string, data: MoveValue | undefined): void;
  /** Returns all current resources of the address, by type. */
  list(address: Hex): Map<string, MoveValue>;
  /**
   * Ends a transaction and returns its writes. A node writes all resources of an object as one
   * group, so the writes include the unchanged resources of a changed object.
   */
  endTransaction(): ResourceWrites;
}

type Writes = Map<Hex, Map<string, MoveValue | undefined>>;

export function createAptosWorkspace(state: AptosState): AptosWorkspace {
  const earlier: Writes = new Map();
  let current: Writes = new Map();

  const read = (address: Hex, type: string) => {
    for (const writes of [current, earlier]) {
      const resources = writes.get(address);
      if (resources?.has(type)) return resources.get(type);
    }
    return state.read(address, type);
  };

  const list = (address: Hex) => {
    const found = state.list(address);
    for (const writes of [earlier, current]) {
      for (const [type, data] of writes.get(address) ?? []) {
        if (data === undefined) found.delete(type);
        else found.set(type, data);
      }
    }
    return found;
  };

  return {
    read,
    write: (address, type, data) => put(current, address, type, data),
    list,
    endTransaction: () => {
      for (const [address, resources] of current) {
        if (![...resources.keys()].some(isOfObjectGroup)) continue;
        for (const [type, data] of list(address)) {
          if (isOfObjectGroup(type) && !resources.has(type)) resources.set(type, data);
        }
      }
      const writes = current;
      current = new Map();
      for (const [address, resources] of writes) {
        for (const [type, data] of resources) put(earlier, address, type, data);
      }
      return writes;
    },
  };
}

/**
 * Returns whether a type belongs to the resource group of an object. In the scripted ledger, custom
 * types never belong to it.
 */
export function isOfObjectGroup(type: string): boolean {
  return /^0x1::(?:object|fungible_asset|primary_fungible_store)::|^0x1::coin::Paired|^0x4::/.test(
    type,
  );
}

function put(writes: Writes, address: Hex, type: string, data: MoveValue | undefined) {
  const resources = writes.get(address) ?? new Map<string, MoveValue | undefined>();
  writes.set(address, resources.set(type, data));
}
