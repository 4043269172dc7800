/** Schemas of Aptos webhooks. */
import * as z from 'zod';
import { count, flag, text } from '../../../contract/calls/basics.ts';
import { shape } from '../../../contract/named.ts';
import { APTOS_NETWORKS } from '../chains.ts';

const aptosCoin = shape(
  'AptosCoin',
  'Metadata of a coin or fungible asset.',
  z.strictObject({
    decimals: count.nullable().describe('Null if unknown.'),
    name: text.describe('Empty if unknown. Not unique: see `type`.'),
    symbol: text,
    type: text.describe(
      'Identifies the asset. For a coin, its Move type, whose address has all 64 digits; for a fungible asset, the address of its metadata; empty if the transaction does not show it. Sluice only.',
    ),
  }),
);

const aptosCoinMovement = shape(
  'AptosCoinMovement',
  'A deposit or withdrawal of a coin or fungible asset.',
  z.strictObject({
    value: text.describe('In the smallest unit, decimal.'),
    address: text,
    coin: aptosCoin,
    valueWithDecimals: z
      .number()
      .nullable()
      .describe(
        'The nearest JSON number, as the hosted service sends it; `value` is exact. Null without decimals.',
      ),
    sequenceNumber: text.describe('Sequence number of its event; `0` for events without one.'),
    txHash: text,
  }),
);

const aptosRawObject = shape(
  'AptosRawObject',
  'An object as the node returned it, with its transaction hash.',
  z.looseObject({ txHash: text }),
);

const aptosWebhookBlock = shape(
  'AptosWebhookBlock',
  'The block that a webhook is about.',
  z.strictObject({
    number: text.describe('Height, decimal; empty in the test webhook.'),
    timestamp: text.describe('Unix time in microseconds, decimal.'),
    hash: text,
    firstVersion: text.describe(
      `Ledger versions of the block's first and last transaction, decimal.`,
    ),
    lastVersion: text,
  }),
);

const aptosCoinTransfer = shape(
  'AptosCoinTransfer',
  'A payment by a function of the framework, such as `0x1::aptos_account::transfer`.',
  z.strictObject({
    coin: aptosCoin,
    to: text,
    value: text.describe('In the smallest unit, decimal.'),
    from: text,
    valueWithDecimals: z.number().nullable().describe('As in `AptosCoinMovement`.'),
    transaction: text.describe('Transaction hash, which the contract has under both names.'),
    txHash: text,
  }),
);

const aptosWebhookTransaction = shape(
  'AptosWebhookTransaction',
  'A transaction that the stream matched.',
  z.strictObject({
    gasLimit: text,
    gasUnitPrice: text,
    gasUsed: text,
    hash: text,
    stateChangeHash: text,
    eventChangeHash: text,
    success: flag,
    type: text.describe('E.g. `user_transaction`.'),
    sender: text.describe('Empty for unsigned transactions, such as `block_metadata_transaction`.'),
  }),
);

export const aptosWebhook = shape(
  'AptosWebhook',
  'One delivery: all records that one Aptos stream matched in one block. Keys are in wire order.',
  z.strictObject({
    streamId: text.describe('Empty in the test webhook.'),
    tag: text,
    network: z.enum([...APTOS_NETWORKS, '']).describe('Empty in the test webhook.'),
    block: aptosWebhookBlock,
    retries: count.describe('0 on the first attempt, one more with each retry.'),
    coinTransfers: z.array(aptosCoinTransfer),
    coinDeposits: z
      .array(aptosCoinMovement)
      .describe('All deposits in the matched transactions, for watched accounts and others.'),
    coinWithdrawals: z.array(aptosCoinMovement),
    transactions: z.array(aptosWebhookTransaction),
    changes: z.array(aptosRawObject).describe('Empty without `includeChanges`.'),
    payloads: z.array(aptosRawObject).describe('Empty without `includePayload`.'),
    events: z
      .array(z.array(aptosRawObject))
      .describe('A list for each of `transactions`, in order; empty without `includeEvents`.'),
  }),
);
