/** Checks that SECURITY.md lists the calls that need no API key. */
import { readFileSync } from 'node:fs';
import { eachCall } from '@sluice/kit/calls';
import { expect, test } from 'vitest';

test('SECURITY.md lists each call without an API key', () => {
  const page = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
  const listed = /every route except (.*?) needs an API key/.exec(page)![1]!;
  const open = eachCall
    .map(([, call]) => call)
    // Signing in and out are described in words.
    .filter(({ scope, path }) => scope === 'open' && path !== '/sluice/session');
  expect(open.length).toBeGreaterThan(0);
  for (const { method, path } of open) expect(listed).toContain(`\`${method} ${path}\``);
});
