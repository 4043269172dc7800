import { expect, test } from 'vitest';
import { aptosDevAccounts, startAptosActivity } from './aptosActivity.ts';
import { namedObjectOf } from './aptosAddress.ts';
import { createScriptedAptosLedger } from './scriptedAptosLedger.ts';

test('the activity mines blocks at the current time with every kind of activity, for over a round', async () => {
  const ledger = createScriptedAptosLedger();
  const before = BigInt(Date.now()) * 1_000n;
  const activity = startAptosActivity({ ledger, perSecond: 500 });
  await expect.poll(() => activity.mined).toBeGreaterThan(25);
  activity.stop();

  const users = ledger
    .blocks()
    .flatMap(({ transactions }) => transactions)
    .filter(({ type }) => type === 'user_transaction');
  expect(users).toHaveLength(activity.mined);
  expect(Number(ledger.head.timestampUsecs)).toBeGreaterThanOrEqual(Number(before));
  const types = new Set(users.flatMap(({ events }) => events!.map(({ type }) => type)));
  expect([...types].sort()).toEqual([
    '0x1::coin::DepositEvent',
    '0x1::coin::WithdrawEvent',
    '0x1::fungible_asset::Deposit',
    '0x1::fungible_asset::Withdraw',
    '0x1::multisig_account::TransactionExecutionSucceeded',
    '0x1::object::Transfer',
    '0x1::transaction_fee::FeeStatement',
    '0x4::collection::Burn',
    '0x4::collection::Mint',
  ]);
  expect(users).toContainEqual(expect.objectContaining({ success: false }));
  const sponsored = expect.objectContaining({ type: 'fee_payer_signature' }) as unknown;
  expect(users).toContainEqual(expect.objectContaining({ signature: sponsored }));
  const asset = namedObjectOf(aptosDevAccounts[0]!, 'USDS');
  const { lastVersion } = ledger.head;
  expect(ledger.readResource(asset, '0x1::fungible_asset::Metadata', lastVersion)).toMatchObject({
    symbol: 'USDS',
  });
  const senders = new Set(users.map(({ sender }) => BigInt(sender as string)));
  expect(senders).toEqual(new Set(aptosDevAccounts.map(BigInt)));
});
