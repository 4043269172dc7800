import fc from 'fast-check';
import { normalize } from 'viem/ens';
import { expect, test } from 'vitest';
import { toName } from './ensNames.ts';

const viaViem = (text: string): string | undefined => {
  try {
    return normalize(text);
  } catch {
    return undefined;
  }
};

test('property: names are normalized as by viem', () => {
  const label = fc.string({
    unit: fc.constantFrom('a', 'b', 'X', 'Z', '0', '9', '-', '_', '$', 'é', '\u212a'),
    maxLength: 6,
  });
  const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'));
  fc.assert(
    fc.property(
      fc.oneof(
        name,
        fc.string({ maxLength: 12 }).map((text) => `${text}.eth`),
      ),
      (text) => {
        expect(toName(text)).toBe(viaViem(text));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('text without a dot or over 255 characters is not a name', () => {
  expect(toName('vitalik')).toBeUndefined();
  expect(toName(`${'a'.repeat(251)}.eth`)).toBe(`${'a'.repeat(251)}.eth`);
  expect(toName(`${'a'.repeat(252)}.eth`)).toBeUndefined();
  expect(toName(`${'é'.repeat(252)}.eth`)).toBeUndefined();
});

test.each([
  ['a Cyrillic letter among Latin ones', 'vit\u0430lik.eth'],
  ['a bidirectional override', '\u202Ekilativ.eth'],
  ['a control character', 'vita\u0000lik.eth'],
  ['a lone surrogate', 'vita\uD800lik.eth'],
  ['a dot of another script', 'vitalik\u3002eth'],
  ['too many combining marks', `a${'\u0301'.repeat(200)}.eth`],
])('a name with %s is invalid', (_what, name) => {
  expect(toName(name)).toBeUndefined();
});

test('a name is shown without the invisible characters that ENS ignores', () => {
  expect(toName('vita\u200Blik\u00AD.eth')).toBe('vitalik.eth');
});
