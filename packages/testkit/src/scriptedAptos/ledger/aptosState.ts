import type { Hex } from 'viem';
import { toShortAddress } from './aptosAddress.ts';
import type { MoveValue } from '../rest/restShapes.ts';

/** Resources by address (long) and type; undefined where a transaction deleted one. */
export type ResourceWrites = ReadonlyMap<Hex, ReadonlyMap<string, MoveValue | undefined>>;

/** All resources of the ledger at every version, and its modules, as `moduleKey` types. */
export interface AptosState {
  /** Absent version: the newest. */
  read(address: Hex, type: string, version?: bigint): MoveValue | undefined;
  /** All resources of the address, sorted by type. */
  list(address: Hex, version?: bigint): Map<string, MoveValue>;
  /** Versions come in rising order. */
  commit(version: bigint, writes: ResourceWrites): void;
  /** Forgets what only versions below this one show. */
  prune(belowVersion: bigint): void;
}

export function createAptosState(): AptosState {
  type History = { version: bigint; data: MoveValue | undefined }[];
  const histories = new Map<Hex, Map<string, History>>();
  /** The histories of more than one entry, oldest replacement first: what there is to forget. */
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

/** The type under which a module is kept. */
export function moduleKey(name: string): string {
  return `module ${name}`;
}

/** The module's name where the type is a `moduleKey`. */
export function toModuleName(type: string): string | undefined {
  return type.startsWith('module ') ? type.slice('module '.length) : undefined;
}

/** A type as nodes print it: short addresses, and one space after each comma. */
export function toCanonicalType(type: string): string {
  return type
    .replace(/\s+/g, '')
    .replaceAll(',', ', ')
    .replace(/0x[0-9a-f]+(?=::)/gi, (address) => toShortAddress(address));
}

export function byType([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b);
}
