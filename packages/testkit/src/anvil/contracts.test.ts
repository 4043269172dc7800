import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileContracts } from '../../scripts/compile-contracts.ts';

// The compiler is 9 MB of WebAssembly in JavaScript: seconds to start on a busy machine.
test('contracts.generated.ts is what the sources compile to', { timeout: 60_000 }, () => {
  const committed = readFileSync(new URL('contracts.generated.ts', import.meta.url), 'utf8');
  // Not toEqual: a difference of 50 kB of bytecode is no readable message.
  expect(compileContracts() === committed, 'run `npm run contracts -w @sluice/testkit`').toBe(true);
});
