/**
 * Tests explanations of why a webhook was or was not sent, on a real EVM chain and a scripted Aptos
 * chain in one service.
 */
import type { Client } from '@sluice/kit';
import { CALLS } from '@sluice/kit/calls';
import type { Explanation, SluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type DeployedContracts,
  type RunningScriptedAptos,
  type WebhookSink,
  scriptedAptos,
  until,
} from '@sluice/testkit';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BothChains, CHAIN, startBothChains } from './bothChains.ts';

const TRANSFER = 'Transfer(address,address,uint256)';
const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
const ERC20_EVENT = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
} as const;

let world: BothChains;
let anvil: Anvil;
let aptos: RunningScriptedAptos;
let contracts: DeployedContracts;
let sink: WebhookSink;
let client: Client;
let sluice: SluiceClient;

beforeAll(async () => {
  world = await startBothChains();
  ({ anvil, aptos, contracts, sink, client, sluice } = world);
}, 60_000);
afterAll(() => world?.stop());

/** Explains a query and checks the response against its schema. */
const explain = async (query: string | number, chain?: string): Promise<Explanation> => {
  const explanation = await sluice.explain(String(query), { chain });
  CALLS.explain.response.parse(explanation);
  return explanation;
};
const verdictOf = ({ streams }: Explanation, id: string) =>
  streams.find(({ streamId }) => streamId === id)!;

const newStream = (tag: string, fields: object = {}) =>
  client.streams.create({
    webhookUrl: `${sink.url}/${tag}`,
    description: '',
    tag,
    chainIds: [CHAIN],
    includeContractLogs: true,
    ...fields,
  });

const transferOf = (value: bigint) => ({
  from: anvil.accounts[0]!.address,
  to: contracts.erc20,
  data: encodeFunctionData({
    abi,
    functionName: 'transfer',
    args: [anvil.accounts[5]!.address, value],
  }),
});

/** Transfers tokens, and returns the transaction's hash and block number. */
async function move(value: bigint): Promise<{ hash: string; block: number }> {
  const hash = await anvil.request<string>('eth_sendTransaction', [transferOf(value)]);
  const receipt = await until('the transaction is mined', async () => {
    const found = await anvil.request<{ blockNumber: string } | null>('eth_getTransactionReceipt', [
      hash,
    ]);
    return found ?? undefined;
  });
  return { hash, block: Number(receipt.blockNumber) };
}

describe('on an EVM chain', () => {
  let matching: string;
  let filtered: string;
  let elsewhere: string;
  let paused: string;
  let idle: string;
  let moved: { hash: string; block: number };

  beforeAll(async () => {
    const over = (value: string) => ({
      abi: [ERC20_EVENT],
      topic0: [TRANSFER],
      advancedOptions: [{ topic0: TRANSFER, filter: { gt: ['value', value] } }],
    });
    ({ id: matching } = await newStream('matching', over('100')));
    ({ id: filtered } = await newStream('filtered', over('1000')));
    ({ id: elsewhere } = await newStream('elsewhere', { chainIds: ['0x1'] }));
    ({ id: paused } = await newStream('paused'));
    ({ id: idle } = await newStream('idle'));
    for (const id of [matching, filtered, elsewhere, paused]) {
      await client.streams.addAddress(id, contracts.erc20);
    }
    await client.streams.addAddress(idle, anvil.accounts[9]!.address);
    await client.streams.setStatus(paused, 'paused');
    moved = await move(400n);
    await anvil.request('anvil_mine', ['0x3']);
    await until('both phases are delivered', () => sink.requests.length >= 2);
  });

  test('a transaction: each stream has a verdict, with the deciding rule and values', async () => {
    const explanation = await until('all stages are recorded', async () => {
      const found = await explain(moved.hash);
      const { deliveries } = verdictOf(found, matching);
      return deliveries.filter(({ state }) => state === 'succeeded').length === 2 && found;
    });
    expect(verdictOf(explanation, matching).verdict).toBe('delivered');
    expect(explanation).toMatchObject({
      kind: 'transaction',
      chainId: CHAIN,
      transactionHash: moved.hash,
      block: { number: moved.block },
      stages: [
        { stage: 'seen', outcome: 'passed' },
        {
          stage: 'fetched',
          outcome: 'passed',
          message: expect.stringContaining('a node returned block'),
        },
        { stage: 'committed', outcome: 'passed' },
      ],
    });
    const delivered = verdictOf(explanation, matching);
    expect(delivered.deliveries.map(({ phase, state }) => [phase, state])).toEqual([
      ['unconfirmed', 'succeeded'],
      ['confirmed', 'succeeded'],
    ]);
    expect(delivered.stages.map(({ stage }) => stage)).toEqual([
      ...['address', 'records', 'event', 'filter', 'match', 'enrichment'],
      ...['delivery', 'delivery', 'confirmation'],
    ]);
    expect(delivered.stages.find(({ stage }) => stage === 'filter')?.message).toBe(
      'value 400 is > 100',
    );
    expect(verdictOf(explanation, filtered)).toMatchObject({
      verdict: 'not-matched',
      reason: {
        stage: 'filter',
        outcome: 'stopped',
        message: 'value 400 is not > 1000 (gt)',
      },
      records: [
        { kind: 'log', included: false },
        {
          kind: 'transaction',
          included: false,
          reasons: [{}, { message: 'includeNativeTxs is off' }],
        },
      ],
      deliveries: [],
    });
    expect(verdictOf(explanation, elsewhere).reason).toEqual({
      stage: 'chain',
      outcome: 'stopped',
      message: `the stream watches 0x1, not ${CHAIN}`,
    });
    expect(verdictOf(explanation, paused)).toMatchObject({
      verdict: 'not-evaluated',
      reason: { stage: 'status', outcome: 'stopped' },
    });
    expect(verdictOf(explanation, idle)).toMatchObject({
      verdict: 'not-matched',
      reason: { stage: 'address', message: 'no record involves its only address' },
    });
  });

  test('a transaction is summarized, and each rule is next to its addresses and values', async () => {
    const explanation = await explain(moved.hash);
    const sender = anvil.accounts[0]!.address.toLowerCase();
    const recipient = anvil.accounts[5]!.address.toLowerCase();
    const contract = contracts.erc20.toLowerCase();
    expect(explanation.transaction).toEqual({
      hash: moved.hash,
      status: 'succeeded',
      from: sender,
      to: contract,
      createdContract: null,
      value: '0',
      currency: { symbol: 'ETH', decimals: 18 },
      selector: '0xa9059cbb',
      function: 'transfer(address,uint256)',
      addressCount: 3,
      addresses: [
        { name: 'from', address: sender },
        { name: 'to', address: contract },
        { name: expect.stringMatching(/^topic 2 of log \d+$/), address: recipient },
      ],
    });
    const conditionsOf = (id: string, stage: string) =>
      verdictOf(explanation, id).stages.find((each) => each.stage === stage)?.conditions;
    expect(conditionsOf(matching, 'address')).toEqual([
      { name: 'contract', rule: 'watched', value: contract, holds: true, alternative: false },
    ]);
    expect(conditionsOf(matching, 'event')).toEqual([
      { name: 'event', rule: TRANSFER, value: TRANSFER, holds: true, alternative: false },
    ]);
    expect(verdictOf(explanation, filtered).reason.conditions).toEqual([
      { name: 'value', rule: '> 1000', value: '400', holds: false, alternative: false },
    ]);
    // A block has no transaction to summarize. A delivery of one transaction has the summary of
    // that transaction.
    expect((await explain(moved.block, CHAIN)).transaction).toBeNull();
    const { deliveries } = verdictOf(explanation, matching);
    expect((await explain(deliveries[0]!.id)).transaction).toEqual(explanation.transaction);
  });

  test('a created contract and a failed call are in the headline', async () => {
    const [from] = anvil.accounts;
    const send = async (fields: object): Promise<Explanation> => {
      const hash = await anvil.request<string>('eth_sendTransaction', [
        { from: from!.address, gas: '0x30000', ...fields },
      ]);
      return until('it is mined', async () => {
        const explanation = await explain(hash);
        return explanation.transaction !== null && explanation;
      });
    };
    // The init code `STOP` creates a contract without code.
    const created = await send({ data: '0x00', value: '0xde0b6b3a7640000' });
    expect(created.transaction).toMatchObject({
      to: null,
      createdContract: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      value: '1000000000000000000',
      selector: null,
      function: null,
    });
    const data = encodeFunctionData({
      abi,
      functionName: 'transfer',
      args: [from!.address, 2n ** 255n],
    });
    const reverted = await send({ to: contracts.erc20, data });
    expect(reverted.transaction).toMatchObject({ status: 'failed', value: '0' });
  });

  test('a block by number or hash, and a delivery by id, give the same verdicts', async () => {
    const byNumber = await explain(moved.block, CHAIN);
    const byHash = await explain(byNumber.block!.hash);
    expect(byHash.streams).toEqual(byNumber.streams);
    expect(byNumber.kind).toBe('block');
    const { deliveries } = verdictOf(byNumber, matching);
    const byDelivery = await explain(deliveries[0]!.id);
    expect(byDelivery).toMatchObject({ kind: 'delivery', block: byNumber.block });
    expect(byDelivery.streams).toEqual([verdictOf(byNumber, matching)]);
  });

  test('a block lists the first records of a stream, a delivery all of its records', async () => {
    await anvil.request('evm_setAutomine', [false]);
    for (const value of [...Array<bigint>(55).fill(200n), ...Array<bigint>(5).fill(1n)]) {
      await anvil.request('eth_sendTransaction', [transferOf(value)]);
    }
    await anvil.request('evm_mine', []);
    await anvil.request('evm_setAutomine', [true]);
    const delivery = await until('all records are delivered', async () => {
      const { result } = await sluice.listDeliveries({ streamId: matching });
      return result.find(({ records }) => records === 55);
    });
    const countOf = (explanation: Explanation) => {
      const { recordCount, records } = verdictOf(explanation, matching);
      const inWebhook = records.filter(({ included }) => included).length;
      return { recordCount, listed: records.length, inWebhook };
    };
    // Each transaction and its log are separate records.
    expect(countOf(await explain(delivery.blockNumber, CHAIN))).toEqual({
      recordCount: 120,
      listed: 50,
      inWebhook: 50,
    });
    const byDelivery = await explain(delivery.id);
    expect(countOf(byDelivery)).toEqual({ recordCount: 110, listed: 110, inWebhook: 55 });
    // At most 50 records have the compared values, which would triple the size of a long list.
    const withConditions = verdictOf(byDelivery, matching).records.filter(({ reasons }) =>
      reasons.some(({ conditions }) => conditions !== undefined),
    );
    expect(withConditions).toHaveLength(50);
    expect(byDelivery.transaction).toBeNull();
  });

  test('a block older than the stream matches its rules, but was not evaluated', async () => {
    const { id } = await newStream('late', { topic0: [TRANSFER] });
    await client.streams.addAddress(id, contracts.erc20);
    const explanation = await explain(moved.hash);
    const late = verdictOf(explanation, id);
    expect(late).toMatchObject({
      verdict: 'not-evaluated',
      reason: { stage: 'coverage', outcome: 'stopped' },
    });
    expect(late.reason.message).toContain(
      `the stream was not matched against block ${moved.block}`,
    );
    expect(late.records.some(({ included }) => included)).toBe(true);
  });

  test('an address: which streams watch it', async () => {
    const explanation = await explain(contracts.erc20);
    expect(explanation).toMatchObject({ kind: 'address', chainId: null, block: null });
    expect(verdictOf(explanation, matching).verdict).toBe('watched');
    expect(verdictOf(explanation, idle).verdict).toBe('not-watched');
  });

  test('a removed block is reported as removed', async () => {
    const snapshot = await anvil.request<string>('evm_snapshot', []);
    const gone = await move(500n);
    await until(
      'the block is committed',
      async () => verdictOf(await explain(gone.hash), matching).deliveries.length > 0,
    );
    await anvil.request('evm_revert', [snapshot]);
    await anvil.request('evm_increaseTime', [100]);
    await anvil.request('anvil_mine', ['0x4']);
    const explanation = await until('the reorg is noticed', async () => {
      const found = await explain(gone.hash, CHAIN);
      return found.stages.some(({ outcome }) => outcome === 'stopped') && found;
    });
    expect(explanation.stages.at(-1)).toMatchObject({ stage: 'committed', outcome: 'stopped' });
    expect(
      verdictOf(explanation, matching).stages.find(({ stage }) => stage === 'match'),
    ).toMatchObject({ outcome: 'stopped', message: 'its block left the chain' });
  });

  test('reports a query without a result, without an error', async () => {
    const nowhere = await explain(`0x${'ab'.repeat(32)}`);
    expect(nowhere).toMatchObject({ kind: 'unknown', block: null, streams: [] });
    expect(nowhere.message).toMatch(/No configured chain has a transaction or block 0xabab/);
    expect((await explain(17)).message).toMatch(
      /Several chains may have a block 17: choose one of/,
    );
    expect((await explain(1_000_000, CHAIN)).message).toBe(`No node of ${CHAIN} has block 1000000`);
    expect((await explain(7, '0x5')).stages[0]).toMatchObject({ message: '0x5 is not read' });
    expect((await explain(7, 'ethereum')).message).toBe('No node of ethereum has block 7');
    expect((await explain('hello')).message).toMatch(/"hello" is not a transaction or block hash/);
    expect((await explain('01a0ca44-c660-7000-8b60-c0ee13d42f05')).message).toMatch(/No delivery/);
    await expect(sluice.explain(' ')).rejects.toMatchObject({ status: 422 });
  });
});

describe('on Aptos', () => {
  const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;
  const [alice, bob] = [account(0xa11ce), account(0xb0b)];

  test('a transaction by hash and by version, a filter by function, and an account', async () => {
    const create = (tag: string, fields: object = {}) =>
      client.streams.create({
        networkType: 'aptos',
        webhookUrl: `${sink.url}/${tag}`,
        description: '',
        tag,
        network: ['local'],
        ...fields,
      });
    const { id: wallet } = await create('wallet');
    const { id: picky } = await create('picky', { functions: ['0x1::code::publish_package_txn'] });
    for (const id of [wallet, picky]) {
      await client.streams.addAddress(id, '0xb0b', { networkType: 'aptos' });
    }
    const block = aptos.mine({
      transactions: [scriptedAptos.transfer({ from: alice, to: bob, amount: 5n })],
    });
    const height = await until('it is delivered', async () => {
      const { result } = await sluice.listDeliveries({ streamId: wallet });
      return result[0]?.state === 'succeeded' && result[0].blockNumber;
    });
    expect(block).toBeDefined();
    const detail = await sluice.listDeliveries({ streamId: wallet });
    const byDelivery = await explain(detail.result[0]!.id);
    const record = verdictOf(byDelivery, wallet).records.find(({ included }) => included)!;
    expect(byDelivery.block?.number).toBe(height);

    for (const query of [record.transactionHash, record.index]) {
      const explanation = await explain(query, 'aptos:local');
      expect(explanation).toMatchObject({
        chainId: 'aptos:local',
        transactionHash: record.transactionHash,
        block: { number: height },
        transaction: {
          hash: record.transactionHash,
          status: 'succeeded',
          from: alice,
          to: bob,
          value: '5',
          currency: { symbol: 'APT', decimals: 8 },
          selector: null,
          function: '0x1::aptos_account::transfer',
          // The accounts' stores are objects, which have their own addresses.
          addressCount: 4,
          addresses: expect.arrayContaining([
            { name: 'from', address: alice },
            { name: 'to', address: bob },
          ]),
        },
      });
      expect(verdictOf(explanation, picky).reason.conditions).toEqual([
        {
          name: 'function',
          rule: '0x1::code::publish_package_txn',
          value: '0x1::aptos_account::transfer',
          holds: false,
          alternative: false,
        },
      ]);
      expect(verdictOf(explanation, wallet)).toMatchObject({
        verdict: 'delivered',
        records: [{ index: record.index, included: true }],
      });
      expect(verdictOf(explanation, picky)).toMatchObject({
        verdict: 'not-matched',
        reason: { stage: 'event', message: expect.stringContaining('::aptos_account::transfer') },
      });
    }
    expect(verdictOf(await explain('0xb0b'), wallet).verdict).toBe('watched');
    expect(verdictOf(await explain(bob), wallet).verdict).toBe('watched');
  });
});
