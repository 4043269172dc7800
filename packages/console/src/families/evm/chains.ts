import type { ChainPages } from '../chainPages.ts';

export const EVM_CHAIN_PAGES: ChainPages = {
  segments: { transaction: 'tx', address: 'address', block: 'block' },
  // A value of 32 bytes is a topic or another hash.
  mayBeAddress: (value) => value.length === 42,
  example: '0x1',
  local: '0x7a69',
};
