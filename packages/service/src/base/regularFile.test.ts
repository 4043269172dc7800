import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readRegularFile } from './regularFile.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-regular-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test('reads a file, also through a link', () => {
  const path = write('file', 'naïve');
  symlinkSync(path, join(folder, 'link'));
  expect(readRegularFile(path, 6)).toBe('naïve');
  expect(readRegularFile(join(folder, 'link'), 6)).toBe('naïve');
});

test('rejects a larger file without reading it', () => {
  const path = write('large', '');
  truncateSync(path, 100_000_000);
  expect(() => readRegularFile(path, 1_000)).toThrow('should have at most 1000 bytes');
  expect(() => readRegularFile(write('file', 'naïve'), 5)).toThrow('should have at most 5 bytes');
});

test.skipIf(process.platform === 'win32')('rejects pipes and devices without waiting', () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero', folder]) {
    expect(() => readRegularFile(path, 1_000)).toThrow('should be a regular file');
  }
});

test('names a missing file', () => {
  expect(() => readRegularFile(join(folder, 'none'), 1)).toThrow(/ENOENT.*none/);
});
