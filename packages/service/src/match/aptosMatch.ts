/** Which streams an Aptos block concerns, and with which of its transactions. Pure: no I/O, no clock. */
import type { AptosBlock, AptosTransaction } from './aptosBlock.ts';
import type { AptosIndex, CompiledAptosStream } from './aptosIndex.ts';
import { type Tell, passed } from './reasons.ts';
import { type AptosMovement, readMovements, readTouched } from './aptosMovements.ts';

/** A transaction with what was read of it. */
export interface MatchedAptosTransaction {
  transaction: AptosTransaction;
  movements: readonly AptosMovement[];
}

/** One stream met one block. */
export interface AptosMatch {
  stream: CompiledAptosStream;
  /** In version order. */
  transactions: MatchedAptosTransaction[];
}

/**
 * A transaction concerns a stream when it touches an account the stream watches, or the stream watches
 * all; of those the stream takes what its functions and events select.
 *
 * @param tellOf told why, where somebody wants to know
 */
export function matchAptosBlock(
  index: AptosIndex,
  chain: string,
  block: AptosBlock,
  tellOf?: (stream: CompiledAptosStream, transaction: AptosTransaction) => Tell | undefined,
): AptosMatch[] {
  const found = new Map<CompiledAptosStream, AptosMatch>();
  const unscoped = index.unscoped(chain);
  if (unscoped.length === 0 && index.addresses.size === 0) return [];
  for (const transaction of block.transactions) {
    const movements = readMovements(transaction);
    const concerned = new Set(unscoped);
    if (tellOf !== undefined) {
      for (const stream of unscoped) {
        tellOf(stream, transaction)?.(passed('address', 'the stream watches all addresses'));
      }
    }
    for (const account of readTouched(transaction, movements)) {
      index.watching(chain, account, 2, (stream) => {
        concerned.add(stream);
        tellOf?.(
          stream,
          transaction,
        )?.(passed('address', `it touches ${account}, which is watched`));
      });
    }
    for (const stream of concerned) {
      if (!stream.selection.takes(transaction, tellOf?.(stream, transaction))) continue;
      const match = found.get(stream);
      if (match === undefined) {
        found.set(stream, { stream, transactions: [{ transaction, movements }] });
      } else match.transactions.push({ transaction, movements });
    }
  }
  return [...found.values()];
}

/**
 * Parts the transactions of a match so that each part weighs at most `limit`; one that weighs more by
 * itself is a part by itself (architecture.md 6.11).
 */
export function splitAptosMatch(
  { stream, transactions }: AptosMatch,
  limit: number,
  weigh: (part: AptosMatch) => number,
): AptosMatch[] {
  const parts: AptosMatch[] = [];
  let weight = 0;
  for (const each of transactions) {
    const own = { stream, transactions: [each] };
    const ownWeight = weigh(own);
    const part = parts.at(-1);
    if (part !== undefined && weight + ownWeight <= limit) {
      part.transactions.push(each);
      weight += ownWeight;
    } else {
      parts.push(own);
      weight = ownWeight;
    }
  }
  return parts;
}
