import { describe, expect, it } from 'vitest';
import { isSluiceError } from '../errors.ts';
import { signedRequest } from './testing.ts';
import { createKeyPair, signWithPrivateKey } from './testingKeys.ts';
import { unwrapAlert, unwrapAlertWithPublicKey } from './unwrapAlert.ts';

const SECRET = 'the streams secret';
const ALERT = {
  type: 'chain.halted',
  timestamp: '2030-01-01T12:00:00Z',
  data: { chainId: '0x1', message: 'é ☕' },
};
const pair = await createKeyPair();
const other = await createKeyPair();

async function requestOf(body: string = JSON.stringify(ALERT)) {
  const hmac = signedRequest({ body, secret: SECRET, id: 'alert-1' });
  const { headers } = await signWithPrivateKey(hmac, pair.privateKey);
  return { body, headers, hmacOnly: hmac.headers };
}
const GIVEN = await requestOf();

/** Verifies an alert with each kind of key. */
const VERIFIERS = [
  ['a secret', (request: typeof GIVEN) => unwrapAlert({ ...request, secret: SECRET })],
  [
    'a public key',
    (request: typeof GIVEN) =>
      unwrapAlertWithPublicKey({ ...request, publicKeys: [other.publicKey, pair.publicKey] }),
  ],
] as const;

describe.each(VERIFIERS)('an alert, verified with %s', (_, verify) => {
  const refusalOf = async (request: typeof GIVEN) => {
    const error = await Promise.resolve()
      .then(() => verify(request))
      .catch((error: unknown) => error);
    if (isSluiceError(error)) return error;
    throw new Error('The request was accepted');
  };

  it('is parsed', async () => {
    expect(await verify(GIVEN)).toEqual({ id: 'alert-1', alert: ALERT });
    const body = new TextEncoder().encode(GIVEN.body) as unknown as string;
    expect(await verify({ ...GIVEN, body })).toEqual({ id: 'alert-1', alert: ALERT });
  });

  it('is rejected if it was changed or is not an alert', async () => {
    const body = GIVEN.body.replace('0x1', '0x2');
    expect(await refusalOf({ ...GIVEN, body })).toMatchObject({
      code: 'invalid_signature',
      details: { reason: 'mismatch' },
    });
    for (const text of ['', 'null', '{}', '{"type":"chain.halted"}', '{"streamId":"","logs":[]}']) {
      const error = await refusalOf(await requestOf(text));
      expect(error.code).toBe('invalid_webhook');
      expect(error.hint).toContain('unwrap reads the webhooks');
    }
  });
});

it('a public key does not verify an HMAC', async () => {
  const given = { ...GIVEN, headers: GIVEN.hmacOnly, publicKeys: [pair.publicKey] };
  await expect(unwrapAlertWithPublicKey(given)).rejects.toMatchObject({
    code: 'invalid_signature',
    details: { reason: 'hmac-only' },
  });
});
