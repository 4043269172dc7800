import type { AuditRecord } from '../shapes.generated.ts';
import { keccak256 } from './hash.ts';

/**
 * Returns the Keccak-256 of a record and the previous hash, so that the newest hash detects
 * changed, deleted and inserted records.
 */
export const hashAuditRecord = (record: Omit<AuditRecord, 'hash'>): string => {
  const { seq, at, action, keyId, address, target, previousHash } = record;
  return keccak256(JSON.stringify([seq, at, action, keyId, address, target, previousHash]));
};
