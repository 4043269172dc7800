/** Matches an Aptos block against streams. Pure: no I/O, no clock. */
import type { AptosBlock, AptosJson, AptosTransaction } from './block.ts';
import type { AptosIndex, CompiledAptosStream } from './streamIndex.ts';
import { type AddReason, passed } from '../reasons.ts';
import { type WeighedPart, divide } from '../parts.ts';
import { type AptosMovement, readMovements, readTouched } from './movements.ts';

/** A transaction with its movements. */
export interface MatchedAptosTransaction {
  transaction: AptosTransaction;
  movements: readonly AptosMovement[];
  /** True if this part continues a transaction of an earlier part. */
  isContinued?: boolean;
  /** Description of the first record of a split transaction, for messages. */
  record?: string;
}

/** The match of one stream and one block. */
export interface AptosMatch {
  stream: CompiledAptosStream;
  /** Transactions in version order. */
  transactions: MatchedAptosTransaction[];
}

/**
 * Matches the transactions of accounts that the stream watches, or all transactions if it watches
 * all addresses, if the functions and events of the stream select them.
 *
 * @param addReasonOf returns the receiver of reasons, if they are needed
 */
export function matchAptosBlock(
  index: AptosIndex,
  chain: string,
  block: AptosBlock,
  addReasonOf?: (
    stream: CompiledAptosStream,
    transaction: AptosTransaction,
  ) => AddReason | undefined,
): AptosMatch[] {
  const found = new Map<CompiledAptosStream, AptosMatch>();
  const unscoped = index.unscoped(chain);
  if (unscoped.length === 0 && index.addresses.size === 0) return [];
  for (const transaction of block.transactions) {
    const movements = readMovements(transaction);
    const concerned = new Set(unscoped);
    if (addReasonOf !== undefined) {
      for (const stream of unscoped) {
        addReasonOf(stream, transaction)?.(passed('address', 'the stream watches all addresses'));
      }
    }
    for (const account of readTouched(transaction, movements)) {
      index.watching(chain, account, 2, (stream) => {
        concerned.add(stream);
        addReasonOf?.(
          stream,
          transaction,
        )?.(passed('address', `it touches ${account}, which is watched`));
      });
    }
    for (const stream of concerned) {
      if (!stream.selection.takes(transaction, addReasonOf?.(stream, transaction))) continue;
      const match = found.get(stream);
      if (match === undefined) {
        found.set(stream, { stream, transactions: [{ transaction, movements }] });
      } else match.transactions.push({ transaction, movements });
    }
  }
  return [...found.values()];
}

/** Splits a match into parts with webhooks of at most `limit` bytes; see `parts.ts`. */
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
          // Pieces of a transaction arrive in order, after its earlier pieces.
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

/**
 * One record of a transaction, or the transaction itself. Its lists are copies that can be
 * extended.
 */
interface Piece extends MatchedAptosTransaction {
  transaction: AptosTransaction & { changes: AptosJson[] };
  movements: AptosMovement[];
}

/** Returns the transaction itself, then its payload, events, changes and movements, one by one. */
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
