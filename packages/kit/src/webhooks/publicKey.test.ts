import { describe, expect, it } from 'vitest';
import { TEST_WEBHOOK } from '../families/evm/testWebhook.ts';
import { isSluiceError } from '../errors.ts';
import type { SluiceErrorCode } from '../errors.ts';
import { createHandlerWithPublicKey } from './handler/publicKeyHandler.ts';
import { diagnoseWithPublicKey, unwrapWithPublicKey } from './publicKey.ts';
import type { PublicKeyOptions } from './publicKey.ts';
import { createFakeSender, sampleAptosWebhook, sampleWebhook, signedRequest } from './testing.ts';
import { createKeyPair, signWithPrivateKey } from './testingKeys.ts';

/** Seed and public key of test 1 in RFC 8032, section 7.1, in hex. */
const RFC_SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const RFC_PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';

const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

const SECRET = 'the streams secret';
const WEBHOOK = { ...sampleWebhook('erc20-transfer'), tag: 'é ☕' };
const SENT_AT = new Date('2030-01-01T12:00:00Z');
const now = () => SENT_AT.getTime();
const pair = await createKeyPair();
const other = await createKeyPair();

async function requestOf(change: { privateKey?: string; body?: string } = {}) {
  const { privateKey = pair.privateKey, body = JSON.stringify(WEBHOOK) } = change;
  const hmac = signedRequest({ body, secret: SECRET, id: 'delivery-1', sentAt: SENT_AT });
  const request = await signWithPrivateKey(hmac, privateKey);
  const read = (name: string): string => request.headers.get(name) ?? '';
  const headers = {
    'webhook-id': read('webhook-id'),
    'webhook-timestamp': read('webhook-timestamp'),
    'webhook-signature': read('webhook-signature'),
  };
  return { body, headers };
}
const GIVEN = { ...(await requestOf()), publicKeys: [pair.publicKey], now };
const HMAC_ONLY = {
  ...GIVEN.headers,
  'webhook-signature': GIVEN.headers['webhook-signature'].split(' ').slice(0, 1).join(),
};

async function refusalOf(options: object, code: SluiceErrorCode) {
  try {
    await unwrapWithPublicKey(options as PublicKeyOptions);
  } catch (error) {
    if (isSluiceError(error, code)) return error;
    throw error;
  }
  throw new Error('The request was accepted');
}

describe('unwrapWithPublicKey', () => {
  it('verifies and parses', async () => {
    expect(await unwrapWithPublicKey(GIVEN)).toEqual({
      id: 'delivery-1',
      sentAt: SENT_AT,
      webhook: WEBHOOK,
      isTest: false,
      verifiedBy: 'webhook-signature',
      origin: undefined,
      unverified: [],
    });
    const bytes = new TextEncoder().encode(GIVEN.body);
    expect((await unwrapWithPublicKey({ ...GIVEN, body: bytes })).webhook).toEqual(WEBHOOK);
  });

  it('accepts a signature by any of several keys, next to other signatures in the header', async () => {
    const publicKeys = [other.publicKey, pair.publicKey];
    expect((await unwrapWithPublicKey({ ...GIVEN, publicKeys })).id).toBe('delivery-1');
    const signature = `v1a,xyz v2,abc ${GIVEN.headers['webhook-signature']}`;
    const headers = { ...GIVEN.headers, 'webhook-signature': signature };
    expect((await unwrapWithPublicKey({ ...GIVEN, headers })).id).toBe('delivery-1');
  });

  it('checks at most ten signatures', async () => {
    const real = GIVEN.headers['webhook-signature'].split(' ').slice(1).join();
    const withFalse = async (count: number) => {
      const signature = [...Array<string>(count).fill(`v1a,${'A'.repeat(86)}==`), real].join(' ');
      return { ...GIVEN, headers: { ...GIVEN.headers, 'webhook-signature': signature } };
    };
    expect((await unwrapWithPublicKey(await withFalse(9))).id).toBe('delivery-1');
    await refusalOf(await withFalse(10), 'invalid_signature');
  });

  it('uses the keys of RFC 8032', async () => {
    const publicKeys = [`whpk_${toBase64(fromHex(RFC_PUBLIC))}`];
    for (const hex of [RFC_SEED, RFC_SEED + RFC_PUBLIC]) {
      const request = await requestOf({ privateKey: `whsk_${toBase64(fromHex(hex))}` });
      expect((await unwrapWithPublicKey({ ...request, publicKeys, now })).id).toBe('delivery-1');
    }
  });

  it('accepts Aptos webhooks and the test webhook', async () => {
    const aptos = await requestOf({ body: JSON.stringify(sampleAptosWebhook('coin-transfer')) });
    const received = await unwrapWithPublicKey({ ...GIVEN, ...aptos, family: 'aptos' });
    expect(received.webhook.network).toBe('mainnet');
    await refusalOf({ ...GIVEN, ...aptos }, 'invalid_webhook');
    const test = await requestOf({ body: JSON.stringify(TEST_WEBHOOK) });
    expect((await unwrapWithPublicKey({ ...GIVEN, ...test })).isTest).toBe(true);
  });

  const signature = GIVEN.headers['webhook-signature'];
  const later = GIVEN.headers['webhook-timestamp'].replace(/.$/, '1');
  it.each([
    ['another key', { publicKeys: [other.publicKey] }, 'mismatch'],
    ['another body', { body: GIVEN.body.replace('USDC', 'USDT') }, 'mismatch'],
    ['another id', { headers: { ...GIVEN.headers, 'webhook-id': 'delivery-2' } }, 'mismatch'],
    ['another time', { headers: { ...GIVEN.headers, 'webhook-timestamp': later } }, 'mismatch'],
    ['only an HMAC', { headers: HMAC_ONLY }, 'hmac-only'],
    ['no headers', { headers: {} }, 'missing-header'],
    ['only x-signature', { headers: { 'x-signature': '0x1' } }, 'x-signature-only'],
    ['an odd id', { headers: { ...GIVEN.headers, 'webhook-id': 'a.b' } }, 'malformed-header'],
    [
      'an HMAC that is declared as v1a',
      {
        headers: {
          ...GIVEN.headers,
          'webhook-signature': signature.replace('v1,', 'v1a,').split(' ').slice(0, 1).join(),
        },
      },
      'mismatch',
    ],
  ])('rejects a request with %s', async (_, change, reason) => {
    const error = await refusalOf({ ...GIVEN, ...change }, 'invalid_signature');
    expect(error.details).toEqual({ reason });
  });

  it('rejects old and future requests', async () => {
    for (const [minutes, reason] of [
      [6, 'stale-timestamp'],
      [-6, 'future-timestamp'],
    ] as const) {
      const at = () => SENT_AT.getTime() + minutes * 60_000;
      const error = await refusalOf({ ...GIVEN, now: at }, 'stale_timestamp');
      expect(error.details).toMatchObject({ reason });
    }
  });

  it('rejects malformed keys, without repeating them', async () => {
    await refusalOf({ ...GIVEN, publicKeys: [] }, 'missing_secret');
    for (const key of [pair.privateKey, 'whpk_AAAA', 'whpk_no base64!', 'whsec_c2VjcmV0', '']) {
      const error = await refusalOf({ ...GIVEN, publicKeys: [key] }, 'invalid_argument');
      expect(error.message).toBe('publicKeys[0] must be whpk_ and 32 bytes in base64');
    }
  });
});

describe('diagnoseWithPublicKey', () => {
  const signature = GIVEN.headers['webhook-signature'];
  it.each([
    ['no problem', {}, undefined],
    ['a wrong key', { publicKeys: [other.publicKey] }, 'wrong-public-key'],
    ['an HMAC alone', { headers: HMAC_ONLY }, 'hmac-only'],
    ['no header', { headers: {} }, 'missing-header'],
    [
      'another format',
      { headers: { ...GIVEN.headers, 'webhook-signature': signature.replace('v1a,', 'V1A=') } },
      'signature-format',
    ],
    ['a parsed body', { body: JSON.parse(GIVEN.body) as unknown }, 'body-parsed'],
    ['an indented body', { body: JSON.stringify(WEBHOOK, null, 2) }, 'body-reserialized'],
    ['an added line break', { body: `${GIVEN.body}\n` }, 'body-altered'],
    ['a text in a text', { body: JSON.stringify(GIVEN.body) }, 'stringified-twice'],
    ['an old request', { now: () => now() + 3_600_000 }, 'stale-timestamp'],
  ])('finds %s', async (_, change, problem) => {
    expect((await diagnoseWithPublicKey({ ...GIVEN, ...change }))?.problem).toBe(problem);
  });
});

describe('createHandlerWithPublicKey', () => {
  it('handles webhooks, and reports why others are rejected', async () => {
    const errors: unknown[] = [];
    const blocks: string[] = [];
    const handler = createHandlerWithPublicKey({
      publicKeys: [pair.publicKey],
      onError: (error) => errors.push(error),
    }).onWebhook((webhook) => blocks.push(webhook.block.number));
    const send = (privateKey?: string) =>
      createFakeSender({ to: handler, secret: SECRET, privateKey, scheduleMs: [] }).send(WEBHOOK);
    expect((await send(pair.privateKey)).delivered).toBe(true);
    expect(blocks).toEqual([WEBHOOK.block.number]);
    expect((await send(other.privateKey)).attempts[0]?.status).toBe(401);
    // The service may have replaced the key pair since the handler's key verified a webhook.
    expect(errors).toMatchObject([
      { code: 'invalid_signature', details: { problem: 'wrong-public-key' } },
    ]);
  });

  it('rejects malformed keys at the start', () => {
    expect(() => createHandlerWithPublicKey({ publicKeys: ['whsec_c2VjcmV0'] })).toThrow(
      'publicKeys[0]',
    );
    expect(() => createHandlerWithPublicKey({ publicKeys: [] })).toThrow('publicKeys must contain');
  });
});
