/** Formats the audit log and checks its hash chain. */
import type { AuditRecord } from '@sluice/kit/sluice';

/** Turns `revokeApiKey` into `revoke api key`. */
export const wordsOf = (action: string): string =>
  action.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/**
 * Returns the number of the newest record that does not match its own hash or the record after it;
 * undefined if all records match.
 * @param records newest first
 */
export const findBreak = (
  records: readonly AuditRecord[],
  hashOf: (record: AuditRecord) => string,
): number | undefined =>
  records.find((record, index) => {
    const next = records[index - 1];
    return (
      hashOf(record) !== record.hash ||
      (next !== undefined && (next.previousHash !== record.hash || next.seq !== record.seq + 1))
    );
  })?.seq;
