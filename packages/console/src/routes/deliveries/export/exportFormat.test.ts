import type { DeliverySummary } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { toHeader, toText } from './exportFormat.ts';

const row: DeliverySummary = {
  id: '0190f3c2-1111-7111-8111-111111111111',
  streamId: '0190f3c2-1111-4111-8111-111111111111',
  matchId: '0190f3c2-1111-4111-8111-111111111112',
  tag: '=cmd()',
  chainId: '0x1',
  blockNumber: 12,
  phase: 'confirmed',
  state: 'failed',
  records: 2,
  about: 'Transfer, "1.25 USD"',
  attempts: 3,
  status: 500,
  error: 'HTTP 500',
  durationMs: null,
  createdAt: 0,
  updatedAt: 1,
  nextAttemptAt: null,
};

test('CSV has a column for each name, and cells that are not formulas', () => {
  const [head, line] = (toHeader('csv') + toText('csv', [row])).split('\r\n');
  expect(head).toMatch(/^created,summary,state,status,error,/);
  expect(line).toBe(
    `1970-01-01T00:00:00.000Z,"Transfer, ""1.25 USD""",failed,500,HTTP 500,,3,,'=cmd(),0x1,12,confirmed,2,${row.id},${row.streamId}`,
  );
});

test('NDJSON has one delivery per line, as the API returns it', () => {
  const lines = toText('ndjson', [row, row]).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([row, row]);
  expect(toHeader('ndjson')).toBe('');
});
