/**
 * Creates ids of rows. They do not depend on the delivery, so a record has the same id in every
 * delivery, unconfirmed or confirmed.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Kind of a row, which is part of its default id. */
export type RowKind =
  | 'log'
  | 'tx'
  | 'internalTx'
  | 'call'
  | 'read'
  | 'erc20Transfer'
  | 'erc20Approval'
  | 'nftTransfer'
  | 'nftApproval'
  | 'nativeBalance';

/** The properties that identify a record. */
export interface RecordKey {
  readonly kind: RowKind;
  readonly transactionHash: string;
  /** Position of the log in its block; undefined for transactions and internal transactions. */
  readonly logIndex?: string | undefined;
  /** Text that distinguishes the record from others of its kind in the same log or transaction. */
  readonly part?: string | undefined;
}

export type IdOf = (key: RecordKey) => string;

/** Returns the SHA-256 of UTF-8 text as `0x` and 64 lowercase hex digits. */
export const sha256Hex = (text: string): string => `0x${bytesToHex(sha256(utf8ToBytes(text)))}`;

/**
 * Creates ids like the hosted SDK. They depend on the chain, transaction and log, but not on `kind`
 * and `part`.
 */
export const compatibleIds =
  (chainId: number): IdOf =>
  ({ transactionHash, logIndex }) => {
    const transaction = `${chainId};${transactionHash.toLowerCase()}`;
    return sha256Hex(logIndex === undefined ? transaction : `${transaction};${logIndex}`);
  };

/**
 * Creates unique ids for the records of a webhook. Pass the records in order. If `part` is not
 * unique, for example because a batch contains a token id twice, `;1` is added to the key of the
 * second record, `;2` to the key of the third.
 */
export function distinctIds(chainId: number): IdOf {
  const seen = new Map<string, number>();
  return ({ kind, transactionHash, logIndex = '', part }) => {
    const key = `${chainId};${transactionHash.toLowerCase()};${kind};${logIndex}`;
    if (part === undefined) return sha256Hex(key);
    const partKey = `${key};${part}`;
    const earlier = seen.get(partKey) ?? 0;
    seen.set(partKey, earlier + 1);
    return sha256Hex(earlier === 0 ? partKey : `${partKey};${earlier}`);
  };
}
