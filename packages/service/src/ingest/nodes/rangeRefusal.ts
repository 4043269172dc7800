/**
 * Extracts the range that a node would accept from its refusal of an `eth_getLogs` query. Providers
 * word refusals differently; `rangeRefusal.test.ts` lists their messages. The result is a hint: the
 * search also finds the limit of a node whose messages say nothing.
 */

export interface RangeRefusal {
  /** Last block of a range that the node should accept, if the range starts at the same block. */
  to?: number;
  /** The maximum number of blocks in any range. */
  blocks?: number;
}

/**
 * Matches refusals of `eth_getLogs`, in addition to the messages that mean "too large" for any
 * method.
 */
export const REFUSED_RANGE =
  /blocks? range|max range|\branges?\b.{0,80}\b(over|exceed|too|limit|large)|limited to a [\d,]{1,16} range|exceeds? (the |max(imum)? )?(limit|range|results)|too many blocks|(at most|more than) [\d,.]{1,16} blocks|number of requested blocks|blocks distance|query (timeout|timed out)|must be smaller than size|returns? too many|too wide/i;

/**
 * Matches suggestions such as "Try with this block range [0xa, 0xb]" and "retry with the range
 * 10-20".
 */
const SUGGESTED =
  /\[(0x[0-9a-f]{1,16}|\d{1,16}), ?(0x[0-9a-f]{1,16}|\d{1,16})\]|the range (\d{1,16})-(\d{1,16})/i;

/**
 * Patterns of the maximum number of blocks in a range. They do not match a number of results, logs
 * or bytes.
 */
const LIMITS = [
  /(?:limited to|up to|at most|over|limit(?: of| is|:)?|(?:greater|more) than|range exceeds|size|filter:) (?:an? |0 - )?(\d[\d,._]{0,15})(k?)\b(?![,._]?\d| ?results| ?logs| ?bytes)/i,
  /max(?:imum)?(?:[a-z :]|\[[a-z, ]{1,20}\]){0,60}?(?: is set to| is|:| =|\(|) ?(\d[\d,._]{0,15})(k?)\b(?![,._]?\d| ?results| ?logs| ?bytes)/i,
  /\(\d{1,16} > (\d[\d,._]{0,15})(k?)\b(?![,._]?\d| ?results| ?logs| ?bytes)\)/i,
];

/**
 * Returns the range or the block limit that the message states; an empty object if there is none.
 */
export function parseRangeRefusal(text: string): RangeRefusal {
  const suggested = SUGGESTED.exec(text);
  if (suggested !== null) {
    const [from, to] = suggested.slice(1).filter((each) => each !== undefined);
    return Number(from) <= Number(to) ? { to: Number(to) } : {};
  }
  // The number in this message counts logs, not blocks.
  if (text.startsWith('logs matched')) return {};
  for (const limit of LIMITS) {
    const found = limit.exec(text);
    const blocks = Number(found?.[1]?.replaceAll(/[,._]/g, '')) * (found?.[2] === '' ? 1 : 1_000);
    if (blocks > 0) return { blocks };
  }
  return {};
}
