/**
 * The body of an Aptos webhook and of its records. Numbers of the chain are
 * decimal strings but where the contract shows a number. Addresses are `0x` and 64 hex digits, but
 * inside `changes`, `payloads` and `events`, which are as the node gave them.
 */
import type { AptosWebhook } from '../shapes.generated.ts';

/** The body sent once to a new URL of an Aptos stream before it is accepted: every key, each empty. */
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
