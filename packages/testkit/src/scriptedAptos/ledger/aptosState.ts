import type { Hex } from 'viem';
import { toShortAddress } from './aptosAddress.ts';
import type { MoveValue } from '../rest/restShapes.ts';

/** The written resources by long address and type; undefined for a deleted resource. */
export type ResourceWrites = ReadonlyMap<Hex, ReadonlyMap<string, MoveValue | undefined>>;

/**
 * All resources and modules of the ledger at each kept version. The type of a module is its
 * `moduleKey`.
 */
export interface AptosState {
  /** Returns a resource as of `version`, by default the newest version. */
  read(address: Hex, type: string, version?: bigint): MoveValue | undefined;
  /** Returns all resources of the address, sorted by type. */
  list(address: Hex, version?: bigint): Map<string, MoveValue>;
  /** Records the writes of a version. Versions must be committed in ascending order. */
  commit(version: bigint, writes: ResourceWrites): void;
  /** Drops values that can be read only at versions below this one. */
  prune(belowVersion: bigint): void;
}

export function createAptosState(): AptosState {
  type History = { version: bigint; data: MoveValue | undefined }[];
  const histories = new Map<Hex, Map<string, History>>();
  /**
   * Histories with a replaced value, each with the version at which the value was replaced; in
   * ascending order of these versions.
   */
  const replaced: { history: History; version: bigint }[] = [];

  const readHistory = (history: History | undefined, version: bigint | undefined) =>
    history?.findLast((entry) => version === undefined || entry.version <= version)?.data;

  return {
    read: (address, type, version) => readHistory(histories.get(address)?.get(type), version),
    list: (address, version) => {
      const found = new Map<string, MoveValue>();
      for (const [type, history] of [...(histories.get(address) ?? [])].sort(byType)) {
        const data = readHistory(history, version);
        if (data !== undefined) found.set(type, data);
      }
      return found;
    },
    commit: (version, writes) => {
      for (const [address, resources] of writes) {
        const known = histories.get(address) ?? new Map<string, History>();
        histories.set(address, known);
        for (const [type, data] of resources) {
          const history = known.get(type) ?? [];
          history.push({ version, data });
          known.set(type, history);
          if (history.length > 1) replaced.push({ history, version });
        }
      }
    },
    prune: (belowVersion) => {
      const next = replaced.findIndex(({ version }) => version > belowVersion);
      const outdated = replaced.splice(0, next < 0 ? replaced.length : next);
      for (const { history } of outdated) history.shift();
    },
  };
}

/** Returns the type under which a module is stored, as if it were a resource. */
export function moduleKey(name: string): string {
  return `module ${name}`;
}

/**
 * Returns the name of a module by its `moduleKey`, or undefined if the type is not a `moduleKey`.
 */
export function toModuleName(type: string): string | undefined {
  return type.startsWith('module ') ? type.slice('module '.length) : undefined;
}

/** Formats a type as nodes do: short addresses, and one space after each comma. */
export function toCanonicalType(type: string): string {
  return type
    .replace(/\s+/g, '')
    .replaceAll(',', ', ')
    .replace(/0x[0-9a-f]+(?=::)/gi, (address) => toShortAddress(address));
}

export function byType([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b);
}
