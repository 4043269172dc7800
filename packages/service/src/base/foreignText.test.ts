import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanLine, cleanNodeText, cleanReceiverText } from './foreignText.ts';

const KEY = 'kEy7-Zq.29_x';
const URL_OF_NODE = `https://user1:pass%2Fword@node.example/v2/${KEY}/letterskey?api=q9%2Bvalue&bare%3Dname`;
const SECRETS = ['user1', 'pass/word', KEY, 'letterskey', 'q9+value', 'bare=name'];

/** Escapes some characters of the text, some of them twice. */
const escaped = (text: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom('plain', 'url', 'twice', 'json', 'upper'), {
      minLength: text.length,
      maxLength: text.length,
    })
    .map((forms) =>
      Array.from(text, (character, n) => {
        const digits = character.charCodeAt(0).toString(16).padStart(2, '0');
        const written = { url: `%${digits}`, twice: `%25${digits}`, json: `\\u00${digits}` };
        const form = forms[n]!;
        if (form === 'upper') return character.toUpperCase();
        return form in written ? written[form as keyof typeof written] : character;
      }).join(''),
    );

describe('text of a node', () => {
  const clean = cleanNodeText(URL_OF_NODE);

  test.each([
    ['the whole URL', `cannot reach ${URL_OF_NODE}: refused`],
    ['the encoded URL', `?target=${encodeURIComponent(URL_OF_NODE)}&x=1`],
    ['the URL encoded twice', encodeURIComponent(encodeURIComponent(URL_OF_NODE))],
    ['the URL in JSON', JSON.stringify({ url: URL_OF_NODE }).replaceAll('/', '\\/')],
    ['a part in JSON within JSON', JSON.stringify(String.raw`{"password":"pass\/word"}`)],
    ['the path', `404: /v2/${KEY}/letterskey`],
    ['the key', `invalid key ${KEY}`],
    ['the key in another case', `invalid key ${KEY.toUpperCase()}`],
    ['the start of the key', `invalid key ${KEY.slice(0, 8)}`],
    ['the start of a parameter without a value', 'invalid key bare=nam'],
    ['the key with invisible characters', `key ${Array.from(KEY).join('\u200b')}`],
    ['the login as a header', `Basic ${Buffer.from('user1:pass/word').toString('base64')}`],
  ])('does not show the secrets of %s', (_, text) => {
    const shown = clean(text).toLowerCase();
    for (const secret of [...SECRETS.slice(1), 'pass%2fword', 'dxnlcje6']) {
      for (const part of [secret, secret.slice(0, 8), secret.slice(-5)]) {
        expect(shown).not.toContain(part.toLowerCase());
      }
    }
    expect(shown).toContain('***');
  });

  test('property: no form of a secret remains', () => {
    // Without the start of a URL, in which other text is masked, too.
    const noise = fc.string({ maxLength: 20 }).filter((text) => !/[/\\]{2}/.test(text));
    const secret = fc.constantFrom(...SECRETS.slice(1));
    fc.assert(
      fc.property(
        noise,
        secret.chain((each) => fc.tuple(fc.constant(each), escaped(each))),
        noise,
        (before, [plain, form], after) => {
          const shown = clean(`${before}:${form} ${after}`).toLowerCase();
          const left = cleanLine(`${before}: ${after}`).toLowerCase();
          expect(shown).not.toContain(form.toLowerCase());
          if (!left.includes(plain.toLowerCase())) expect(shown).not.toContain(plain.toLowerCase());
          expect(shown).toMatch(/:\*\*\*( |$)/);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('property: shows visible characters on one line, and text without secrets unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(clean(text)).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
        );
      }),
    );
    const said = 'eth_getLogs: 10,000 results, "v2" <b>only</b> 東京 ✓ & 100 %';
    expect(clean(said)).toBe(said);
    expect(clean('two\r\nlines\u202e')).toBe('two lines');
  });

  test('hides the credentials of other URLs', () => {
    expect(clean('upstream https://a:b@c.example/x?k=v failed')).toBe(
      'upstream https://***@c.example/x?k=*** failed',
    );
  });

  test('is linear in the length of the text', () => {
    const started = performance.now();
    for (const part of ['%25', '\\', '%', KEY.slice(0, 11), '&amp;', '://']) {
      clean(part.repeat(200_000));
    }
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe('text of a receiver', () => {
  const clean = cleanReceiverText(
    'https://hooks.example/services/new-orders/T0-B4x9?token=abc123x',
  );

  test('keeps lines, and words of the path', () => {
    expect(clean('Cannot POST\n\t/services/new-orders\u202e\u0000')).toBe(
      'Cannot POST\n\t/services/new-orders',
    );
  });

  test('shows no keys of the path or query', () => {
    expect(clean('/services/new-orders/t0-b4x9 {"token":"abc123x"}')).toBe(
      '/services/new-orders/*** {"token":"***"}',
    );
    expect(clean('abc\u200b123x')).toBe('***');
  });
});
