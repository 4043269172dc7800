import { createEvmStreamSchema } from '@sluice/kit/calls';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HttpError, MAX_VALUES, validate } from './httpErrors.ts';

const good = { webhookUrl: 'https://example.com/', description: '', chainIds: ['0x1'] };
/** Maximum length of a response to an invalid request. */
const MAX_CHARACTERS = 65_536;

function refused(body: unknown): { [field: string]: { message: string; value?: unknown } } {
  try {
    validate(createEvmStreamSchema, 'requestBody', body);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    expect(error.status).toBe(422);
    expect(JSON.stringify(error.body()).length).toBeLessThan(MAX_CHARACTERS);
    return error.details as ReturnType<typeof refused>;
  }
  throw new Error('the body was accepted');
}

const listOf = (length: number, value: unknown): unknown[] => Array.from({ length }, () => value);

describe('the response to an invalid request is bounded', () => {
  test('20 unknown fields are listed, and the others are counted', () => {
    const fields = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`x${n}`, n]));
    const details = refused({ ...good, ...fields });
    expect(Object.keys(details)).toHaveLength(21);
    expect(details['requestBody.x0']?.message).toMatch(/^is not a known field/);
    expect(details['requestBody']?.message).toMatch(/^880 more problems are not listed/);
  });

  test('a large body: only its first problem is reported', () => {
    const details = refused({ ...good, abi: listOf(900, {}), topic0: listOf(900, 1) });
    expect(Object.keys(details)).toHaveLength(1);
    expect(Object.keys(details)[0]).toMatch(/^requestBody\.(abi\.0\.type|topic0\.0)$/);
  });

  test.each([
    ['numbers', { advancedOptions: listOf(500_000, 0) }, 'requestBody.advancedOptions'],
    [
      'inputs',
      { abi: [{ type: 'event', name: 'A', inputs: listOf(300_000, {}) }] },
      'requestBody.abi.0.inputs',
    ],
    ['lists of lists', { abi: listOf(400, listOf(400, 0)) }, 'requestBody.abi.123'],
  ])('too many %s: the list is reported', (_, more, field) => {
    expect(refused({ ...good, ...more })).toEqual({
      [field]: {
        message: `should be smaller: a request may contain at most ${MAX_VALUES} values`,
        value: expect.stringMatching(/^\[.{199}…$/) as unknown,
      },
    });
  });

  test('long field names and values are truncated', () => {
    const details = refused({ ...good, ['x'.repeat(1_000_000)]: 'y'.repeat(1_000_000) });
    expect(details).toEqual({
      [`requestBody.${'x'.repeat(188)}…`]: {
        message: expect.stringMatching(/^is not a known field/) as unknown,
        value: `"${'y'.repeat(199)}…`,
      },
    });
  });

  test('long error messages are truncated', () => {
    expect(new HttpError(400, 'x'.repeat(1_000_000)).body().message).toHaveLength(1_001);
  });

  test('credentials are masked before the value is truncated', () => {
    const details = refused({ ...good, tag: [`https://user:${'p'.repeat(300)}@example.com/`] });
    expect(JSON.stringify(details)).toContain('ppp');
    const shown = refused({ ...good, chainIds: [`https://user:${'p'.repeat(300)}@example.com/`] });
    expect(shown['requestBody.chainIds.0']?.value).toBe('https://***@example.com/');
  });
});

test('a call that hides its body repeats no value of it', () => {
  const schema = z.object({ a: z.string() });
  for (const body of [{ a: 1 }, { secret: listOf(MAX_VALUES + 1, 'secret') }]) {
    try {
      validate(schema, 'requestBody', body, true);
      expect.unreachable();
    } catch (error) {
      const details = Object.values((error as HttpError).details ?? {});
      expect(details.length).toBeGreaterThan(0);
      for (const each of details) expect(each).not.toHaveProperty('value');
    }
  }
});

test('sizes are checked before contents', () => {
  const parameter = { name: 'a', type: 'bool' };
  const items = listOf(100, { type: 'event', name: 'A', inputs: listOf(51, parameter) });
  const headers = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [` ${n}`, '']));
  expect(refused({ ...good, abi: items })['requestBody.abi']?.message).toBe(
    'should have at most 5000 inputs and components of events',
  );
  expect(refused({ ...good, headers })).toMatchObject({
    'requestBody.headers': { message: 'should have at most 20 entries' },
  });
});
