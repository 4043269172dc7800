/** Ids of the records of a block, and how the ledger stores them. */
import { createHash } from 'node:crypto';

/** Identifies the records of blocks of one chain family. */
export interface RecordIds<Block> {
  of(block: Block): ReadonlySet<string>;
  /** Returns the ids of the records in all webhooks of one stream for one block. */
  ofWebhooks(bodies: readonly string[]): ReadonlySet<string>;
  /** Returns whether the check with this code fails if parts of a block are missing. */
  isMissing(code: string): boolean;
  /** Returns whether a complete block without this record shows that the record is gone. */
  canVanish(id: string): boolean;
  /** Returns the block with only some of its records. */
  pick(block: Block, isWanted: (id: string) => boolean): Block;
}

/** Maximum number of ids that are stored for a block. Of more, a digest is stored. */
const MAX_IDS = 8_192;
const DIGEST = '#';

/** Encodes ids, or, if there are too many, their number and a digest. */
export function encodeIds(ids: ReadonlySet<string>): string {
  const text = [...ids].toSorted().join(' ');
  if (ids.size <= MAX_IDS) return text;
  return `${DIGEST}${ids.size} ${createHash('sha256').update(text).digest('base64url')}`;
}

/** Decodes ids; undefined if only a digest was stored. */
export function decodeIds(text: string): ReadonlySet<string> | undefined {
  if (text.startsWith(DIGEST)) return undefined;
  return new Set(text === '' ? [] : text.split(' '));
}
