/** Composes how the chain families describe what a stream sends. */
import type { NetworkType } from '@sluice/kit';
import { describeAptosSent } from './aptos/sentWords.ts';
import { describeEvmSent } from './evm/sentWords.ts';
import type { SentWords } from './sentWords.ts';

export const SENT_WORDS: Readonly<Record<NetworkType, SentWords>> = {
  evm: describeEvmSent,
  aptos: describeAptosSent,
};
