import { expect, test } from 'vitest';
import {
  type AptosActivity,
  aptosDevAccounts,
  aptosDevAsset,
  startAptosActivity,
} from './aptosActivity.ts';
import type { RestUserTransaction } from '../rest/restShapes.ts';
import { type ScriptedAptosLedger, createScriptedAptosLedger } from './scriptedAptosLedger.ts';

async function mineUntil(activity: AptosActivity, count: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (activity.mined < count) {
    if (performance.now() > deadline) throw new Error(`${activity.mined} of ${count} in 10 s`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  activity.stop();
}

const usersOf = (ledger: ScriptedAptosLedger): RestUserTransaction[] =>
  ledger
    .blocks()
    .flatMap(({ transactions }) => transactions)
    .filter((each) => each.type === 'user_transaction');

test('mines blocks at the current time with every kind of activity, for over a round', async () => {
  const ledger = createScriptedAptosLedger();
  const before = BigInt(Date.now()) * 1_000n;
  const activity = startAptosActivity({ ledger, perSecond: 500 });
  await mineUntil(activity, 60);

  const users = usersOf(ledger);
  expect(users).toHaveLength(activity.mined);
  expect(Number(ledger.head.timestampUsecs)).toBeGreaterThanOrEqual(Number(before));
  const types = new Set(users.flatMap(({ events }) => events.map(({ type }) => type)));
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
  expect(users.some(({ success }) => !success)).toBe(true);
  expect(users.some(({ signature }) => signature.type === 'fee_payer_signature')).toBe(true);
  expect(ledger.readResource(aptosDevAsset, '0x1::fungible_asset::Metadata')).toMatchObject({
    symbol: 'USDS',
  });
  const senders = new Set(users.map(({ sender }) => BigInt(sender)));
  expect(senders).toEqual(new Set(aptosDevAccounts.map(BigInt)));
});

test('continues where another activity stopped, and across blocks of others', async () => {
  const ledger = createScriptedAptosLedger();
  await mineUntil(startAptosActivity({ ledger, perSecond: 500 }), 8);
  const { height } = ledger.head;
  const activity = startAptosActivity({ ledger, perSecond: 500 });
  ledger.mineMany(4);
  await mineUntil(activity, 40);
  expect(ledger.head.height).toBe(height + 4n + BigInt(activity.mined));
});
