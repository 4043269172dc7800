import { describe, expect, it } from 'vitest';
import { signStandardWebhook, signWebhook } from './signature.ts';
import { TEST_WEBHOOK } from '../../families/evm/testWebhook.ts';

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
  ])('signs like the official client', (body, secret, signature) => {
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

  it('encodes any other secret as UTF-8', async () => {
    const body = '{"tag":"é"}';
    const bytes = (text: string) => new TextEncoder().encode(text);
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes('schlüssel'), hmac, false, ['sign']);
    const digest = await crypto.subtle.sign(hmac, key, bytes(`id.1.${body}`));
    const expected = btoa(String.fromCharCode(...new Uint8Array(digest)));
    const options = { id: 'id', timestamp: 1, secret: 'schlüssel' };
    expect(signStandardWebhook({ ...options, body })).toBe(`v1,${expected}`);
    expect(signStandardWebhook({ ...options, body: new TextEncoder().encode(body) })).toBe(
      `v1,${expected}`,
    );
  });

  it('rejects a whsec_ secret that is not base64, without repeating it', () => {
    const sign = () =>
      signStandardWebhook({ id: 'id', timestamp: 1, body: '{}', secret: 'whsec_not*base64' });
    expect(sign).toThrow(TypeError);
    expect(sign).not.toThrow(/not\*base64/);
  });
});
