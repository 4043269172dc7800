import type { ChainPages } from '../chainPages.ts';

export const APTOS_CHAIN_PAGES: ChainPages = {
  segments: { transaction: 'txn', address: 'account', block: 'block' },
  mayBeAddress: () => true,
  example: 'aptos:mainnet',
  local: 'aptos:local',
};
