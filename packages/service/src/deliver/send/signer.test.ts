import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import fc from 'fast-check';
import { signStandardWebhook, signWebhook } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { createSigner } from './signer.ts';

/** Creates a key pair with `node:crypto`, and its private key as in Standard Webhooks. */
function createPair() {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const bytes = [d, x].map((part) => Buffer.from(part, 'base64url'));
  return {
    publicKey: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
    privateKey: `whsk_${Buffer.concat(bytes).toString('base64')}`,
  };
}

test('property: signs like the contract and node:crypto, for any body, secrets and key pairs', () => {
  const signer = createSigner();
  const pairs = [createPair(), createPair()];
  const text = fc.string({ unit: 'grapheme' });
  const secret = fc.oneof(
    text.filter((each) => !each.startsWith('whsec_')),
    // HMAC keys up to the block size of 64 bytes, and longer ones.
    fc
      .oneof(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ minLength: 63, maxLength: 65 }))
      .map((key) => `whsec_${Buffer.from(key).toString('base64')}`),
  );
  const body = fc.oneof(
    text,
    fc.nat({ max: 100_000 }).map((length) => 'é'.repeat(length)),
  );
  const webhook = fc.record({
    id: fc.oneof(fc.uuid(), text),
    timestamp: fc.nat(),
    body: body.map((each) => Buffer.from(each)),
    secret,
    secrets: fc.array(secret, { maxLength: 3 }),
    pairs: fc.subarray(pairs),
  });
  fc.assert(
    fc.property(webhook, ({ secrets, pairs: signing, ...signed }) => {
      const privateKeys = signing.map(({ privateKey }) => privateKey);
      const { signature, standardSignature } = signer.sign({ ...signed, secrets, privateKeys });
      expect(signature).toBe(signWebhook(signed.body, signed.secret));
      const hmacs = [...secrets, signed.secret].map((each) =>
        signStandardWebhook({ ...signed, secret: each }),
      );
      const signatures = standardSignature.split(' ');
      expect(signatures.slice(0, hmacs.length)).toEqual(hmacs);
      const message = Buffer.concat([
        Buffer.from(`${signed.id}.${signed.timestamp}.`),
        signed.body,
      ]);
      const verdicts = signatures.slice(hmacs.length).map((each, n) => {
        const bytes = Buffer.from(each.replace(/^v1a,/, ''), 'base64');
        return verify(null, message, signing[n]!.publicKey, bytes);
      });
      expect(verdicts).toEqual(signing.map(() => true));
    }),
  );
});
