import type { AuditRecord } from '../shapes.generated.ts';
import { keccak256 } from './hash.ts';

/**
 * Returns the Keccak-256 of a record, which includes the hash of the previous record. A saved hash
 * therefore reveals whether earlier records were changed, deleted or inserted.
 */
export const hashAuditRecord = (record: Omit<AuditRecord, 'hash'>): string => {
  const { seq, at, action, keyId, sessionName, address, target, previousHash } = record;
  const fields = [seq, at, action, keyId, address, target, previousHash];
  // Records without a session name keep the hash that they had before sessions had names.
  return keccak256(JSON.stringify(sessionName === '' ? fields : [...fields, sessionName]));
};
