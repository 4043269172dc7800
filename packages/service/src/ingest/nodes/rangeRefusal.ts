/**
 * Parses the refusal of an `eth_getLogs` query for the range that the node would accept. Providers
 * word it differently; `rangeRefusal.test.ts` lists their messages.
 */

/** The suggestion of a refusal. */
export interface RangeRefusal {
  /** The last block of a range that should work, from the same first block. */
  to?: number;
  /** The maximum number of blocks in any range. */
  blocks?: number;
}

/** Refusals of a range or a result, in addition to refusals of any large response. */
export const REFUSED_RANGE =
  /blocks? range|max range|\branges?\b.{0,80}\b(over|exceed|too|limit|large)|limited to a [\d,]{1,16} range|exceeds? (the |max(imum)? )?(limit|range|results)|too many blocks|at most [\d,]{1,16} blocks|number of requested blocks|blocks distance|query (timeout|timed out)|must be smaller than size|returns? too many|too (big|wide)/i;

/** "Try with this block range [0xa, 0xb]" and "retry with the range 10-20". */
const SUGGESTED = /\[(0x[0-9a-f]{1,16}), ?(0x[0-9a-f]{1,16})\]|the range (\d{1,16})-(\d{1,16})/i;

/** Numbers of blocks. A number of results, logs or bytes is another limit. */
const LIMITS = [
  /(?:limited to|up to|at most|over|limit of|greater than|range exceeds|size) (?:an? |0 - )?(\d[\d,_]{0,15})(k?)\b(?! ?results| ?logs| ?bytes)/i,
  /max(?:imum)?[a-z ,:[\]]{0,60}?(?: is set to| is|:|\(|) ?(\d[\d,_]{0,15})(k?)\b(?! ?results| ?logs| ?bytes)/i,
  /\(\d{1,16} > (\d[\d,_]{0,15})(k?)\b(?! ?results| ?logs| ?bytes)\)/i,
];

/** Returns the suggestion; an empty object if there is none. */
export function parseRangeRefusal(text: string): RangeRefusal {
  const suggested = SUGGESTED.exec(text);
  if (suggested !== null) {
    const [from, to] = suggested.slice(1).filter((each) => each !== undefined);
    return Number(from) <= Number(to) ? { to: Number(to) } : {};
  }
  // The number in this message is a number of logs.
  if (text.startsWith('logs matched')) return {};
  for (const limit of LIMITS) {
    const found = limit.exec(text);
    const blocks = Number(found?.[1]?.replaceAll(/[,_]/g, '')) * (found?.[2] === '' ? 1 : 1_000);
    if (blocks > 0) return { blocks };
  }
  return {};
}
