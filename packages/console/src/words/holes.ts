import type { ChainCoverage } from '@sluice/kit/sluice';

/** Reasons for which a stream missed blocks. */
export const HOLE_WORDS: Record<ChainCoverage['holes'][number]['reason'], string> = {
  paused: 'stream paused',
  terminated: 'stream terminated',
  resumed: 'chain resumed at a later block',
  state: 'no node had the state',
  unread: 'expired before a consumer had read it',
  children: 'children found later',
  before: 'before the stream was created',
};
