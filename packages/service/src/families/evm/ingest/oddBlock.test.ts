/** Tests an odd block after many that were proven: it goes on, and later blocks are proven again. */
import { createScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import { concatHex, keccak256, numberToHex, toHex } from 'viem';
import { afterEach, expect, test } from 'vitest';
import { createLog } from '../../../base/log.ts';
import type { Json } from '../../../ingest/json.ts';
import { createEvmSource } from './evm.ts';
import { ALL, type FakeNode, address, startFakeNode, word } from './fakeNode.test-only.ts';

const ORDINARY = 22;

/** Returns the blocks of a scripted chain, whose roots prove them, as a node returns them. */
async function readProvable(chainId: number): Promise<{ block: Json; receipts: Json[] }[]> {
  const chain = createScriptedChain({ chainId });
  for (let n = 1; n <= ORDINARY + 2; n++) {
    const transfer = scripted.erc20Transfer({
      token: address(0xbb) as `0x${string}`,
      from: address(1) as `0x${string}`,
      to: address(2) as `0x${string}`,
      value: BigInt(n),
    });
    chain.mine({ transactions: [transfer, { ...transfer }] });
  }
  const node = await startScriptedChain({ chain });
  const call = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(node.url, { method: 'POST', body });
    return ((await response.json()) as { result: unknown }).result;
  };
  const blocks = [];
  for (const { hash } of chain.canonical()) {
    blocks.push({
      block: (await call('eth_getBlockByHash', hash, true)) as Json,
      receipts: (await call('eth_getBlockReceipts', hash)) as Json[],
    });
  }
  await node.stop();
  return blocks;
}

type Content = Awaited<ReturnType<typeof readProvable>>[number];

/** Adds Polygon's record of a state sync, which neither root of the block contains. */
function addStateSync({ block, receipts }: Content): Content {
  const transactions = block['transactions'] as Json[];
  const number = numberToHex(BigInt(block['number'] as string), { size: 8 });
  const hash = keccak256(
    concatHex([toHex('matic-bor-receipt-'), number, block['hash'] as `0x${string}`]),
  );
  const place = { transactionHash: hash, transactionIndex: '0x2' };
  const log = { ...(receipts[1]!['logs'] as Json[])[0]!, ...place, logIndex: '0x2' };
  const zero = address(0);
  const sync = { hash, transactionIndex: '0x2', from: zero, to: zero, value: '0x0', type: '0x0' };
  const fields = { nonce: '0x0', gas: '0x0', gasPrice: '0x0', input: '0x' };
  return {
    block: {
      ...block,
      transactions: [...transactions, { ...transactions[1]!, ...sync, ...fields }],
    },
    receipts: [...receipts, { ...receipts[1]!, ...place, logs: [log] }],
  };
}

/** Gives the last transaction a type whose encoding is unknown or has other fields. */
const changeType =
  (type: string) =>
  ({ block, receipts }: Content): Content => {
    const transactions = block['transactions'] as Json[];
    const odd = { ...transactions[1]!, type, requestId: word(7), feeCurrency: address(3) };
    return {
      block: { ...block, transactions: [transactions[0]!, odd] },
      receipts: [receipts[0]!, { ...receipts[1]!, type }],
    };
  };

const nodes: FakeNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop();
});

/** Name, chain, change of the block, and the number of its logs after the change. */
const ODD: [string, string, (content: Content) => Content, number][] = [
  ['a state sync of Polygon', '0x89', addStateSync, 3],
  ['a deposit of Arbitrum', '0xa4b1', changeType('0x64'), 2],
  ['a retryable of Arbitrum', '0xa4b1', changeType('0x69'), 2],
  ['a fee currency of Celo', '0xa4ec', changeType('0x7b'), 2],
  ['an unknown type on an unknown chain', '0x7a69', changeType('0x5a'), 2],
];

test.each(ODD)('%s is delivered after many proven blocks', async (_name, chain, change, logs) => {
  const contents = await readProvable(Number(chain));
  const odd = ORDINARY + 1;
  contents[odd] = change(contents[odd]!);
  for (let n = 0; n < 2; n++)
    nodes.push(await startFakeNode(contents, { eth_chainId: () => chain }));
  const urls = nodes.map(({ url }) => url);
  const source = createEvmSource({
    chain,
    urls,
    pollMs: 10_000,
    log: createLog(() => {}),
    operators: { [urls[0]!]: 'one', [urls[1]!]: 'two' },
  });
  try {
    const read = async (number: number) => (await source.readBlockAt(number, ALL))!.block;
    for (let n = 1; n <= ORDINARY; n++) expect((await read(n)).unverified).toBeUndefined();
    const found = await read(odd);
    expect(found.logs).toHaveLength(logs);
    expect(found.unverified).toMatchObject({
      codes: ['transactions-root', 'receipts-root'],
      witnesses: 2,
    });
    expect((await read(odd + 1)).unverified).toBeUndefined();
  } finally {
    await source.stop();
  }
});
