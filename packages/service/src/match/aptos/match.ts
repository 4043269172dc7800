/** Which streams an Aptos block concerns, and with which of its transactions. Pure: no I/O, no clock. */
import type { AptosBlock, AptosJson, AptosTransaction } from './block.ts';
import type { AptosIndex, CompiledAptosStream } from './streamIndex.ts';
import { type Tell, passed } from '../reasons.ts';
import { type WeighedPart, divide } from '../parts.ts';
import { type AptosMovement, readMovements, readTouched } from './movements.ts';

/** A transaction with what was read of it. */
export interface MatchedAptosTransaction {
  transaction: AptosTransaction;
  movements: readonly AptosMovement[];
  /** The transaction itself is in an earlier part: these are more of its records. */
  isContinued?: boolean;
  /** Names the first record of a divided transaction, for people. */
  record?: string;
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

/** Parts whose webhooks weigh at most `limit`, as `parts.ts` divides. */
export function splitAptosMatch(
  { stream, transactions }: AptosMatch,
  limit: number,
  weigh: (part: AptosMatch) => number,
): WeighedPart<AptosMatch>[] {
  const partOf = (...some: MatchedAptosTransaction[]): AptosMatch => ({
    stream,
    transactions: some,
  });
  return divide(
    {
      empty: partOf(),
      transactions: transactions.map((each) => partOf(each)),
      toRecords: ({ transactions: [whole] }) => toRecords(whole!).map((each) => partOf(each)),
      join(part, { transactions: more }) {
        for (const each of more) {
          const last = part.transactions.at(-1);
          // More records of a transaction come as pieces, and follow pieces of it.
          if (each.isContinued && last?.transaction.hash === each.transaction.hash) {
            joinRecords(last as Piece, each as Piece);
          } else part.transactions.push(each);
        }
      },
      weigh,
    },
    limit,
  );
}

/** One record of a transaction, or the transaction itself; its lists are its own, to be added to. */
interface Piece extends MatchedAptosTransaction {
  transaction: AptosTransaction & { changes: AptosJson[] };
  movements: AptosMovement[];
}

/** The transaction itself, then its payload, events, changes and movements, one by one. */
function toRecords({ transaction, movements }: MatchedAptosTransaction): Piece[] {
  const piece = (
    record: string,
    records: Partial<Pick<AptosTransaction, 'payload' | 'events'>> & { changes?: AptosJson[] },
    moved: AptosMovement[] = [],
  ): Piece => ({
    transaction: { ...transaction, payload: undefined, events: [], changes: [], ...records },
    movements: moved,
    isContinued: true,
    record,
  });
  const { payload, events, changes } = transaction;
  return [
    { ...piece('the record', {}), isContinued: false },
    ...(payload === undefined ? [] : [piece('the payload', { payload })]),
    ...events.map((event, n) => piece(`event ${n}`, { events: [event] })),
    ...changes.map((change, n) => piece(`change ${n}`, { changes: [change] })),
    ...movements.map((movement, n) => piece(`movement ${n}`, {}, [movement])),
  ];
}

function joinRecords(first: Piece, more: Piece): void {
  first.transaction.payload ??= more.transaction.payload;
  first.transaction.events.push(...more.transaction.events);
  first.transaction.changes.push(...more.transaction.changes);
  first.movements.push(...more.movements);
}
