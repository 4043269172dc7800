import { randomBytes } from 'node:crypto';
import type { NewMatch } from '../../src/store/blocks/contract.ts';

/**
 * Creates a match with one log and a body without records, for tests of the lifecycle of matches.
 */
export const newMatch = (streamId: string, changes: Partial<NewMatch> = {}): NewMatch => ({
  streamId,
  tag: 'tag',
  part: 0,
  parts: 1,
  deliver: 'both',
  logs: 1,
  transactions: 0,
  internalTransactions: 0,
  records: { '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef': 1 },
  about: 'log of 0x28c6…1d60',
  transactionHashes: [`0x${randomBytes(32).toString('hex')}`],
  bodyHead: ',"chainId":"0x1","retries":',
  bodyTail: ',"logs":[]}',
  enrichment: null,
  setAside: null,
  ...changes,
});
