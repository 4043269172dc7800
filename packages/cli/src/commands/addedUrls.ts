/** Helpers for the commands that manage nodes and alert URLs added while the service runs. */
import type { UrlTestResult } from '@sluice/kit/sluice';
import { chooseId } from '../connection/shortIds.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * Returns the entry whose complete or shortened id is given.
 *
 * @throws CommandError `not_found` if no entry matches, or `usage` if several do.
 */
export function findAdded<Entry extends { id: string }>(
  given: string,
  entries: readonly Entry[],
  { one, many, list }: { one: string; many: string; list: string },
): Entry {
  const ids = entries.map(({ id }) => id);
  const id = chooseId(given, ids, many);
  const found = entries.find((entry) => entry.id === (id ?? given));
  if (found !== undefined) return found;
  throw new CommandError('not_found', `There is no ${one} ${given}`, `list them: ${list}`);
}

/**
 * Prints the result of testing a URL.
 *
 * @throws CommandError `check_failed` unless the URL passed its test.
 */
export function printVerdict(
  url: string,
  { code, message, latencyMs }: UrlTestResult,
  { json, terminal }: { json?: boolean | undefined; terminal: Terminal },
): void {
  const host = URL.parse(url)?.host ?? '';
  if (json) terminal.printJson({ code, message, latencyMs });
  else if (code === 'ok') {
    const mark = terminal.tint('ok', '✓');
    terminal.print(`${mark} ${host} ${message}, ${latencyMs ?? 0} ms`);
  }
  if (code !== 'ok')
    throw new CommandError('check_failed', `${host}: ${message}`, 'use another URL');
}
