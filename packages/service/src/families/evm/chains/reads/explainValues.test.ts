import type { ReadCondition } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { compileReads } from './compileReads.ts';
import { type ValueFacts, explainValue, valueReason } from './explainValues.ts';

const CONTRACT = `0x${'1'.repeat(40)}`;
const run = (from: number, to: number, value: string | null, error: string | null = null) => ({
  from,
  to,
  timestamp: to * 10,
  value: value === null ? null : JSON.stringify(value),
  error,
});
type Run = ReturnType<typeof run>;

/** Explains a value of 3 decimals in block 13. */
function explain(
  when: ReadCondition,
  { runs = [], begun, ...more }: { runs?: Run[]; begun?: Run } & Partial<ValueFacts>,
) {
  const reads = [{ contract: CONTRACT, function: 'f() returns (uint256)', decimals: 3, when }];
  const [read] = compileReads({ reads, abi: null }).fixed;
  const newest = runs.at(-1);
  return explainValue(read!, {
    chain: '0x1',
    block: { number: 13, timestamp: 130 },
    known: newest && {
      streamId: 's',
      key: read!.key,
      newest,
      last: runs.findLast(({ error }) => error === null),
    },
    begun,
    decimals: 3,
    noBefore: undefined,
    unread: valueReason('unknown', 'not read'),
    ...more,
  });
}
const messageOf = (...args: Parameters<typeof explain>): string => {
  const { included, reason } = explain(...args);
  expect(reason.stage).toBe('value');
  expect(reason.outcome === 'passed').toBe(included);
  return `${reason.outcome}: ${reason.message}`;
};

test('a change names the value before it and its block', () => {
  const runs = [run(3, 12, '4')];
  expect(messageOf('changes', { runs, begun: run(13, 13, '5') })).toBe(
    'passed: 0.005, after 0.004 in block 12',
  );
  // The run went on after the block.
  const continued = { runs: [run(3, 20, '5')] };
  expect(messageOf('changes', continued)).toBe('stopped: unchanged: 0.005');
  expect(explain('changes', continued).before).toEqual({ block: 12, value: '5' });
  expect(messageOf('changes', { begun: run(13, 13, '5') })).toBe(
    'stopped: first value, nothing to compare with: 0.005',
  );
});

test('a comparison names the side, and the block that was on it already', () => {
  const above = run(3, 12, '1204000');
  const below = run(3, 12, '999999');
  const when = { below: '1000' };
  expect(messageOf(when, { runs: [run(3, 14, '1204000')] })).toBe('stopped: 1,204 is above 1,000');
  expect(messageOf(when, { runs: [above], begun: run(13, 13, '1000000') })).toBe(
    'stopped: 1,000 is equal to 1,000',
  );
  expect(messageOf(when, { runs: [above], begun: run(13, 13, '999999') })).toBe(
    'passed: 999.999 is below 1,000, after 1,204 in block 12',
  );
  expect(messageOf(when, { runs: [below], begun: run(13, 13, '1') })).toBe(
    'stopped: 0.001 is below 1,000, and was already in block 12',
  );
  expect(messageOf(when, { begun: run(13, 13, '1') })).toBe('passed: 0.001 is below 1,000');
  expect(messageOf({ above: '-1.5' }, { begun: run(13, 13, '-2000') })).toBe(
    'stopped: -2 is below -1.5',
  );
});

test('a crossing compares the sides', () => {
  const when = { crosses: '1000' };
  const begun = run(13, 13, '1000000');
  expect(messageOf(when, { runs: [run(3, 12, '999999')], begun })).toBe(
    'passed: 1,000 is equal to 1,000, after 999.999 in block 12',
  );
  expect(messageOf(when, { runs: [run(3, 12, '1000001')], begun })).toBe(
    'stopped: 1,000 is equal to 1,000, and was already above it in block 12',
  );
  expect(messageOf(when, { begun })).toBe(
    'stopped: first value, nothing to compare with: 1,000 is equal to 1,000',
  );
});

test('a value is due once per interval', () => {
  const when = { every: 10 } as const;
  expect(messageOf(when, { runs: [run(10, 10, '5')] })).toBe(
    'stopped: not due: read every 10 blocks, last in block 10',
  );
  expect(messageOf(when, { runs: [run(8, 8, '5')], begun: run(13, 13, '5') })).toBe(
    'passed: read every 10 blocks: 0.005',
  );
  expect(messageOf(when, { runs: [run(8, 8, '5')] })).toBe('unknown: not read');
});

test('an error, a missing state and a deleted value are no comparison', () => {
  const reverted = run(13, 13, null, 'execution reverted: no');
  const runs = [run(3, 12, '5')];
  expect(explain({ below: '1' }, { runs, begun: reverted })).toMatchObject({
    included: false,
    before: { block: 12, value: '5' },
    after: null,
    reason: { outcome: 'stopped', message: 'no value: execution reverted: no' },
  });
  expect(messageOf('changes', { runs: [...runs, run(12, 12, null, 'no gas')] })).toBe(
    'stopped: not read: the read in block 12 failed: no gas',
  );
  expect(messageOf({ below: '1' }, { runs })).toBe('unknown: not read');
  expect(messageOf('changes', { begun: run(13, 13, '5'), noBefore: 'it is gone' })).toBe(
    'unknown: it is gone',
  );
  // A first value that holds would be sent.
  expect(messageOf({ below: '1' }, { begun: run(13, 13, '5'), noBefore: 'it is gone' })).toBe(
    'unknown: it is gone',
  );
  expect(messageOf({ every: 10 }, { begun: run(13, 13, '5'), noBefore: 'it is gone' })).toBe(
    'passed: read every 10 blocks: 0.005',
  );
});
