import { expect, test } from 'vitest';
import type { Store } from '../store/store.ts';
import { createStreamSecrets } from './streamSecrets.ts';
import type { Vault } from './vault.ts';

test('a previous secret signs until it ends', () => {
  const vault: Pick<Vault, 'open'> = { open: (sealed) => `opened ${sealed}` };
  const { open } = createStreamSecrets({} as Store, vault as Vault);
  const secrets = [
    { sealed: 'new', createdAt: 3, endsAt: null },
    { sealed: 'old', createdAt: 2, endsAt: 20 },
    { sealed: 'oldest', createdAt: 1, endsAt: 10 },
  ];
  const at = (time: number): string[] => open('stream', secrets, time);
  expect(at(9)).toEqual(['opened new', 'opened old', 'opened oldest']);
  expect(at(10)).toEqual(['opened new', 'opened old']);
  expect(at(20)).toEqual(['opened new']);
});
