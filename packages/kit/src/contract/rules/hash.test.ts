/** Compares native and JavaScript hashes. */
import { getHashes } from 'node:crypto';
import * as fc from 'fast-check';
import { keccak256 as viemKeccak } from 'viem';
import { expect, it, vi } from 'vitest';
import { nativeHmac, nativeKeccak, portableHmac, portableKeccak } from './hash.ts';
import { signStandardWebhook, signWebhook } from './signature.ts';

const UNICODE_BODY = '{"tag":"é ☕ \\"q\\"","logs":[]}';

const keccak = nativeKeccak();
const hmac = nativeHmac();
/** The reference for Keccak-256: native if available, otherwise viem's. */
const reference =
  keccak ??
  ((input: string | Uint8Array): string =>
    viemKeccak(typeof input === 'string' ? new TextEncoder().encode(input) : input).slice(2));

it('native hashes are used if this version of Node has them', () => {
  // Node before 26 has no Keccak.
  expect(keccak !== undefined).toBe(getHashes().includes('keccak-256'));
  expect(hmac).toBeTypeOf('function');
});

it('native and JavaScript hashes of strings and bytes are equal', () => {
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

it('a lone surrogate is hashed as U+FFFD, natively and in JavaScript', () => {
  expect(reference('\ud800')).toBe(portableKeccak('\ufffd'));
  expect(portableKeccak('\ud800')).toBe(portableKeccak('\ufffd'));
});

it.each([
  ['no process', undefined],
  ['no getBuiltinModule', {}],
  ['no crypto module', { getBuiltinModule: () => undefined }],
  ['an empty crypto module', { getBuiltinModule: () => ({}) }],
  ['a wrong Keccak', { getBuiltinModule: () => ({ hash: () => '00' }) }],
  [
    'a getBuiltinModule that throws',
    {
      getBuiltinModule: () => {
        throw new Error('not here');
      },
    },
  ],
])('native hashes are not used with %s', (_, process) => {
  vi.stubGlobal('process', process);
  try {
    expect([nativeKeccak(), nativeHmac()]).toEqual([undefined, undefined]);
  } finally {
    vi.unstubAllGlobals();
  }
});

it('signatures are the same in JavaScript', async () => {
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
