/**
 * The body of an EVM webhook and of its records; that of an Aptos
 * webhook is in `aptosWebhook.ts`.
 * Every number of the chain is a decimal string; addresses are lower-case hex.
 */
import type { EvmWebhook } from '../shapes.generated.ts';

/** Bytes of the largest webhook that Sluice sends, unless `--max-webhook-bytes` sets another limit. */
export const DEFAULT_MAX_WEBHOOK_BYTES = 8 * 1024 * 1024;

/** The body sent once to a new URL before the stream is accepted. */
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
