/** What is sent once to a new URL before the stream is accepted. */
import type { AptosWebhook, EvmWebhook } from '../shapes.generated.ts';

/** The body that a new EVM stream is tested with. */
export const TEST_WEBHOOK: EvmWebhook = {
  abi: [],
  block: { number: '', hash: '', timestamp: '' },
  txs: [],
  txsInternal: [],
  logs: [],
  chainId: '',
  confirmed: true,
  retries: 0,
  tag: '',
  streamId: '',
  erc20Approvals: [],
  erc20Transfers: [],
  nftTokenApprovals: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nftTransfers: [],
  nativeBalances: [],
};

/** The body that a new Aptos stream is tested with: every key, each empty. */
export const TEST_APTOS_WEBHOOK: AptosWebhook = {
  streamId: '',
  tag: '',
  network: '',
  block: { number: '', timestamp: '', hash: '', firstVersion: '', lastVersion: '' },
  retries: 0,
  coinTransfers: [],
  coinDeposits: [],
  coinWithdrawals: [],
  transactions: [],
  changes: [],
  payloads: [],
  events: [],
};
