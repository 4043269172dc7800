/** What the audit log says, in words, and whether it still says what was written. Pure. */
import type { AuditRecord } from '@sluice/kit/sluice';

/** `revokeApiKey` as `revoke api key`. */
export const wordsOf = (action: string): string =>
  action.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/**
 * Number of the newest record that is not what its hash was made of, or that the one after it does not
 * follow; undefined while all is well.
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
