/** Composes the calls that the chain families make differently. */
import type { NetworkType } from '@sluice/kit';
import { startAptosBackfill } from './aptos/data.ts';
import { startEvmBackfill } from './evm/data.ts';

/** A stream and the inclusive range of past blocks to match. */
export interface Backfill {
  readonly streamId: string;
  readonly blockFrom: number;
  readonly blockTo: number;
  /** Number of the only destination that gets the webhooks; undefined for all. */
  readonly destination?: number | undefined;
}

export const START_BACKFILL: Readonly<
  Record<NetworkType, (chainId: string, blocks: Backfill) => Promise<unknown>>
> = { evm: startEvmBackfill, aptos: startAptosBackfill };
