import type { ExplainedRecord } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { toWhyMatched } from './whyMatched.ts';

const MADE_AT = 1_000;
const log = (index: number, changes: Partial<ExplainedRecord> = {}): ExplainedRecord => ({
  kind: 'log',
  index,
  transactionHash: '0xa',
  included: true,
  reasons: [
    { stage: 'address', outcome: 'passed', message: 'from is watched' },
    { stage: 'records', outcome: 'passed', message: 'includeContractLogs is on' },
    { stage: 'filter', outcome: 'stopped', message: 'value 4 < 5' },
    { stage: 'filter', outcome: 'passed', message: 'value 4 ≥ 1' },
  ],
  ...changes,
});
const whyOf = (records: ExplainedRecord[], changedAt = 0) => {
  const verdict = { stage: 'match', outcome: 'passed', message: '' } as const;
  const stream = { streamId: 's', tag: '', changedAt, verdict: 'delivered' } as const;
  const recordCount = records.length;
  return toWhyMatched(
    {
      streams: [
        {
          ...stream,
          reason: verdict,
          stages: [],
          records,
          recordCount,
          valueCount: 0,
          values: [],
          deliveries: [],
        },
      ],
    },
    MADE_AT,
  );
};

test('a record has only the reasons why it passed', () => {
  const why = whyOf([log(3), log(4, { transactionHash: '0xb' })])!;
  expect(why.of({ place: 'log 3', txHash: '0xa' })).toEqual({
    included: true,
    reasons: ['from is watched', 'value 4 ≥ 1'],
  });
  expect(why.of({ place: 'log 3', txHash: '0xb' })).toBeUndefined();
  expect(why.usesNewRules).toBe(false);
});

test('a record that would not match today has the reason', () => {
  const why = whyOf([log(3, { included: false })], MADE_AT + 1)!;
  expect(why.usesNewRules).toBe(true);
  expect(why.of({ place: 'log 3', txHash: '0xa' })).toEqual({
    included: false,
    reasons: ['value 4 < 5'],
  });
});

test('a record without a position uses its transaction if all of its records have the same reasons', () => {
  const call = (index: number, included = true) =>
    log(index, { kind: 'internalTransaction', included });
  expect(whyOf([call(0)])!.of({ place: '', txHash: '0xa' })?.included).toBe(true);
  expect(whyOf([call(0), call(1)])!.of({ place: '', txHash: '0xa' })?.included).toBe(true);
  expect(whyOf([call(0), call(1, false)])!.of({ place: '', txHash: '0xa' })).toBeUndefined();
  const around = log(0, { kind: 'transaction', included: false });
  expect(whyOf([around, call(0)])!.of({ place: '', txHash: '0xa' })?.included).toBe(true);
  expect(whyOf([around])!.of({ place: '', txHash: '0xa' })?.included).toBe(false);
  expect(whyOf([log(1)])!.of({ place: '', txHash: '0xa' })).toBeUndefined();
});

test('a block that no node has any more returns null', () => {
  expect(whyOf([])).toBeNull();
  expect(toWhyMatched({ streams: [] }, MADE_AT)).toBeNull();
});
