import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Runs in a process of its own, which can use up its file descriptors. */
const PROGRAM = `
  import { execFileSync } from 'node:child_process';
  import { openSync } from 'node:fs';
  import { readLocalFailure } from ${JSON.stringify(new URL('localFailure.ts', import.meta.url).href)};
  const fail = (code, syscall) => Object.assign(new Error(code), { code, syscall });
  const read = () => [
    readLocalFailure(fail('ENOTFOUND', 'getaddrinfo')) ?? null,
    readLocalFailure(fail('ECONNREFUSED', 'connect')) ?? null,
    readLocalFailure(fail('EMFILE', 'connect')) ?? null,
  ];
  const before = read();
  execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=64:']);
  try {
    for (;;) openSync('/dev/null', 'r');
  } catch {}
  process.stdout.write(JSON.stringify([before, read()]));
`;

test('a name that is unknown because no file descriptor is left is a local failure', () => {
  const args = ['-C', '@sluice/source', '--input-type=module', '--eval', PROGRAM];
  const [before, exhausted] = JSON.parse(execFileSync(process.execPath, args).toString()) as [
    (string | null)[],
    (string | null)[],
  ];
  expect(before).toEqual([null, null, 'EMFILE']);
  expect(exhausted).toEqual(['EMFILE', null, 'EMFILE']);
});
