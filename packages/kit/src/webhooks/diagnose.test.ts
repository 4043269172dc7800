import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signStandardWebhook, signWebhook } from '../contract/rules/signature.ts';
import { TEST_WEBHOOK } from '../families/evm/testWebhook.ts';
import { diagnose } from './diagnose.ts';
import { unwrap } from './unwrap.ts';
import type { UnwrapOptions } from './unwrap.ts';

const SECRET = 'the streams secret';
const TIMESTAMP = 1_800_000_000;
const WEBHOOK = { ...TEST_WEBHOOK, streamId: 'stream-1', chainId: '0x1', tag: 'café' };
const BODY = JSON.stringify(WEBHOOK);

function headersOf(secret = SECRET, id = 'delivery-1') {
  const signed = { id, timestamp: TIMESTAMP, body: BODY, secret };
  return {
    'webhook-id': id,
    'webhook-timestamp': String(TIMESTAMP),
    'webhook-signature': signStandardWebhook(signed),
  };
}

const STANDARD = headersOf();
const LEGACY = { 'x-signature': signWebhook(BODY, SECRET) };
const GIVEN = { body: BODY, headers: STANDARD, secret: SECRET, now: () => TIMESTAMP * 1000 };
const BY_X_SIGNATURE = { ...GIVEN, headers: LEGACY, allowXSignature: true };
const latin1 = String.fromCharCode(...new TextEncoder().encode(BODY));

describe.each([
  ['webhook-signature', GIVEN],
  ['x-signature', BY_X_SIGNATURE],
])('diagnose by %s', (_, given) => {
  it.each([
    // Most of the problems that docs/kit/verify.md lists.
    ['no header', { headers: {} }, 'missing-header', true],
    ['a wrong secret', { secret: 'another' }, 'wrong-secret', false],
    [
      'the secret of another stream',
      { secret: 'another', otherSecrets: { deposits: SECRET, empty: '' } },
      'other-secret',
      true,
    ],
    ['Python’s spaces', { body: BODY.replaceAll(':', ': ') }, 'body-reserialized', true],
    ['Python’s escapes', { body: BODY.replace('é', '\\u00e9') }, 'body-reserialized', true],
    ['indentation', { body: JSON.stringify(WEBHOOK, null, 2) }, 'body-reserialized', true],
    [
      'sorted keys',
      {
        body: JSON.stringify(
          Object.fromEntries(Object.entries(WEBHOOK).sort(([a], [b]) => (a < b ? -1 : 1))),
        ),
      },
      'body-reserialized',
      false,
    ],
    ['a truncated body', { body: BODY.slice(0, -5) }, 'body-altered', true],
    ['no body', { body: '' }, 'body-altered', true],
    ['a list', { body: '[1]' }, 'body-altered', true],
    ['an added line', { body: `${BODY}\n` }, 'body-altered', true],
    ['a byte order mark', { body: `\u{feff}${BODY}` }, 'body-altered', true],
    ['UTF-8 read as Latin-1', { body: latin1 }, 'body-altered', true],
    ['UTF-8 read as ASCII', { body: BODY.replace('é', '\u{fffd}') }, 'body-altered', false],
    [
      'a number in another form',
      { body: BODY.replace('"retries":0', '"retries":1.0') },
      'body-altered',
      false,
    ],
    ['a string passed twice', { body: JSON.stringify(BODY) }, 'stringified-twice', true],
    [
      'an edited string passed twice',
      { body: JSON.stringify(`${BODY} `) },
      'stringified-twice',
      false,
    ],
    ['a parsed body', { body: WEBHOOK }, 'body-parsed', true],
  ])('%s', (_, change, problem, certain) => {
    const options = { ...given, ...change };
    const diagnosis = diagnose(options);
    expect(diagnosis).toMatchObject({ problem, certain });
    expect(diagnosis?.message).toMatch(/^[A-Z].+\.$/);
    expect(diagnosis?.fix).toMatch(/^.+\.$/);
    expect(() => unwrap(options as UnwrapOptions)).toThrow();
  });

  it('detects an edited body by its length', () => {
    const body = BODY.replace('café', 'tea');
    const headers = {
      ...given.headers,
      'content-length': String(new TextEncoder().encode(BODY).length),
    };
    expect(diagnose({ ...given, headers, body })).toMatchObject({
      problem: 'body-altered',
      certain: true,
    });
    const encoded = { ...headers, 'content-encoding': 'gzip' };
    expect(diagnose({ ...given, headers: encoded, body })?.problem).toBe('wrong-secret');
  });

  it('names the secret that signed', () => {
    const options = { ...given, secret: 'another', otherSecrets: { nft: 'x', deposits: SECRET } };
    expect(diagnose(options)?.secretName).toBe('deposits');
  });

  it('returns undefined for a valid request', () => {
    expect(diagnose(given)).toBeUndefined();
    expect(diagnose({ ...given, body: new TextEncoder().encode(BODY) })).toBeUndefined();
    const { secret, ...rest } = given;
    expect(diagnose({ ...rest, secrets: ['new', secret] })).toBeUndefined();
  });

  it('agrees with unwrap on any input', () => {
    const name = fc.constantFrom(...Object.keys({ ...STANDARD, ...LEGACY }));
    const headers = fc.dictionary(
      name,
      fc.oneof(fc.string(), fc.constantFrom(...Object.values(STANDARD))),
    );
    const body = fc.oneof(fc.json(), fc.string(), fc.uint8Array(), fc.constant(BODY));
    fc.assert(
      fc.property(body, headers, (body, changed) => {
        const options = { ...given, body, headers: { ...given.headers, ...changed } };
        let accepted = true;
        try {
          unwrap(options);
        } catch {
          accepted = false;
        }
        expect(diagnose(options) === undefined).toBe(accepted);
      }),
      { numRuns: 500 },
    );
  });
});

describe('diagnose', () => {
  const problemOf = (change: object) => diagnose({ ...GIVEN, ...change })?.problem;
  const withSignature = (signature: string) => ({
    headers: { ...STANDARD, 'webhook-signature': signature },
  });

  it('detects a stale timestamp and a wrong clock', () => {
    expect(problemOf({ now: () => (TIMESTAMP + 301) * 1000 })).toBe('stale-timestamp');
    expect(problemOf({ now: () => (TIMESTAMP - 301) * 1000 })).toBe('future-timestamp');
    expect(problemOf({ now: () => (TIMESTAMP + 301) * 1000, toleranceMs: 301_000 })).toBe(
      undefined,
    );
  });

  it('detects a reformatted signature', () => {
    const hex = LEGACY['x-signature'];
    for (const value of [
      hex.slice(2),
      hex.toUpperCase(),
      `0x${hex.slice(2).toUpperCase()}`,
      ` ${hex}`,
    ]) {
      const headers = { 'x-signature': value };
      expect(problemOf({ headers, allowXSignature: true })).toBe('signature-format');
    }
    const base64 = STANDARD['webhook-signature'].slice(3);
    for (const value of [base64, `V1,${base64}`, `v1=${base64}`, `v1,${base64}, v1,x`]) {
      expect(problemOf(withSignature(value))).toBe('signature-format');
    }
  });

  it('detects a changed id by the other signature', () => {
    const headers = { ...STANDARD, ...LEGACY, 'webhook-id': 'proxy-7' };
    expect(problemOf({ headers })).toBe('header-altered');
    expect(problemOf({ headers: { ...STANDARD, 'webhook-id': 'proxy-7' } })).toBe('wrong-secret');
  });

  it('detects an x-signature alone, and malformed headers', () => {
    expect(problemOf({ headers: LEGACY })).toBe('x-signature-only');
    expect(problemOf({ headers: { ...STANDARD, 'webhook-id': 'a b' } })).toBe('malformed-header');
  });
});
