/** Sample webhooks of Aptos streams. */
import type { AptosCoinMovement, AptosWebhook } from '../../contract/shapes.generated.ts';
import { TEST_APTOS_WEBHOOK } from './testWebhook.ts';

/** Kinds of webhooks that {@link sampleAptosWebhook} creates; see {@link SampleKind}. */
export type AptosSampleKind = 'coin-transfer' | 'test';

/**
 * Creates an Aptos mainnet webhook as the service sends it, with one coin transfer and the records
 * derived from it. The kind `test` has no records. Returns a new object each time; the fields in
 * `change` replace its fields.
 *
 * @example sampleAptosWebhook('coin-transfer', { tag: 'wallet' })
 */
export function sampleAptosWebhook(
  kind: AptosSampleKind,
  change: Partial<AptosWebhook> = {},
): AptosWebhook {
  return structuredClone({ ...(kind === 'test' ? TEST_APTOS_WEBHOOK : APTOS_SAMPLE), ...change });
}

/** Returns the number of records in the header `x-records-charged`. */
export const countChargedAptosRecords = ({ transactions, events }: AptosWebhook): number =>
  transactions.length + events.flat().length;

const ALICE = '0x498ca57f59f63d12b4ea96e77f1de2a839fdbbd1ce4e39c0e78da708758b91aa';
const BOB = '0xe564aa362c7a9786eb7c72d2671b7398cb5a75b9fb1210fbd84cd05d691e44d3';
const TRANSACTION = '0x512627652e226ba53f038c8c25695aaae66b3ed476f4ceb4be7c5bb686d35811';
const APT = {
  decimals: 8,
  name: 'Aptos Coin',
  symbol: 'APT',
  type: `0x${'a'.padStart(64, '0')}`,
};
const movedAt = (address: string): AptosCoinMovement => ({
  value: '150000000',
  address,
  coin: APT,
  valueWithDecimals: 1.5,
  sequenceNumber: '0',
  txHash: TRANSACTION,
});

const APTOS_SAMPLE: AptosWebhook = {
  streamId: 'aa3e4721-be91-4919-8649-d46d5c2a21f7',
  tag: 'sample',
  network: 'mainnet',
  block: {
    number: '27827628',
    timestamp: '1674578824913485',
    hash: '0x3ceea5072b32371f3f5cc0a89c06ca641627583698b7f6d3a5e1a23468b5c2a0',
    firstVersion: '75418334',
    lastVersion: '75418336',
  },
  retries: 0,
  coinTransfers: [
    {
      coin: { ...APT, type: `0x${'1'.padStart(64, '0')}::aptos_coin::AptosCoin` },
      to: BOB,
      value: '150000000',
      from: ALICE,
      valueWithDecimals: 1.5,
      transaction: TRANSACTION,
      txHash: TRANSACTION,
    },
  ],
  coinDeposits: [movedAt(BOB)],
  coinWithdrawals: [movedAt(ALICE)],
  transactions: [
    {
      gasLimit: '1762',
      gasUnitPrice: '120',
      gasUsed: '1175',
      hash: TRANSACTION,
      stateChangeHash: '0x08fd784ebe37618af6d14fed695d2e928f776db7e317f222a02bcf92129a7c87',
      eventChangeHash: '0x9c4de2e4395185631ffb67407c1e74fc5ca850874146950a75948ee4373a611f',
      success: true,
      type: 'user_transaction',
      sender: ALICE,
    },
  ],
  changes: [],
  payloads: [],
  events: [],
};
