/** The bodies of the test webhooks that a new webhook URL must accept. */
import type { AptosWebhook, EvmWebhook } from '../shapes.generated.ts';

/** The body of the test webhook of an EVM stream. */
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

/** The body of the test webhook of an Aptos stream. It has all keys, but no data. */
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
