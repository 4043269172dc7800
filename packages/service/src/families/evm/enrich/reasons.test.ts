import type { WebhookCall } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { MAX_REASON_BYTES, NOT_TRACED, compileErrors, toReason } from '../base/callFailure.ts';
import { addReasons, lacksReasons, maxReasonBytes } from './reasons.ts';
import type { BodyTail } from './records.ts';
import type { FailureAnswer } from './state.ts';

const failed = (transactionHash: string): WebhookCall => ({
  transactionHash,
  transactionIndex: '0',
  traceAddress: [],
  type: 'call',
  from: '0x1',
  to: '0x2',
  value: '0',
  input: '0x',
  function: null,
  arguments: null,
  status: 'failed',
  reasonUnavailable: NOT_TRACED,
});
const tailOf = (...calls: WebhookCall[]) => ({ calls }) as BodyTail;

test('each failed call gets the failure of its transaction, or why there is none', async () => {
  const { status: _, reasonUnavailable: __, ...succeeded } = failed('0xd');
  const tail = tailOf(failed('0xa'), failed('0xb'), failed('0xc'), {
    ...succeeded,
    status: 'success',
  });
  const answers: FailureAnswer[] = [
    { outcome: 'read', failure: { error: 'out of gas', output: '0x' } },
    { outcome: 'failed', message: 'no node traces transactions' },
    { outcome: 'read', failure: undefined },
  ];
  const asked: string[][] = [];
  const refused = await addReasons(tail, new Map(), async (hashes) => {
    asked.push([...hashes]);
    return answers;
  });
  expect(asked).toEqual([['0xa', '0xb', '0xc']]);
  expect(refused).toBeUndefined();
  expect(
    tail.calls!.map(({ reason, reasonUnavailable }) => reason?.kind ?? reasonUnavailable),
  ).toEqual(['out-of-gas', 'no node traces transactions', 'its trace shows no failure', undefined]);
  expect(lacksReasons(tail)).toBe(false);
});

test('a refused trace is reported, so that it is retried', async () => {
  const tail = tailOf(failed('0xa'));
  const message = 'no node traces transactions of block 7';
  const answer: FailureAnswer = { outcome: 'refused', message };
  expect(await addReasons(tail, new Map(), async () => [answer])).toBe(message);
  expect(tail.calls![0]!.reasonUnavailable).toBe(message);
});

test('at most 1,000 transactions are traced, and nothing is requested without failures', async () => {
  const tail = tailOf(...Array.from({ length: 1_001 }, (_, n) => failed(`0x${n}`)));
  let asked = 0;
  await addReasons(tail, new Map(), async (hashes) => {
    asked = hashes.length;
    return hashes.map(() => ({ outcome: 'failed', message: 'x' }) as const);
  });
  expect(asked).toBe(1_000);
  expect(tail.calls!.at(-1)!.reasonUnavailable).toMatch(/^not traced: more than 1000/);
  const none = async (): Promise<never> => Promise.reject(new Error('asked'));
  expect(await addReasons(tailOf(), new Map(), none)).toBeUndefined();
});

test('a reason never grows a body by more than its estimate', () => {
  const hostile = '\u0000'.repeat(3_000);
  const text = Buffer.from(hostile).toString('hex');
  const word = (value: number) => value.toString(16).padStart(64, '0');
  const output = `0x08c379a0${word(32)}${word(3_000)}${text.padEnd(Math.ceil(3_000 / 32) * 64, '0')}`;
  const reason = toReason({ error: 'execution reverted', output }, new Map());
  expect(reason).toMatchObject({ kind: 'error', data: null });
  expect(JSON.stringify({ reason }).length).toBeLessThanOrEqual(MAX_REASON_BYTES);
  const data = `0x${'ab'.repeat(1_024)}`;
  const longest = toReason({ error: '\u0001'.repeat(2_000), output: data }, new Map());
  expect(JSON.stringify({ reason: longest }).length).toBeLessThanOrEqual(MAX_REASON_BYTES);
  expect(maxReasonBytes(tailOf(failed('0xa'), failed('0xb')))).toBe(2 * MAX_REASON_BYTES);
});

test('custom errors are read by the ABI, and other data is only described', () => {
  const errors = compileErrors([
    {
      type: 'error',
      name: 'Insufficient',
      inputs: [
        { name: 'available', type: 'uint256' },
        { name: '', type: 'address[]' },
      ],
    },
  ]);
  const [selector = ''] = errors.keys();
  const word = (value: number) => value.toString(16).padStart(64, '0');
  const output = `${selector}${word(7)}${word(64)}${word(1)}${word(2)}`;
  expect(toReason({ error: 'Reverted', output }, errors)).toEqual({
    kind: 'custom',
    message: 'Insufficient(available: 7, arg1: ["0x0000000000000000000000000000000000000002"])',
    data: output,
  });
  const kindOf = (error: string, data: string) => toReason({ error, output: data }, errors).kind;
  expect(kindOf('Reverted', `${selector}00`)).toBe('revert');
  expect(kindOf('execution reverted', '0x')).toBe('revert');
  expect(kindOf('OutOfGas', '0x')).toBe('out-of-gas');
  expect(kindOf('invalid opcode: INVALID', '0x')).toBe('other');
});
