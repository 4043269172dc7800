import type { AptosWebhook } from '../../contract/shapes.generated.ts';

/** The body of the test webhook, which a new webhook URL must accept. It has all keys, but no data. */
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
