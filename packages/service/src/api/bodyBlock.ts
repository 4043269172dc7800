/**
 * Reads the block of a webhook's body. Parses only the block, because the records after it can take
 * megabytes.
 * @param pattern matches the block and what is before it; its group is the JSON of the block.
 */
export function readBodyBlock(body: string, pattern: RegExp): { timestamp: string } {
  const [, block] = pattern.exec(body) ?? [];
  if (block === undefined) throw new TypeError('the body has no block');
  return JSON.parse(block) as { timestamp: string };
}
