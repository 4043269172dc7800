import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileContracts } from '../../scripts/compile-contracts.ts';

// The compiler is 9 MB of WebAssembly, which takes seconds to start on a busy machine.
test('contracts.generated.ts is up to date', { timeout: 60_000 }, () => {
  const committed = readFileSync(new URL('contracts.generated.ts', import.meta.url), 'utf8');
  // Does not use toEqual, because a diff of 50 kB of bytecode is unreadable.
  expect(compileContracts() === committed, 'run `npm run contracts -w @sluice/testkit`').toBe(true);
});
