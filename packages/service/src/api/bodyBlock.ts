/**
 * Reads the block of a webhook's body. Parses only the block, because the records after it can take
 * megabytes.
 * @param pattern matches what is directly before the JSON of the block.
 */
export function readBodyBlock(body: string, pattern: RegExp): { timestamp: string } {
  const before = pattern.exec(body);
  const start = before === null ? -1 : before.index + before[0].length;
  const end = body.indexOf('}', start) + 1;
  if (start < 0 || end === 0) throw new TypeError('the body has no block');
  return JSON.parse(body.slice(start, end)) as { timestamp: string };
}
