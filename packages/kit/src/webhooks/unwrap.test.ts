import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signStandardWebhook, signWebhook } from '../contract/rules/signature.ts';
import { TEST_WEBHOOK } from '../families/evm/testWebhook.ts';
import { isSluiceError } from '../errors.ts';
import type { SluiceErrorCode } from '../errors.ts';
import { unwrap } from './unwrap.ts';
import type { UnwrapOptions } from './unwrap.ts';

const SECRET = 'whsec_c2x1aWNlLXRlc3Qtc2VjcmV0LTEyMw==';
const OLD_SECRET = 'the secret of last year';
const WEBHOOK = { ...TEST_WEBHOOK, streamId: 'stream-1', chainId: '0x1', tag: 'é ☕ "q"' };
const BODY = JSON.stringify(WEBHOOK);
const ID = '8f7c2a1e-0000-4000-8000-000000000001';
const TIMESTAMP = 1_800_000_000;
const now = () => TIMESTAMP * 1000;

function headersOf(body: string | Uint8Array = BODY, secret = SECRET, id = ID) {
  return {
    'content-type': 'application/json',
    'x-signature': signWebhook(body, secret),
    'webhook-id': id,
    'webhook-timestamp': String(TIMESTAMP),
    'webhook-signature': signStandardWebhook({ id, timestamp: TIMESTAMP, body, secret }),
  };
}

const GIVEN = { body: BODY, headers: headersOf(), secret: SECRET, now };
const LEGACY = { 'x-signature': headersOf()['x-signature'] };

function thrownBy(options: object, code: SluiceErrorCode) {
  try {
    unwrap(options as UnwrapOptions);
  } catch (error) {
    if (isSluiceError(error, code)) return error;
    throw error;
  }
  throw new Error('The request was accepted');
}

describe('unwrap', () => {
  it('verifies and parses', () => {
    expect(unwrap(GIVEN)).toEqual({
      id: ID,
      sentAt: new Date(TIMESTAMP * 1000),
      webhook: WEBHOOK,
      isTest: false,
      verifiedBy: 'webhook-signature',
      origin: undefined,
      unverified: [],
    });
  });

  it.each([
    ['live', 'live'],
    ['backfill', 'backfill'],
    ['replay', 'replay'],
    ['Live', undefined],
    ['later', undefined],
    [['live', 'replay'], undefined],
  ])('reads x-sluice-origin: %s as %s', (given, origin) => {
    const headers = { ...headersOf(), 'x-sluice-origin': given };
    expect(unwrap({ ...GIVEN, headers }).origin).toBe(origin);
  });

  it.each([
    ['receipts-root, bloom', ['receipts-root', 'bloom']],
    [' bloom ,receipts ', ['bloom', 'receipts']],
    ['a-code-of-a-newer-service', ['a-code-of-a-newer-service']],
    [',, ', []],
    ['two words', []],
    [undefined, []],
  ])('reads x-sluice-unverified: %s as %s', (given, unverified) => {
    const headers = { ...headersOf(), 'x-sluice-unverified': given };
    expect(unwrap({ ...GIVEN, headers }).unverified).toEqual(unverified);
    const options = { ...GIVEN, headers: { ...headers, 'webhook-signature': undefined } };
    expect(unwrap({ ...options, allowXSignature: true }).unverified).toEqual(unverified);
  });

  it('accepts the example of the Standard Webhooks specification', () => {
    // The body is not a Sluice webhook. Only a verified body is rejected with `invalid_webhook`, so
    // this error proves that the signature was accepted.
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const options = { headers, secret, now: () => 1_614_265_330_000 };
    thrownBy({ ...options, body: '{"test": 2432232314}' }, 'invalid_webhook');
    thrownBy({ ...options, body: '{"test": 2432232315}' }, 'invalid_signature');
  });

  const bytes = new TextEncoder().encode(BODY);
  it.each([
    ['bytes', bytes],
    ['a Buffer, if available', 'Buffer' in globalThis ? Buffer.from(BODY) : BODY],
    ['a view into a larger buffer', new Uint8Array([0, ...bytes, 0]).subarray(1, -1)],
    ['an ArrayBuffer', bytes.slice().buffer],
  ])('accepts %s', (_, body) => {
    expect(unwrap({ ...GIVEN, body }).webhook).toEqual(WEBHOOK);
  });

  it.each([
    ['Headers', new Headers(headersOf())],
    [
      'uppercase names',
      Object.fromEntries(Object.entries(headersOf()).map(([k, v]) => [k.toUpperCase(), v])),
    ],
    [
      'lists of one value',
      Object.fromEntries(Object.entries(headersOf()).map(([k, v]) => [k, [v]])),
    ],
  ])('accepts headers as %s', (_, headers) => {
    expect(unwrap({ ...GIVEN, headers }).id).toBe(ID);
  });

  it('recognizes the test webhook', () => {
    const body = JSON.stringify(TEST_WEBHOOK);
    expect(unwrap({ ...GIVEN, body, headers: headersOf(body) }).isTest).toBe(true);
  });

  describe('with several secrets', () => {
    it('accepts a signature by any of them', () => {
      for (const secrets of [
        [SECRET, OLD_SECRET],
        [OLD_SECRET, SECRET],
        ['', SECRET],
      ]) {
        expect(unwrap({ body: BODY, headers: headersOf(), now, secrets }).id).toBe(ID);
      }
    });

    it('accepts one of several signatures', () => {
      const other = headersOf(BODY, OLD_SECRET)['webhook-signature'];
      const signature = `v1a,xyz ${other} ${GIVEN.headers['webhook-signature']}`;
      const headers = { ...GIVEN.headers, 'webhook-signature': signature };
      expect(unwrap({ ...GIVEN, headers }).id).toBe(ID);
    });

    it.each([{}, { secret: '' }, { secrets: [] }, { secrets: [''] }, { apiKey: 'whsec_' }])(
      'requires one that is not empty: %j',
      (key) => {
        const { secret: _, ...given } = GIVEN;
        thrownBy({ ...given, ...key, headers: headersOf(BODY, '') }, 'missing_secret');
      },
    );

    it('is never a public key, because anyone can sign with it', () => {
      const secret = 'whpk_AAAA';
      thrownBy({ ...GIVEN, secret, headers: headersOf(BODY, secret) }, 'missing_secret');
      thrownBy(
        {
          ...GIVEN,
          secret: undefined,
          secrets: [secret, SECRET],
          headers: headersOf(BODY, secret),
        },
        'invalid_signature',
      );
    });

    it('rejects one that is not base64, without repeating it', () => {
      const error = thrownBy({ ...GIVEN, secret: 'whsec_no base64!' }, 'invalid_argument');
      expect(error.message).not.toContain('no base64!');
    });
  });

  describe('the timestamp', () => {
    it.each([
      [-300_000, undefined],
      [300_000, undefined],
      [300_001, 'stale-timestamp'],
      [-300_001, 'future-timestamp'],
      [Number.NaN, 'stale-timestamp'],
    ])('is checked %d ms after sending: %s', (after, reason) => {
      const options = { ...GIVEN, now: () => TIMESTAMP * 1000 + after };
      if (reason === undefined) expect(unwrap(options).id).toBe(ID);
      else expect(thrownBy(options, 'stale_timestamp').details).toMatchObject({ reason });
    });

    it('is checked with the given tolerance', () => {
      const later = { ...GIVEN, now: () => TIMESTAMP * 1000 + 1 };
      thrownBy({ ...later, toleranceMs: 0 }, 'stale_timestamp');
      expect(unwrap({ ...later, toleranceMs: 1 }).id).toBe(ID);
      expect(unwrap({ ...GIVEN, now: () => 0, toleranceMs: Infinity }).id).toBe(ID);
      thrownBy({ ...GIVEN, toleranceMs: -1 }, 'invalid_argument');
      thrownBy({ ...GIVEN, toleranceMs: Number.NaN }, 'invalid_argument');
    });

    it('is compared with the system clock by default', () => {
      const { now: _, ...given } = GIVEN;
      thrownBy(given, 'stale_timestamp');
    });
  });

  describe('by x-signature', () => {
    it('verifies only if allowed', () => {
      const options = { ...GIVEN, headers: LEGACY };
      expect(thrownBy(options, 'invalid_signature')).toMatchObject({
        message: 'Signature is not valid',
        hint: expect.stringContaining('allowXSignature'),
        details: { reason: 'x-signature-only' },
      });
      expect(unwrap({ ...options, allowXSignature: true })).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
        sentAt: undefined,
        webhook: WEBHOOK,
        verifiedBy: 'x-signature',
        origin: undefined,
        unverified: [],
      });
    });

    it('never verifies next to a webhook-signature', () => {
      const headers = { ...GIVEN.headers, 'webhook-signature': 'v1,AAAA' };
      thrownBy({ ...GIVEN, headers, allowXSignature: true }, 'invalid_signature');
    });

    it('ignores the id header, and returns the same id for each attempt', () => {
      const idOf = (change: object, headers: object) => {
        const body = JSON.stringify({ ...WEBHOOK, ...change });
        return unwrap({
          body,
          headers: { 'x-signature': signWebhook(body, SECRET), ...headers },
          apiKey: SECRET,
          allowXSignature: true,
        }).id;
      };
      const id = idOf({}, { 'webhook-id': 'forged' });
      expect(idOf({ retries: 3 }, {})).toBe(id);
      expect(idOf({ confirmed: false }, {})).not.toBe(id);
    });
  });

  it.each([
    ['no headers', {}, 'missing-header'],
    ['no id', { ...GIVEN.headers, 'webhook-id': undefined }, 'missing-header'],
    ['two ids', { ...GIVEN.headers, 'webhook-id': ['a', 'b'] }, 'missing-header'],
    ['no timestamp', { ...GIVEN.headers, 'webhook-timestamp': '' }, 'missing-header'],
    ['an id with a dot', { ...GIVEN.headers, 'webhook-id': 'a.1' }, 'malformed-header'],
    [
      'a timestamp in hex',
      { ...GIVEN.headers, 'webhook-timestamp': '0x6b49d200' },
      'malformed-header',
    ],
    [
      'a timestamp with a leading zero',
      { ...GIVEN.headers, 'webhook-timestamp': `0${TIMESTAMP}` },
      'malformed-header',
    ],
    ['another id', { ...GIVEN.headers, 'webhook-id': 'other' }, 'mismatch'],
    [
      'another timestamp',
      { ...GIVEN.headers, 'webhook-timestamp': `${TIMESTAMP + 1}` },
      'mismatch',
    ],
    ['another version', { ...GIVEN.headers, 'webhook-signature': 'v2,abc' }, 'mismatch'],
  ])('rejects %s', (_, headers, reason) => {
    expect(thrownBy({ ...GIVEN, headers }, 'invalid_signature').details).toEqual({ reason });
  });

  it.each([null, undefined, 'text', 7])('treats headers %j as missing', (headers) => {
    thrownBy({ ...GIVEN, headers }, 'invalid_signature');
  });

  it.each([undefined, null, 7, WEBHOOK, [1]])('rejects %j, which is not a raw body', (body) => {
    thrownBy({ ...GIVEN, body }, 'body_already_parsed');
  });

  it.each(['', 'null', '7', '"text"', '[]', '{}', '{"streamId":1,"logs":[]}', '{"streamId":""}'])(
    'rejects a signed body that is not a webhook: %s',
    (body) => {
      const { hint } = thrownBy({ ...GIVEN, body, headers: headersOf(body) }, 'invalid_webhook');
      expect(hint).toBe('Pass the body of a webhook: raw to unwrap, parsed to other functions.');
    },
  );

  it('rejects a signed body that is not UTF-8', () => {
    const body = new TextEncoder().encode(BODY.replace('{', '{"a":"?",'));
    expect(unwrap({ ...GIVEN, body, headers: headersOf(body) }).id).toBe(ID);
    body[body.indexOf(0x3f)] = 0xff;
    thrownBy({ ...GIVEN, body, headers: headersOf(body) }, 'invalid_webhook');
  });

  it('never accepts unsigned input, and throws only SluiceError', () => {
    const header = fc.oneof(
      fc.string(),
      fc.constantFrom(...Object.values(GIVEN.headers), `v1,${'A'.repeat(43)}=`, 'v1,', '0x'),
      fc.array(fc.string()),
      fc.constant(undefined),
    );
    const headers = fc.record(
      {
        'webhook-id': header,
        'webhook-timestamp': fc.oneof(header, fc.integer().map(String)),
        'webhook-signature': header,
        'x-signature': header,
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.uint8Array(),
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.constant(BODY.replace('0x1', '0x2')),
      fc.anything(),
    );
    fc.assert(
      fc.property(body, headers, fc.boolean(), (body, headers, allowXSignature) => {
        fc.pre(body !== BODY);
        try {
          unwrap({ ...GIVEN, body: body as string, headers, allowXSignature });
        } catch (error) {
          return isSluiceError(error);
        }
        return false;
      }),
      { numRuns: 2000 },
    );
  });

  it('never accepts a signed request after a single change', () => {
    const bytes = new TextEncoder().encode(BODY);
    const text = fc.constantFrom('webhook-id', 'webhook-timestamp', 'webhook-signature');
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const body = bytes.slice();
        const view = new DataView(body.buffer);
        view.setUint8(bit >> 3, view.getUint8(bit >> 3) ^ (1 << (bit & 7)));
        thrownBy({ ...GIVEN, body }, 'invalid_signature');
      }),
    );
    fc.assert(
      fc.property(
        text,
        fc.oneof(fc.nat(), fc.constant('end' as const)),
        fc.constantFrom(...'0 9 a z A Z - _ + / = .'.split(' '), ' '),
        fc.constantFrom('replace', 'insert', 'remove'),
        (name, at, character, how) => {
          const value = GIVEN.headers[name as 'webhook-id'];
          const last = value.length - (how === 'insert' ? 0 : 1);
          const index = at === 'end' ? last : at % (last + 1);
          fc.pre(how !== 'replace' || value[index] !== character);
          // Spaces separate signatures.
          fc.pre(how !== 'insert' || name !== 'webhook-signature' || character !== ' ');
          const rest = value.slice(how === 'insert' ? index : index + 1);
          const changed = value.slice(0, index) + (how === 'remove' ? '' : character) + rest;
          thrownBy(
            { ...GIVEN, headers: { ...GIVEN.headers, [name]: changed } },
            'invalid_signature',
          );
        },
      ),
    );
  });

  it('requires exactly one kind of key in its types', () => {
    const { secret, ...given } = GIVEN;
    // @ts-expect-error no key
    expect(() => unwrap(given)).toThrow();
    // @ts-expect-error two kinds of key
    expect(unwrap({ ...given, secret, apiKey: secret }).id).toBe(ID);
    // @ts-expect-error a parsed body
    expect(() => unwrap({ ...GIVEN, body: WEBHOOK })).toThrow();
  });
});
