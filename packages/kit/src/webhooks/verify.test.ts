import { describe, expect, it } from 'vitest';
import { signWebhook } from '../contract/rules/signature.ts';
import { TEST_WEBHOOK } from '../families/evm/testWebhook.ts';
import { isSluiceError } from '../errors.ts';
import { verifySignature } from './verify.ts';

const SECRET = 'test-secret';
const TEST_BODY = JSON.stringify(TEST_WEBHOOK);
const TEST_SIGNATURE = '0xca8151ac91349184d89220719fca2dcf954525b58ba8f4a1c338e9927e852a2d';
const UNICODE_BODY =
  '{"confirmed":false,"chainId":"0x1","tag":"é ☕ \\"q\\"","retries":1,"logs":[]}';
const UNICODE_SIGNATURE = '0xb7933917d1846bc3726f71b21d4bd448b27d60a3699ccaf735c5a86a99d98c03';

const encode = (text: string) => new TextEncoder().encode(text);

describe('verifySignature', () => {
  it.each([
    ['text', TEST_BODY],
    ['bytes', encode(TEST_BODY)],
    ['a Buffer, if available', 'Buffer' in globalThis ? Buffer.from(TEST_BODY) : TEST_BODY],
    ['an ArrayBuffer', encode(TEST_BODY).slice().buffer],
    ['a parsed body', JSON.parse(TEST_BODY)],
  ])('accepts %s', (_, body) => {
    expect(verifySignature({ body, signature: TEST_SIGNATURE, secret: SECRET })).toBe(true);
    expect(verifySignature({ body, signature: TEST_SIGNATURE, apiKey: SECRET })).toBe(true);
  });

  it('accepts the test vectors of the contract', () => {
    for (const body of [UNICODE_BODY, encode(UNICODE_BODY), JSON.parse(UNICODE_BODY)]) {
      expect(verifySignature({ body, signature: UNICODE_SIGNATURE, secret: SECRET })).toBe(true);
    }
    expect(
      verifySignature({
        body: TEST_WEBHOOK,
        signature: '0x3c4b2e6b07e386f97198eb2dc639f7901f00a5d3ec1b8c8effe4838920d71829',
        apiKey: 'k9'.repeat(32),
      }),
    ).toBe(true);
  });

  it.each([
    ['another secret', { secret: 'test-secres' }],
    ['uppercase hex', { signature: `0x${TEST_SIGNATURE.slice(2).toUpperCase()}` }],
    ['no 0x prefix', { signature: TEST_SIGNATURE.slice(2) }],
    ['a missing digit', { signature: TEST_SIGNATURE.slice(0, -1) }],
    ['an extra digit', { signature: `${TEST_SIGNATURE}0` }],
    ['a changed digit', { signature: `${TEST_SIGNATURE.slice(0, -1)}e` }],
    ['a leading space', { signature: ` ${TEST_SIGNATURE}` }],
    ['no signature', { signature: '' }],
    ['a missing header', { signature: undefined }],
    ['a null header', { signature: null }],
    ['a list of headers', { signature: [TEST_SIGNATURE] as never }],
    ['a trailing space in the body', { body: `${TEST_BODY} ` }],
    ['another body', { body: { ...TEST_WEBHOOK, retries: 1 } }],
    ['keys in another order', { body: Object.fromEntries(Object.entries(TEST_WEBHOOK).reverse()) }],
    ['an empty body', { body: '' }],
    ['no body', { body: undefined as never }],
    ['a null body', { body: null as never }],
  ])('rejects %s', (_, change) => {
    const options = { body: TEST_BODY, signature: TEST_SIGNATURE, secret: SECRET, ...change };
    let thrown: unknown;
    try {
      verifySignature(options);
    } catch (error) {
      thrown = error;
    }
    expect(isSluiceError(thrown, 'invalid_signature')).toBe(true);
    expect(thrown).toHaveProperty('message', 'Signature is not valid');
  });

  it('uses the secret, not the API key, if both are given', () => {
    const both = { body: TEST_BODY, signature: TEST_SIGNATURE, secret: 'other', apiKey: SECRET };
    expect(() => verifySignature(both as never)).toThrow('Signature is not valid');
  });

  it.each([
    ...[{}, { apiKey: '' }, { secret: '' }, { secret: undefined }],
    // Anyone can sign with a public key.
    { secret: 'whpk_AAAA' },
  ])('requires a key that only the sender knows: %j', (key: { secret?: string | undefined }) => {
    const signature = signWebhook(TEST_BODY, key.secret ?? '');
    const options = { body: TEST_BODY, signature, ...key };
    let thrown: unknown;
    try {
      verifySignature(options as never);
    } catch (error) {
      thrown = error;
    }
    expect(isSluiceError(thrown, 'missing_secret')).toBe(true);
    expect(thrown).toHaveProperty(
      'message',
      'Unable to verify signature without an api key or streams secret',
    );
  });

  it('requires exactly one key in its types', () => {
    const given = { body: TEST_BODY, signature: TEST_SIGNATURE };
    // @ts-expect-error no key
    expect(() => verifySignature(given)).toThrow();
    // @ts-expect-error both keys
    expect(verifySignature({ ...given, apiKey: SECRET, secret: SECRET })).toBe(true);
  });
});
