import { createKeyPair, signedRequest, signWithPrivateKey } from '@sluice/kit/testing';
import { expect, test } from 'vitest';
import { diagnoseRequest, isPublicKey, toHeaders } from './diagnoseRequest.ts';

const SECRET = 'the streams secret';
const body = '{"confirmed":true}';
const pair = await createKeyPair();
const other = await createKeyPair();
const signed = await signWithPrivateKey(signedRequest({ body, secret: SECRET }), pair.privateKey);
const headers = Object.fromEntries(signed.headers);
const problemOf = async (change: object): Promise<string | undefined> =>
  (
    await diagnoseRequest({
      key: SECRET,
      headers,
      body,
      anyTime: true,
      otherSecrets: [],
      ...change,
    })
  )?.problem;

test('a request is verified with a secret or a public key', async () => {
  expect(await problemOf({})).toBeUndefined();
  expect(await problemOf({ key: 'another' })).toBe('wrong-secret');
  expect(await problemOf({ key: 'another', otherSecrets: [SECRET] })).toBe('other-secret');
  expect(await problemOf({ key: ` ${pair.publicKey}\n` })).toBeUndefined();
  expect(await problemOf({ key: other.publicKey })).toBe('wrong-public-key');
  expect(await problemOf({ key: pair.publicKey, body: `${body}\n` })).toBe('body-altered');
  await expect(problemOf({ key: 'whpk_AAAA' })).rejects.toThrow('whpk_ and 32 bytes in base64');
});

test('the timestamp is checked unless it is ignored', async () => {
  const old = signedRequest({ body, secret: SECRET, sentAt: new Date('2020-01-01') });
  const given = Object.fromEntries((await signWithPrivateKey(old, pair.privateKey)).headers);
  for (const key of [SECRET, pair.publicKey]) {
    expect(await problemOf({ key, headers: given })).toBeUndefined();
    expect(await problemOf({ key, headers: given, anyTime: false })).toBe('stale-timestamp');
  }
});

test('a public key is recognized by its prefix', () => {
  expect([pair.publicKey, ` ${pair.publicKey}`].map(isPublicKey)).toEqual([true, true]);
  expect(['', SECRET, 'whsec_c2VjcmV0', 'whs_1'].map(isPublicKey)).not.toContain(true);
});

test('headers are read as logs print them', () => {
  expect(toHeaders('Webhook-Id: a\n"webhook-signature": "v1,b",\n')).toEqual({
    'webhook-id': 'a',
    'webhook-signature': 'v1,b',
  });
});
