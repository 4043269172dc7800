import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readSpamLists } from './spamLists.ts';

describe('lists of spam contracts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-spam-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (text: string): string => {
    const path = join(folder, 'list.txt');
    writeFileSync(path, text);
    return path;
  };
  const address = `0x${'Ab'.repeat(20)}`;

  test('have addresses, comments and blank lines; those of a chain are merged', () => {
    const first = file(`# fakes\n\n ${address} # a fake\r\n`);
    const lists = readSpamLists([`0x01=${first}`]);
    expect(lists).toEqual({ '0x1': new Set([address.toLowerCase()]) });
    expect(Object.keys(readSpamLists([`1=${first}`, `0x1=${first}`, `0x89=${first}`]))).toEqual([
      '0x1',
      '0x89',
    ]);
  });

  test('report a line that is not an address, and a missing file', () => {
    expect(() => readSpamLists([`0x1=${file(`${address}\n0x12`)}`])).toThrow(
      /line 2, "0x12", should be an address/,
    );
    expect(() => readSpamLists([`0x1=${join(folder, 'none')}`])).toThrow(
      /cannot be read: .*ENOENT|no such file/,
    );
    expect(() => readSpamLists(['eth=x'])).toThrow(/should be <hexId>=<file>/);
  });
});
