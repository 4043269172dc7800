/** Matches an Aptos block against streams. */
import type { AptosBlock, AptosJson, AptosTransaction } from './block.ts';
import type { AptosStreams, CompiledAptosStream } from './streamIndex.ts';
import { type AddReason, passed, watched } from '../../../match/reasons.ts';
import { type WeighedPart, splitIntoParts } from '../../../match/parts.ts';
import {
  type AptosMovement,
  type AptosTransfer,
  readMovements,
  readTouchedAccounts,
  readTransfers,
} from './movements.ts';

/** A transaction with its movements and payments, or one piece of a split transaction. */
export interface MatchedAptosTransaction {
  transaction: AptosTransaction;
  movements: readonly AptosMovement[];
  transfers: readonly AptosTransfer[];
  /** True for every piece of a split transaction except the first. */
  isContinued?: boolean;
  /** Name of the first record of this piece, for messages, such as `event 3`. */
  record?: string;
}

/** The match of one stream and one block. */
export interface AptosMatch {
  stream: CompiledAptosStream;
  /** Transactions in version order. */
  transactions: MatchedAptosTransaction[];
}

/**
 * Matches each stream with the transactions that its functions and events select. Considers only
 * transactions that touch one of the stream's addresses, unless the stream watches all addresses.
 *
 * @param addReasonOf called at least once for each stream and considered transaction; returns a
 * function that receives the reasons, or undefined to skip them
 */
export function matchAptosBlock(
  index: AptosStreams,
  chain: string,
  block: AptosBlock,
  addReasonOf?: (
    stream: CompiledAptosStream,
    transaction: AptosTransaction,
  ) => AddReason | undefined,
): AptosMatch[] {
  if (index.matching(chain).length === 0) return [];
  const found = new Map<CompiledAptosStream, AptosMatch>();
  const unscoped = index.unscoped(chain);
  for (const transaction of block.transactions) {
    const movements = readMovements(transaction);
    const concerned = new Set(unscoped);
    if (addReasonOf !== undefined) {
      for (const stream of unscoped) {
        addReasonOf(stream, transaction)?.(passed('address', 'the stream watches all addresses'));
      }
    }
    for (const account of readTouchedAccounts(transaction, movements)) {
      index.watching(chain, account, 2, (stream) => {
        concerned.add(stream);
        addReasonOf?.(
          stream,
          transaction,
        )?.(
          passed(
            'address',
            `it touches ${account}, which is watched`,
            watched(transaction.signers.includes(account) ? 'signer' : 'account', account),
          ),
        );
      });
    }
    for (const stream of concerned) {
      if (!stream.selection.takes(transaction, addReasonOf?.(stream, transaction))) continue;
      const matched = { transaction, movements, transfers: readTransfers(transaction) };
      const match = found.get(stream);
      if (match === undefined) found.set(stream, { stream, transactions: [matched] });
      else match.transactions.push(matched);
    }
  }
  return [...found.values()];
}

/**
 * Splits a match into parts whose webhooks have at most `limit` bytes. A single record that exceeds
 * the limit gets its own part; see `splitIntoParts`.
 */
export function splitAptosMatch(
  { stream, transactions }: AptosMatch,
  limit: number,
  weigh: (part: AptosMatch) => number,
): WeighedPart<AptosMatch>[] {
  const partOf = (...some: MatchedAptosTransaction[]): AptosMatch => ({
    stream,
    transactions: some,
  });
  return splitIntoParts(
    {
      empty: partOf(),
      transactions: transactions.map((each) => partOf(each)),
      toRecords: ({ transactions: [whole] }) => toRecords(whole!).map((each) => partOf(each)),
      join(part, { transactions: more }) {
        for (const each of more) {
          const last = part.transactions.at(-1);
          // The pieces of a transaction arrive in order, so earlier ones are in the last entry.
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
 * A piece of a split transaction: the fields of the transaction, with at most one of its records.
 * The lists of a piece are new arrays, so more records can be appended.
 */
interface Piece extends MatchedAptosTransaction {
  transaction: AptosTransaction & { changes: AptosJson[] };
  movements: AptosMovement[];
  transfers: AptosTransfer[];
}

/**
 * Returns the pieces of a transaction: first its own fields, then its payload, and then each event,
 * change, movement and payment.
 */
function toRecords({ transaction, movements, transfers }: MatchedAptosTransaction): Piece[] {
  const piece = (
    record: string,
    records: Partial<Pick<AptosTransaction, 'payload' | 'events'>> & { changes?: AptosJson[] },
    moved: Partial<Pick<Piece, 'movements' | 'transfers'>> = {},
  ): Piece => ({
    transaction: { ...transaction, payload: undefined, events: [], changes: [], ...records },
    movements: [],
    transfers: [],
    ...moved,
    isContinued: true,
    record,
  });
  const { payload, events, changes } = transaction;
  return [
    { ...piece('the record', {}), isContinued: false },
    ...(payload === undefined ? [] : [piece('the payload', { payload })]),
    ...events.map((event, n) => piece(`event ${n}`, { events: [event] })),
    ...changes.map((change, n) => piece(`change ${n}`, { changes: [change] })),
    ...movements.map((movement, n) => piece(`movement ${n}`, {}, { movements: [movement] })),
    ...transfers.map((transfer, n) => piece(`payment ${n}`, {}, { transfers: [transfer] })),
  ];
}

function joinRecords(first: Piece, more: Piece): void {
  first.transaction.payload ??= more.transaction.payload;
  first.transaction.events.push(...more.transaction.events);
  first.transaction.changes.push(...more.transaction.changes);
  first.movements.push(...more.movements);
  first.transfers.push(...more.transfers);
}
