import type { EvmWebhook } from '../../contract/shapes.generated.ts';

/** The body of the test webhook, which a new webhook URL must accept. */
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
