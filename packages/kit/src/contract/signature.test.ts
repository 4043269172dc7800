import { createHmac, getHashes } from 'node:crypto';
import * as fc from 'fast-check';
import { keccak256 as viemKeccak } from 'viem';
import { describe, expect, it, vi } from 'vitest';
import { nativeHmac, nativeKeccak, portableHmac, portableKeccak } from './hash.ts';
import { signStandardWebhook, signWebhook } from './signature.ts';
import { TEST_WEBHOOK } from './webhook.ts';

const TEST_BODY = JSON.stringify(TEST_WEBHOOK);
const UNICODE_BODY =
  '{"confirmed":false,"chainId":"0x1","tag":"é ☕ \\"q\\"","retries":1,"logs":[]}';

describe('signWebhook', () => {
  it.each([
    [
      TEST_BODY,
      'test-secret',
      '0xca8151ac91349184d89220719fca2dcf954525b58ba8f4a1c338e9927e852a2d',
    ],
    [
      UNICODE_BODY,
      'test-secret',
      '0xb7933917d1846bc3726f71b21d4bd448b27d60a3699ccaf735c5a86a99d98c03',
    ],
    [
      TEST_BODY,
      'k9'.repeat(32),
      '0x3c4b2e6b07e386f97198eb2dc639f7901f00a5d3ec1b8c8effe4838920d71829',
    ],
  ])('signs as the official client does (contract section 3)', (body, secret, signature) => {
    expect(signWebhook(body, secret)).toBe(signature);
    expect(signWebhook(new TextEncoder().encode(body), secret)).toBe(signature);
  });
});

describe('signStandardWebhook', () => {
  it('signs the example of the Standard Webhooks specification', () => {
    const signature = signStandardWebhook({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1614265330,
      body: '{"test": 2432232314}',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    });
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('takes any other secret as UTF-8', () => {
    const body = '{"tag":"é"}';
    const expected = createHmac('sha256', 'schlüssel').update(`id.1.${body}`).digest('base64');
    const options = { id: 'id', timestamp: 1, secret: 'schlüssel' };
    expect(signStandardWebhook({ ...options, body })).toBe(`v1,${expected}`);
    expect(signStandardWebhook({ ...options, body: new TextEncoder().encode(body) })).toBe(
      `v1,${expected}`,
    );
  });

  it('refuses a whsec_ secret that is not base64, without repeating it', () => {
    const sign = () =>
      signStandardWebhook({ id: 'id', timestamp: 1, body: '{}', secret: 'whsec_not*base64' });
    expect(sign).toThrow(TypeError);
    expect(sign).not.toThrow(/not\*base64/);
  });
});

describe('hashes', () => {
  const keccak = nativeKeccak();
  const hmac = nativeHmac();
  /** Native where it is, else another's. */
  const reference =
    keccak ??
    ((input: string | Uint8Array): string =>
      viemKeccak(typeof input === 'string' ? new TextEncoder().encode(input) : input).slice(2));

  it('finds what the Node that runs the tests has', () => {
    // Before 26 Node has no Keccak.
    expect(keccak !== undefined).toBe(getHashes().includes('keccak-256'));
    expect(hmac).toBeTypeOf('function');
  });

  it('gives the same natively and in JavaScript, for text and for bytes', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(fc.oneof(text, bytes), (input) => {
        expect(reference(input)).toBe(portableKeccak(input));
      }),
    );
    fc.assert(
      fc.property(bytes, fc.oneof(text, bytes), (key, message) => {
        expect(hmac?.(key, message)).toEqual(portableHmac(key, message));
      }),
    );
  });

  it('takes a lone surrogate as U+FFFD either way', () => {
    expect(reference('\ud800')).toBe(portableKeccak('\ufffd'));
    expect(portableKeccak('\ud800')).toBe(portableKeccak('\ufffd'));
  });

  it.each([
    ['no process', undefined],
    ['no way to the modules', {}],
    ['no crypto', { getBuiltinModule: () => undefined }],
    ['an empty crypto', { getBuiltinModule: () => ({}) }],
    ['another keccak', { getBuiltinModule: () => ({ hash: () => '00' }) }],
    [
      'an error',
      {
        getBuiltinModule: () => {
          throw new Error('not here');
        },
      },
    ],
  ])('does without where there is %s', (_, process) => {
    vi.stubGlobal('process', process);
    try {
      expect([nativeKeccak(), nativeHmac()]).toEqual([undefined, undefined]);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('signs the same in JavaScript', async () => {
    vi.stubGlobal('process', undefined);
    vi.resetModules();
    try {
      const portable = await import('./signature.ts');
      expect(portable.signWebhook(UNICODE_BODY, 'test-secret')).toBe(
        signWebhook(UNICODE_BODY, 'test-secret'),
      );
      const webhook = { id: 'a', timestamp: 1, body: UNICODE_BODY, secret: 'test-secret' };
      expect(portable.signStandardWebhook(webhook)).toBe(signStandardWebhook(webhook));
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
