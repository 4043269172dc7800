/** Parses the header of a block. */
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { type Json, readHash } from '../../../ingest/json.ts';
import { readNumber } from './values.ts';

export const toHeader = (block: Json): BlockHeader => ({
  number: readNumber(block, 'number'),
  hash: readHash(block, 'hash'),
  parentHash: readHash(block, 'parentHash'),
  timestamp: readNumber(block, 'timestamp'),
});
