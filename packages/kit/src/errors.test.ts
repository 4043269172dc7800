import { describe, expect, expectTypeOf, it } from 'vitest';
import { ERROR_HINTS, isSluiceError, SluiceError } from './errors.ts';
import type { SluiceErrorCode } from './errors.ts';

describe('the catalogue', () => {
  it('is what the documentation lists: a change here is a change of the public face', () => {
    expect(Object.keys(ERROR_HINTS)).toEqual([
      'invalid_argument',
      'invalid_network',
      'unsupported_network',
      'aborted',
      'timeout',
      'network_error',
      'redirected',
      'invalid_answer',
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
      'invalid_webhook',
      'missing_abi',
    ]);
  });

  it('has a hint for each code', () => {
    for (const hint of Object.values(ERROR_HINTS)) expect(hint).toMatch(/^[A-Zd].+\.$/);
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

  it('knows an error of another copy of the kit', () => {
    const other = Object.assign(new Error('x'), { name: 'SluiceError', code: 'timeout' });
    expect(isSluiceError(other, 'timeout')).toBe(true);
  });

  it.each([
    new Error('x'),
    new TypeError('x'),
    { name: 'SluiceError', code: 'timeout' },
    null,
    'x',
  ])('refuses %j', (value) => {
    expect(isSluiceError(value)).toBe(false);
  });

  it('has no cause where none was given', () => {
    expect(error).not.toHaveProperty('cause');
    expect(new SluiceError('timeout', 'x', { cause: 7 }).cause).toBe(7);
    expect(new SluiceError('timeout', 'x', { hint: 'Hurry.' }).hint).toBe('Hurry.');
  });
});
