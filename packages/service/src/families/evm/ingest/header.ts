/** Parses the header of a block. */
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { type Json, hash } from '../../../ingest/json.ts';
import { number } from './values.ts';

export const toHeader = (block: Json): BlockHeader => ({
  number: number(block, 'number'),
  hash: hash(block, 'hash'),
  parentHash: hash(block, 'parentHash'),
  timestamp: number(block, 'timestamp'),
});
