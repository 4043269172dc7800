import { describe, expect, expectTypeOf, it } from 'vitest';
import { createClient } from './client/client.ts';
import { ERROR_HINTS, isSluiceError, SluiceError } from './errors.ts';
import type { SluiceErrorCode } from './errors.ts';
import { decodeLogs } from './webhooks/decode.ts';
import { verifySignature } from './webhooks/verify.ts';

describe('ERROR_HINTS', () => {
  it('has the documented codes; a change here changes the public API', () => {
    expect(Object.keys(ERROR_HINTS)).toEqual([
      'invalid_argument',
      'invalid_network',
      'invalid_selector',
      'aborted',
      'timeout',
      'network_error',
      'redirected',
      'invalid_response',
      'bad_request',
      'unauthorized',
      'forbidden',
      'not_found',
      'conflict',
      'payload_too_large',
      'validation_failed',
      'rate_limited',
      'server_error',
      'unexpected_status',
      'missing_secret',
      'invalid_signature',
      'stale_timestamp',
      'body_already_parsed',
      'invalid_webhook',
      'invalid_proof',
      'missing_abi',
    ]);
  });

  it('has a hint for each code', () => {
    for (const hint of Object.values(ERROR_HINTS)) expect(hint).toMatch(/^[A-Zf].+\.$/);
  });
});

describe('messages that code for the hosted service may depend on', () => {
  const { streams } = createClient({ apiKey: 'k', baseUrl: 'http://sluice.test' });
  const selectors = { getNativeBalances: [{ selectors: ['from'], type: 'tx' as const }] };
  const signed = { body: '{}', signature: `0x${'0'.repeat(64)}` };
  const webhook = { abi: [], logs: [] };

  it.each<[situation: string, run: () => unknown, code: SluiceErrorCode, message: string]>([
    [
      'unknown network type',
      () => streams.get('a', { networkType: 'solana' as 'evm' }),
      'invalid_network',
      'Incorrect network provided. Got "solana", Valid values are: "aptos", "evm"',
    ],
    [
      'selector without a leading dollar sign',
      () => streams.update('a', selectors),
      'invalid_selector',
      'Invalid selector string provided',
    ],
    [
      'verify without an API key',
      () => verifySignature({ ...signed, apiKey: '' }),
      'missing_secret',
      'Unable to verify signature without an api key or streams secret',
    ],
    [
      'signature mismatch',
      () => verifySignature({ ...signed, apiKey: 'k' }),
      'invalid_signature',
      'Signature is not valid',
    ],
    [
      'decode with no logs',
      () => decodeLogs({ ...webhook, logs: undefined as never }),
      'invalid_webhook',
      'Cannot decode the logs. No logs found in the webhook, or invalid webhook provided.',
    ],
    [
      'decode with no abi',
      () => decodeLogs(webhook),
      'missing_abi',
      'Cannot decode the logs. No abis found in the provided webhook.',
    ],
  ])('%s', async (_, run, code, message) => {
    const error = await Promise.resolve()
      .then(run)
      .catch((error: unknown) => error);
    if (!isSluiceError(error)) throw new Error('The call did not reject');
    expect([error.code, error.message]).toEqual([code, message]);
    expect(error.hint).toBe(ERROR_HINTS[code]);
    expect(error.docUrl).toMatch(new RegExp(`^https://.+#${code}$`));
  });
});

describe('isSluiceError', () => {
  const error: unknown = new SluiceError('not_found', 'Stream not found', { status: 404 });

  it('narrows to the code', () => {
    expect(isSluiceError(error)).toBe(true);
    expect(isSluiceError(error, 'timeout')).toBe(false);
    if (!isSluiceError(error, 'not_found')) throw new Error('unreachable');
    expectTypeOf(error).toEqualTypeOf<SluiceError<'not_found'>>();
    expectTypeOf(error.code).toEqualTypeOf<'not_found'>();
    expectTypeOf<SluiceError['code']>().toEqualTypeOf<SluiceErrorCode>();
  });

  it('recognizes an error from another copy of the kit', () => {
    const other = Object.assign(new Error('x'), { name: 'SluiceError', code: 'timeout' });
    expect(isSluiceError(other, 'timeout')).toBe(true);
  });

  it.each([
    new Error('x'),
    new TypeError('x'),
    { name: 'SluiceError', code: 'timeout' },
    null,
    'x',
  ])('is false for %j', (value) => {
    expect(isSluiceError(value)).toBe(false);
  });

  it('sets cause and hint only if given', () => {
    expect(error).not.toHaveProperty('cause');
    expect(new SluiceError('timeout', 'x', { cause: 7 }).cause).toBe(7);
    expect(new SluiceError('timeout', 'x', { hint: 'Hurry.' }).hint).toBe('Hurry.');
  });
});
