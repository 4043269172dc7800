import { hashAuditRecord, type AuditRecord } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { findBreak, wordsOf } from './auditLog.ts';

/** Returns an intact log, newest record first. */
function logOf(length: number): AuditRecord[] {
  const records: AuditRecord[] = [];
  for (let seq = 1; seq <= length; seq++) {
    const record = {
      seq,
      at: seq,
      action: 'createSession',
      keyId: 'bootstrap',
      sessionName: '',
      address: '127.0.0.1',
      target: '',
      previousHash: records[0]?.hash ?? '',
    };
    records.unshift({ ...record, hash: hashAuditRecord(record) });
  }
  return records;
}

test('changed and deleted records are detected', () => {
  const log = logOf(5);
  expect(findBreak(log, hashAuditRecord)).toBeUndefined();
  expect(findBreak(log.slice(1, 3), hashAuditRecord)).toBeUndefined();
  expect(findBreak(log.with(2, { ...log[2]!, address: '10.0.0.1' }), hashAuditRecord)).toBe(3);
  expect(findBreak(log.toSpliced(2, 1), hashAuditRecord)).toBe(2);
});

test('action names become words', () => {
  expect(wordsOf('revokeApiKey')).toBe('revoke api key');
});
