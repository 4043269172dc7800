/** Native and JavaScript hashes. */
import { getHashes } from 'node:crypto';
import * as fc from 'fast-check';
import { keccak256 as viemKeccak } from 'viem';
import { expect, it, vi } from 'vitest';
import { nativeHmac, nativeKeccak, portableHmac, portableKeccak } from './hash.ts';
import { signStandardWebhook, signWebhook } from './signature.ts';

const UNICODE_BODY = '{"tag":"é ☕ \\"q\\"","logs":[]}';

const keccak = nativeKeccak();
const hmac = nativeHmac();
/** The native hash if available, otherwise another implementation. */
const reference =
  keccak ??
  ((input: string | Uint8Array): string =>
    viemKeccak(typeof input === 'string' ? new TextEncoder().encode(input) : input).slice(2));

it('finds what the Node that runs the tests has', () => {
  // Node before 26 has no Keccak.
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
    fc.property(bytes, fc.array(fc.oneof(text, bytes), { maxLength: 3 }), (key, message) => {
      expect(hmac?.(key, ...message)).toBe(portableHmac(key, ...message));
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
