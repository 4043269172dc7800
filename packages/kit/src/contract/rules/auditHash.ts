import type { AuditRecord } from '../shapes.generated.ts';
import { keccak256 } from './hash.ts';

/**
 * Keccak-256 of a record and the hash before it: who knows the newest hash notices whatever is changed,
 * left out or put in before it.
 */
export const hashAuditRecord = (record: Omit<AuditRecord, 'hash'>): string => {
  const { seq, at, action, keyId, address, target, previousHash } = record;
  return keccak256(JSON.stringify([seq, at, action, keyId, address, target, previousHash]));
};
