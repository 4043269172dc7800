/**
 * Divides the chains among the readers. Each reader computes the same assignment from the ledger,
 * takes the free chains that are assigned to it, and hands over chains that are assigned to others.
 */
import type { Reader, Sharing } from '../store/leases/contract.ts';

/** Milliseconds that must pass after a reader joins before other readers hand chains over to it. */
export const SETTLED_MS = 10_000;

export interface ChainShare {
  /** The chains that this reader should keep or take. */
  own: ReadonlySet<string>;
  /** The chain to hand over now; undefined if there is none. */
  handOver: string | undefined;
}

/**
 * Returns the chains that the reader `self` should keep, take and hand over. No chain is handed
 * over while another is free, so chains move one at a time.
 */
export function findShare(self: string, sharing: Sharing): ChainShare {
  const { readers, holders } = sharing;
  const assigned = [...assignChains(sharing)];
  const isMoving = assigned.some(([chain]) => !holders.has(chain));
  const settled = new Set(
    readers.filter(({ joinedForMs }) => joinedForMs >= SETTLED_MS).map(({ id }) => id),
  );
  const handOver = isMoving
    ? undefined
    : assigned.find(
        ([chain, reader]) => holders.get(chain) === self && reader !== self && settled.has(reader),
      )?.[0];
  const shared = new Set(readers.flatMap(({ chains }) => chains));
  const held = [...shared].filter((chain) => holders.get(chain) === self);
  const free = assigned.filter(([chain, reader]) => reader === self && !holders.has(chain));
  const own = new Set([...held, ...free.map(([chain]) => chain)]);
  if (handOver !== undefined) own.delete(handOver);
  return { own, handOver };
}

/**
 * Assigns chains to readers that can read them, as evenly as possible and with few moves. Returns
 * the reader id of each chain. A chain whose holder is not among the readers is omitted and stays
 * with that holder.
 */
export function assignChains({ readers, holders }: Sharing): Map<string, string> {
  const shares = new Map<Reader, Set<string>>(readers.map((reader) => [reader, new Set()]));
  const canRead = new Map(readers.map((reader) => [reader, new Set(reader.chains)]));
  const byId = new Map(readers.map((reader) => [reader.id, reader]));
  const unassigned: string[] = [];
  for (const chain of new Set(readers.flatMap(({ chains }) => chains).toSorted())) {
    const holder = holders.get(chain);
    const reader = holder === undefined ? undefined : byId.get(holder);
    if (reader !== undefined && canRead.get(reader)!.has(chain)) shares.get(reader)!.add(chain);
    else if (holder === undefined || reader !== undefined) unassigned.push(chain);
  }
  for (const chain of unassigned) {
    const able = readers.filter((reader) => canRead.get(reader)!.has(chain));
    const [least] = able.toSorted((a, b) => shares.get(a)!.size - shares.get(b)!.size);
    shares.get(least!)!.add(chain);
  }
  const isHeld = (chain: string): boolean => holders.has(chain);
  while (moveOne(shares, canRead, isHeld));
  return new Map(
    [...shares].flatMap(([{ id }, chains]) => [...chains].map((chain) => [chain, id] as const)),
  );
}

/**
 * Moves a chain from one reader to another that has at least two chains fewer. Readers may differ
 * in the chains that they can read, so the move may go through other readers, each of which takes
 * one chain and passes one on. Returns false if no such move exists: the assignment is then as even
 * as possible.
 */
function moveOne(
  shares: ReadonlyMap<Reader, Set<string>>,
  canRead: ReadonlyMap<Reader, ReadonlySet<string>>,
  isHeld: (chain: string) => boolean,
): boolean {
  const size = (reader: Reader): number => shares.get(reader)!.size;
  const bySize = [...shares.keys()].toSorted((a, b) => size(b) - size(a));
  /** Returns a chain that can move, preferably a free one, because moving it interrupts nothing. */
  const findMovable = (from: Reader, to: Reader): string | undefined => {
    const chains = [...shares.get(from)!].filter((chain) => canRead.get(to)!.has(chain));
    return chains.find((chain) => !isHeld(chain)) ?? chains[0];
  };
  const findPath = (giver: Reader): Move[] | undefined => {
    /**
     * The shortest path to each reader reached so far. The loop also visits the paths that it adds.
     */
    const paths = new Map<Reader, Move[]>([[giver, []]]);
    for (const [from, path] of paths) {
      if (size(from) <= size(giver) - 2) return path;
      for (const to of bySize.toReversed()) {
        const chain = paths.has(to) ? undefined : findMovable(from, to);
        if (chain !== undefined) paths.set(to, [...path, { chain, from, to }]);
      }
    }
    return undefined;
  };
  const paths = bySize.map(findPath).filter((path) => path !== undefined);
  const [shortest] = paths.toSorted((a, b) => a.length - b.length);
  for (const { chain, from, to } of shortest ?? []) {
    shares.get(from)!.delete(chain);
    shares.get(to)!.add(chain);
  }
  return shortest !== undefined;
}

interface Move {
  chain: string;
  from: Reader;
  to: Reader;
}
