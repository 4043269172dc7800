import { createPublicClient, erc20Abi, http, parseEventLogs } from 'viem';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Activity, startActivity } from './activity.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { sluiceCollectible, sluiceItems, sluiceToken } from './contracts.generated.ts';
import { deployContracts } from './deployContracts.ts';

let anvil: Anvil;
let activity: Activity | undefined;

beforeEach(async () => {
  anvil = await startAnvil();
  activity = undefined;
});

afterEach(async () => {
  await activity?.stop();
  await anvil.kill();
});

const readerOf = ({ url }: Anvil) => createPublicClient({ transport: http(url) });

test('the activity deploys once, at the same addresses on every chain', async () => {
  const contracts = await deployContracts(anvil);
  const head = await anvil.request('eth_blockNumber');
  expect(await deployContracts(anvil)).toEqual(contracts);
  expect(await anvil.request('eth_blockNumber')).toBe(head);
  expect(contracts).toEqual({
    erc20: '0x700b6a60ce7eaaea56f065753d8dcb9653dbad35',
    erc721: '0xa15bb66138824a1c7167f5e85b957d04dd34e468',
    erc1155: '0xb19b36b1456e65e3a6d514d3f715f204bd59f431',
  });
});

test('the activity finishes an interrupted deployment', async () => {
  const { deployed, request } = interruptAfter(1);
  await expect(deployContracts({ request })).rejects.toThrow('interrupted');
  expect(deployed()).toBe(1);
  const { erc1155 } = await deployContracts(anvil);
  expect(await anvil.request('eth_getCode', [erc1155, 'latest'])).not.toBe('0x');
});

function interruptAfter(deployments: number) {
  let count = 0;
  const request: Anvil['request'] = (method, params) => {
    if (method !== 'eth_sendTransaction') return anvil.request(method, params);
    if (count === deployments) return Promise.reject(new Error('interrupted'));
    count += 1;
    return anvil.request(method, params);
  };
  return { deployed: () => count, request };
}

test('the activity refuses a chain where the deployer has sent other transactions', async () => {
  const from = anvil.accounts[9]?.address;
  await anvil.request('eth_sendTransaction', [{ from, to: from, value: '0x0' }]);
  await expect(deployContracts(anvil)).rejects.toThrow(
    /has sent other transactions, so sluiceToken cannot be deployed/,
  );
});

test('the token is a dollar with six decimals', async () => {
  const { erc20 } = await deployContracts(anvil);
  const token = { address: erc20, abi: erc20Abi } as const;
  const reader = readerOf(anvil);
  expect([
    await reader.readContract({ ...token, functionName: 'name' }),
    await reader.readContract({ ...token, functionName: 'symbol' }),
    await reader.readContract({ ...token, functionName: 'decimals' }),
  ]).toEqual(['Sluice Dollar', 'SLD', 6]);
});

test(
  'the activity sends transfers of every kind, and none fails',
  { timeout: 60_000 },
  async () => {
    const contracts = await deployContracts(anvil);
    const head = await readerOf(anvil).getBlockNumber();
    const errors: Error[] = [];
    activity = startActivity({
      url: anvil.url,
      contracts,
      perSecond: 1_000,
      onError: (error) => errors.push(error),
    });
    // Waits for enough transactions to include burns, which require more than 20 mints.
    await expect.poll(() => activity?.sent, { timeout: 45_000 }).toBeGreaterThan(150);
    await activity.stop();
    await anvil.request('evm_mine');
    expect(errors).toEqual([]);

    const reader = readerOf(anvil);
    const logs = await reader.getLogs({ fromBlock: head + 1n });
    const abi = [...sluiceToken.abi, ...sluiceItems.abi];
    const seen = new Set(
      [
        ...parseEventLogs({ abi, logs }),
        ...parseEventLogs({ abi: sluiceCollectible.abi, logs }),
      ].map(({ address, eventName, args }) => {
        const burn = 'to' in args && /^0x0+$/.test(args.to);
        return `${nameOf(address)} ${eventName}${burn ? ' (burn)' : ''}`;
      }),
    );
    expect([...seen].sort()).toEqual([
      'erc1155 TransferBatch',
      'erc1155 TransferSingle',
      'erc20 Approval',
      'erc20 Transfer',
      'erc721 Transfer',
      'erc721 Transfer (burn)',
    ]);

    let native = 0;
    const newest = await reader.getBlockNumber();
    for (let blockNumber = head + 1n; blockNumber <= newest; blockNumber += 1n) {
      const { transactions } = await reader.getBlock({ blockNumber, includeTransactions: true });
      native += transactions.filter(({ input, value }) => input === '0x' && value > 0n).length;
      for (const { hash } of transactions) {
        const receipt = await anvil.request<{ status: string }>('eth_getTransactionReceipt', [
          hash,
        ]);
        expect(receipt.status).toBe('0x1');
      }
    }
    expect(native).toBeGreaterThan(10);

    function nameOf(address: string): string | undefined {
      return Object.entries(contracts).find(([, known]) => known === address.toLowerCase())?.[0];
    }
  },
);

test('activity continues after the node restarts with a new chain', async () => {
  const contracts = await deployContracts(anvil);
  const errors: Error[] = [];
  activity = startActivity({
    url: anvil.url,
    contracts,
    perSecond: 100,
    onError: (error) => errors.push(error),
  });
  await expect.poll(() => activity?.sent, { timeout: 10_000 }).toBeGreaterThan(20);
  await anvil.kill();
  await expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(0);

  anvil = await startAnvil({ port: anvil.port });
  await deployContracts(anvil);
  const sentBefore = activity.sent;
  await expect.poll(() => activity?.sent, { timeout: 10_000 }).toBeGreaterThan(sentBefore + 20);
});
