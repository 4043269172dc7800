/** Reads the files with the spam contracts of chains. */
import { toAddress, toChainId } from '@sluice/kit/contract';
import { readFileSync } from 'node:fs';
import { describeError } from '../../../base/log.ts';
import { InvalidValue } from '../../../config/setting.ts';

/**
 * Reads files given as `<hexId>=<file>`, which have one contract address per line; `#` begins a
 * comment. Lists for the same chain are merged. The addresses are in lowercase.
 */
export function readSpamLists(texts: readonly string[]): Record<string, ReadonlySet<string>> {
  const lists: Record<string, Set<string>> = {};
  for (const text of texts) {
    const separator = text.indexOf('=');
    const id = toChainId(text.slice(0, Math.max(0, separator)));
    if (id === undefined) {
      throw new InvalidValue(text, 'should be <hexId>=<file>, e.g. 0x1=spam.txt');
    }
    const list = (lists[id] ??= new Set());
    const lines = readLines(text, text.slice(separator + 1));
    for (const [n, line] of lines.entries()) {
      const entry = line.replace(/#.*/, '').trim();
      if (entry === '') continue;
      const address = toAddress(entry);
      if (address === undefined) {
        throw new InvalidValue(
          text,
          `line ${n + 1}, ${JSON.stringify(entry)}, should be an address: 0x and 40 hex digits`,
        );
      }
      list.add(address);
    }
  }
  return lists;
}

function readLines(text: string, path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch (error) {
    throw new InvalidValue(text, `cannot be read: ${describeError(error)}`);
  }
}
