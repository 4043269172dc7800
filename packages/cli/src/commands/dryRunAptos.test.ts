/** Tests dry runs of Aptos streams. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AptosWebhook } from '@sluice/kit';
import { type RunningScriptedAptos, scriptedAptos, startScriptedAptos } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld } from './world.test-only.ts';

const ALICE = `0x${'a11ce'.padStart(64, '0')}` as const;
const BOB = `0x${'b0b'.padStart(64, '0')}` as const;

let node: RunningScriptedAptos;
let world: World;

beforeAll(async () => {
  node = await startScriptedAptos();
  world = await startWorld(['--aptos', `local=${node.url},poll=50`]);
});
afterAll(async () => {
  await world.stop();
  await node.stop();
});

test('lists the functions and events in transactions of the addresses', async () => {
  const pay = { from: ALICE, to: BOB, amount: 150_000_000n };
  const first = node.mine({ transactions: [scriptedAptos.transfer(pay)] });
  node.mine({
    transactions: [
      scriptedAptos.transfer(pay),
      scriptedAptos.transfer(pay),
      scriptedAptos.coinTransfer(pay),
    ],
  });
  const from = Number(first.height);
  const file = join(world.folder, 'coins.yaml');
  const wanted = ['tag: coins', 'webhookUrl: http://x', 'network: [local]'];
  writeFileSync(
    file,
    [...wanted, "functions: ['0x1::coin::transfer']", "addresses: ['0xb0b']", ''].join('\n'),
  );
  const run = ['dry-run', '-f', file, '--blocks', `${from}..${from + 1}`];
  const { code, stdout, stderr } = await world.sluice(run);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('1 of 2 blocks matched, 1 record') as string,
  });
  const [block, ...lines] = stdout.split('\n');
  expect(block).toContain(`#${from + 1}  1 record`);
  expect(lines).toEqual([
    'Functions called in transactions of the addresses:',
    '  3 × 0x1::aptos_account::transfer',
    '  1 × 0x1::coin::transfer',
    'Events in transactions of the addresses:',
    '  4 × 0x1::transaction_fee::FeeStatement',
    '  3 × 0x1::fungible_asset::Withdraw',
    '  3 × 0x1::fungible_asset::Deposit',
    '  1 × 0x1::coin::WithdrawEvent',
    '  1 × 0x1::coin::DepositEvent',
    '',
  ]);

  const json = (await world.sluice([...run, '--json'])).stdout.trim().split('\n');
  expect(json.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      block: from,
      records: 0,
      webhook: null,
      closeMatches: [],
      observed: expect.arrayContaining([
        { kind: 'function', path: '0x1::aptos_account::transfer', count: 1 },
      ]) as object[],
    },
    { block: from + 1, records: 1, webhook: { network: 'local' } },
  ]);
});

test('the dry run limits the result to one transaction', async () => {
  const pay = { from: ALICE, to: BOB, amount: 7n };
  const block = node.mine({
    transactions: [scriptedAptos.transfer(pay), scriptedAptos.transfer({ ...pay, amount: 8n })],
  });
  const hash = String(block.transactions.at(-2)?.hash);
  const file = join(world.folder, 'all.yaml');
  const fields = ['tag: all', 'webhookUrl: http://x', 'network: [local]', 'includeEvents: true'];
  writeFileSync(file, [...fields, "addresses: ['0xb0b']", ''].join('\n'));
  const { stdout } = await world.sluice(['dry-run', '-f', file, '--tx', hash, '--json']);
  const { records, webhook } = JSON.parse(stdout) as { records: number; webhook: AptosWebhook };
  expect(records).toBe(1);
  expect(webhook.transactions.map((each) => each.hash)).toEqual([hash]);
  expect(webhook.coinDeposits.map(({ value, txHash }) => [value, txHash])).toEqual([['8', hash]]);
  expect(webhook.events).toHaveLength(1);
  expect(webhook.events[0]?.every(({ txHash }) => txHash === hash)).toBe(true);

  const evm = join(world.folder, 'evm.yaml');
  writeFileSync(
    evm,
    "tag: evm\nwebhookUrl: http://x\nchainIds: ['0x7a69']\nincludeNativeTxs: true\n",
  );
  expect(await world.sluice(['dry-run', '-f', evm, '--tx', hash])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'The transaction is on local, but the stream is on EVM chains',
    ) as string,
  });
});

test('the dry run tries a stored stream, whose addresses the service knows', async () => {
  const { id } = await world.api.streams.create({
    networkType: 'aptos',
    network: ['local'],
    webhookUrl: world.sink.url,
    tag: 'stored',
    description: '',
  });
  await world.api.streams.addAddress(id, BOB, { networkType: 'aptos' });
  const pay = { from: ALICE, to: BOB, amount: 9n };
  const { height } = node.mine({ transactions: [scriptedAptos.transfer(pay)] });
  const run = ['dry-run', '--stream', 'stored', '--blocks', String(height), '--json'];
  expect(JSON.parse((await world.sluice(run)).stdout)).toMatchObject({
    records: 1,
    webhook: { streamId: id, network: 'local' },
  });
});
