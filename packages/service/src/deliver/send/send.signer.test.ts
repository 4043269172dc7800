import fc from 'fast-check';
import { signStandardWebhook, signWebhook } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { createSigner } from './send.ts';

test('property: signs like the contract, for any body and secrets', () => {
  const signer = createSigner();
  const text = fc.string({ unit: 'grapheme' });
  const secret = fc.oneof(
    text.filter((each) => !each.startsWith('whsec_')),
    // HMAC keys up to the block size, and longer ones.
    fc.uint8Array({ maxLength: 100 }).map((key) => `whsec_${Buffer.from(key).toString('base64')}`),
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
  });
  fc.assert(
    fc.property(webhook, ({ secrets, ...signed }) => {
      expect(signer.sign({ ...signed, secrets })).toEqual({
        signature: signWebhook(signed.body, signed.secret),
        standardSignature: [...secrets, signed.secret]
          .map((each) => signStandardWebhook({ ...signed, secret: each }))
          .join(' '),
      });
    }),
  );
});
