import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hideSecrets } from './hideSecrets.ts';

test.each([
  ['https://example.com/hook', 'https://example.com/hook'],
  ['https://user:pass@example.com/hook', 'https://***@example.com/hook'],
  ['HTTPS://token@example.com', 'HTTPS://***@example.com'],
  ['https://a@b:c@example.com/@x', 'https://***@example.com/@x'],
  // URL parsers ignore the third slash, so this URL has a login.
  ['https:///user:pass@example.com/', 'https:///***@example.com/'],
  ['https:\\\\user:pass@example.com', 'https:\\\\***@example.com'],
  ['https://example.com/a@b', 'https://example.com/a@b'],
  ['https://h/p?token=t&b=&c#f', 'https://h/p?token=***&b=***&***#f'],
  ['https://h?tok@n', 'https://h?***'],
  ['https://h/p?a=b=c', 'https://h/p?a=***'],
  ['postgres://sluice:secret@db:5432/sluice', 'postgres://***@db:5432/sluice'],
  ['cannot reach "https://u:p@h/?k=v": refused', 'cannot reach "https://***@h/?k=***": refused'],
  ['sluice://inbox/orders', 'sluice://inbox/orders'],
  ['no URL: a@b, what? c=d', 'no URL: a@b, what? c=d'],
])('%s is shown as %s', (text, shown) => {
  expect(hideSecrets(text)).toBe(shown);
});

test('property: no credentials or query values remain', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9%@:!$*+~_-]{1,20}$/).map((text) => `secret${text}`);
  fc.assert(
    fc.property(word, word, word, fc.boolean(), (user, password, value, hasQuery) => {
      const url = `https://${user}:${password}@example.com/p${hasQuery ? `?key=${value}` : ''}`;
      const shown = hideSecrets(`POST ${url} failed`);
      expect(shown).not.toContain('secret');
      expect(shown).toContain('@example.com/p');
      expect(hideSecrets(shown)).toBe(shown);
    }),
  );
});
