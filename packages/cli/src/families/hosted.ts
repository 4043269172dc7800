import type { NetworkType } from '@sluice/kit';

/** Families that the hosted service no longer supports. */
export const HOSTED_DROPPED: readonly NetworkType[] = ['aptos'];
