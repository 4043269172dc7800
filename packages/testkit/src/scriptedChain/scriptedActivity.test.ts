import { erc20Abi, createPublicClient, http } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { localContracts } from '../anvil/deployContracts.ts';
import { startScriptedActivity } from './scriptedActivity.ts';
import { type RunningScriptedChain, startScriptedChain } from './node/startScriptedChain.ts';

let chain: RunningScriptedChain;
afterEach(() => chain.stop());

test('the activity mines every kind of transaction at the current time, and tokens have names', async () => {
  chain = await startScriptedChain();
  const contracts = await localContracts();
  const activity = startScriptedActivity({ chain, contracts, perSecond: 500 });
  while (activity.sent < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  await activity.stop();
  const { sent } = activity;
  const blocks = chain.canonical().slice(1);
  expect(blocks).toHaveLength(sent);
  const places = new Set(
    blocks.flatMap(({ transactions }) =>
      transactions.flatMap(({ logs }) => logs.map(({ address }) => address)),
    ),
  );
  expect(places).toEqual(new Set(Object.values(contracts)));
  expect(blocks.some(({ transactions: [first] }) => first!.logs.length === 0)).toBe(true);
  expect(Math.abs(Number(blocks[0]!.timestamp) - Date.now() / 1000)).toBeLessThan(60);

  const client = createPublicClient({ transport: http(chain.url) });
  const token = { address: contracts.erc20, abi: erc20Abi } as const;
  expect(await client.readContract({ ...token, functionName: 'symbol' })).toBe('SLD');
  expect(await client.readContract({ ...token, functionName: 'decimals' })).toBe(6);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(activity.sent).toBe(sent);
});
