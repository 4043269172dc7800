import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readCommit } from './build.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-build-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the commit comes from the file of an image, or from the checkout', () => {
  expect(readCommit(folder)).toBe('unknown');
  writeFileSync(join(folder, 'COMMIT'), 'not a commit\n');
  expect(readCommit(folder)).toBe('unknown');
  writeFileSync(join(folder, 'COMMIT'), `${'0123456789abcdef'.repeat(2)}\n`);
  expect(readCommit(folder)).toBe('0123456789ab');
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  git('init', '--quiet');
  expect(readCommit(folder)).toBe('unknown');
  git(
    ...['-c', 'user.name=a', '-c', 'user.email=a@example.org'],
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    'a',
  );
  expect(readCommit(folder)).toBe(git('rev-parse', 'HEAD').slice(0, 12));
});
