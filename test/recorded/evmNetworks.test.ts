/**
 * Tests recorded blocks of Ethereum and of networks that differ from it. A scripted node serves
 * each block, and the kit decodes its webhook. We cannot publish the recordings; they are next to
 * the checkout, or in the folder named by SLUICE_FIXTURES.
 */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EvmWebhook, createClient, decodeLogs, unwrap } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import { startWebhookSink } from '@sluice/testkit';
import { describe, expect, test } from 'vitest';
import { createEvmSource } from '../../packages/service/src/families/evm/ingest/evm.ts';
import { createLog } from '../../packages/service/src/base/log.ts';
import { startService } from '../../packages/service/src/service.ts';

const folder = join(
  process.env['SLUICE_FIXTURES'] ??
    fileURLToPath(new URL('../../../shared/fixtures', import.meta.url)),
  'evm-networks',
);
const isThere = existsSync(folder);

type Raw = Record<string, unknown>;
interface RawLog {
  address: string;
  topics: string[];
  data: string;
  logIndex: string;
  transactionHash: string;
}
interface RawReceipt extends Raw {
  transactionHash: string;
  blockHash: string;
  status?: string;
  logs: RawLog[];
}
interface RawTransaction extends Raw {
  hash: string;
  from: string;
}
interface RawBlock extends Raw {
  hash: string;
  parentHash: string;
  number: string;
  timestamp: string;
  transactions: RawTransaction[];
}
interface Recorded {
  block: RawBlock;
  /** Receipts that the node returns for the block (`eth_getBlockReceipts`). */
  listed: RawReceipt[];
  /** The `listed` receipts, and those that were recorded by transaction hash. */
  receipts: RawReceipt[];
}

const CHAINS: Record<string, string> = {
  arbitrum: '0xa4b1',
  cronos: '0x19',
  ethereum: '0x1',
  hyperliquid: '0x3e7',
  stable: '0x3dc',
  'tempo-mainnet': '0x1079',
};
const API_KEY = 'test-key-0123456789abcdef';
const SECRET = 'a-secret-of-the-recorded-blocks';
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER = {
  anonymous: false,
  type: 'event',
  name: 'Transfer',
  inputs: [
    { indexed: true, internalType: 'address', name: 'from', type: 'address' },
    { indexed: true, internalType: 'address', name: 'to', type: 'address' },
    { indexed: false, internalType: 'uint256', name: 'value', type: 'uint256' },
  ],
} as const;

function readRecorded(network: string, number: string): Recorded {
  const at = join(folder, network, number);
  const read = (file: string): unknown => JSON.parse(readFileSync(join(at, file), 'utf8'));
  const listed = existsSync(join(at, 'receipts.json'))
    ? (read('receipts.json') as RawReceipt[])
    : [];
  const alone = readdirSync(at)
    .filter((file) => file.startsWith('tx-'))
    .map((file) => read(file) as RawReceipt);
  return { block: read('block.json') as RawBlock, listed, receipts: [...listed, ...alone] };
}

/**
 * Starts a node that serves one recorded block and, with `hasOthers`, a synthetic parent and
 * genesis block. It returns the receipts in `all` by transaction hash.
 */
async function startNode(
  chain: string,
  { block, listed }: Recorded,
  all: readonly RawReceipt[],
  { hasOthers = true } = {},
) {
  const before: RawBlock = {
    ...block,
    // An unknown field prevents verification of the header hash, so this header need not be
    // correct.
    madeUp: true,
    number: `0x${(Number(block.number) - 1).toString(16)}`,
    hash: block.parentHash,
    parentHash: `0x${'01'.repeat(32)}`,
    transactions: [],
    logsBloom: `0x${'00'.repeat(256)}`,
  };
  const genesis: RawBlock = { ...before, number: '0x0', hash: `0x${'02'.repeat(32)}` };
  let head = before;
  const known = (): RawBlock[] => [
    ...(hasOthers ? [genesis, before] : []),
    ...(head === block ? [block] : []),
  ];
  const toAnswer = (found: RawBlock | undefined, full: unknown): Raw | null => {
    if (found === undefined) return null;
    return full === true
      ? found
      : { ...found, transactions: found.transactions.map(({ hash }) => hash) };
  };
  const isRecorded = (hash: unknown): boolean => hash === block.hash;
  const answers: Record<string, (params: unknown[]) => unknown> = {
    eth_chainId: () => chain,
    eth_getBlockByNumber: ([tag, full]) =>
      toAnswer(tag === 'latest' ? head : known().find(({ number }) => number === tag), full),
    eth_getBlockByHash: ([hash, full]) =>
      toAnswer(
        known().find((each) => each.hash === hash),
        full,
      ),
    eth_getLogs: ([filter]) =>
      isRecorded((filter as Raw)['blockHash']) ? listed.flatMap(({ logs }) => logs) : [],
    eth_getBlockReceipts: ([hash]) => (isRecorded(hash) ? listed : []),
    eth_getTransactionReceipt: ([hash]) =>
      all.find(({ transactionHash }) => transactionHash === hash) ?? null,
    eth_call: () => '0x',
  };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text) as {
        id: number;
        method: string;
        params: unknown[];
      };
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? null }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mine: () => (head = block),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Delivers the block to a stream that includes all of its transactions and logs. Returns the
 * verified webhook (undefined if the chain goes down), the recording and the state of the chain.
 */
async function deliver(
  network: string,
  number: string,
  { nodes: count }: { nodes: number },
): Promise<{
  recorded: Recorded;
  webhook: EvmWebhook | undefined;
  chain: Awaited<ReturnType<SluiceClient['listChains']>>[number];
}> {
  const chain = CHAINS[network]!;
  const recorded = readRecorded(network, number);
  const all = readdirSync(join(folder, network)).flatMap(
    (each) => readRecorded(network, each).receipts,
  );
  // If several blocks contain a transaction, nodes return the receipt from the newest of them.
  all.sort((a, b) => Number(b['blockNumber']) - Number(a['blockNumber']));
  const nodes = await Promise.all(
    Array.from({ length: count }, () => startNode(chain, recorded, all)),
  );
  const sink = await startWebhookSink();
  const dataFolder = mkdtempSync(join(tmpdir(), 'sluice-recorded-'));
  const service = await startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: dataFolder,
      apiKey: API_KEY,
      secret: SECRET,
      chains: [{ id: chain, urls: nodes.map(({ url }) => url), confirmations: 0, pollMs: 20 }],
      aptos: [],
      allowPrivateEndpoints: true,
    },
    createLog(() => {}),
  );
  try {
    const connection = { apiKey: API_KEY, baseUrl: service.url };
    const sluice = createSluiceClient(connection);
    const until = async (what: string, isSo: (state: string, at: number) => boolean) => {
      const deadline = Date.now() + 30_000;
      for (;;) {
        const [found] = await sluice.listChains();
        if (isSo(found!.state, found!.checkpoint ?? -1)) return found!;
        if (Date.now() > deadline)
          throw new Error(`timed out waiting for: ${what}; ${JSON.stringify(found)}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await until('the chain is live', (state) => state === 'live');
    const client = createClient(connection);
    const stream = await client.streams.create({
      webhookUrl: `${sink.url}/hook`,
      description: '',
      tag: 'recorded',
      chainIds: [chain],
      includeContractLogs: true,
      includeNativeTxs: true,
      abi: [TRANSFER],
    });
    const everybody = new Set([
      ...recorded.block.transactions.map(({ from }) => from),
      ...recorded.receipts.flatMap(({ logs }) => logs.map(({ address }) => address)),
    ]);
    await client.streams.addAddress(stream.id, [...everybody]);
    sink.clear();
    for (const node of nodes) node.mine();
    const found = await until(
      'the block is read',
      (state, at) => at === Number(recorded.block.number) || state === 'settling',
    );
    if (found.state === 'settling') return { recorded, webhook: undefined, chain: found };
    const { body, headers } = await sink.waitFor(
      (request) => (JSON.parse(request.body) as EvmWebhook).confirmed,
      { timeoutMs: 30_000 },
    );
    const { webhook } = unwrap({ body, headers, secret: SECRET });
    return { recorded, webhook, chain: found };
  } finally {
    await service.stop();
    await sink.close();
    await Promise.all(nodes.map((node) => node.stop()));
    rmSync(dataFolder, { recursive: true });
  }
}

const decimal = (quantity: unknown): string | null =>
  typeof quantity === 'string' ? BigInt(quantity).toString() : null;

/** Reads a fee with 18 decimals. */
function weiOf(fee: string | null | undefined): bigint | null {
  if (fee == null) return null;
  const [whole, fraction = ''] = fee.split('.');
  return BigInt(whole! + fraction.padEnd(18, '0'));
}

const paidFor = (transaction: Raw, receipt: Raw): bigint =>
  BigInt(receipt['gasUsed'] as string) *
    BigInt((receipt['effectiveGasPrice'] ?? transaction['gasPrice']) as string) +
  BigInt((receipt['l1Fee'] as string | undefined) ?? 0);

/** Compares every record of the webhook with the recording. */
function expectAll(
  { block }: Recorded,
  receipts: readonly RawReceipt[],
  webhook: EvmWebhook,
): void {
  expect(webhook.block).toEqual({
    number: decimal(block.number),
    hash: block.hash,
    timestamp: decimal(block.timestamp),
  });
  const logs = receipts.flatMap((receipt) => receipt.logs);
  expect(
    webhook.logs.map(({ logIndex, address, data, topic0, transactionHash }) => [
      ...[logIndex, address, data, topic0, transactionHash],
    ]),
  ).toEqual(
    logs.map((log) => [
      decimal(log.logIndex),
      log.address.toLowerCase(),
      log.data,
      log.topics[0] ?? null,
      log.transactionHash,
    ]),
  );
  const receiptOf = new Map(receipts.map((each) => [each.transactionHash, each]));
  const calls = (each: RawTransaction): Raw | undefined =>
    (each['calls'] as Raw[] | undefined)?.[0];
  expect(
    webhook.txs.map((each) => [
      ...[each.hash, each.fromAddress, each.toAddress, each.value, each.input],
      ...[each.receiptStatus, each.receiptGasUsed, each.receiptRoot],
      weiOf(each.transactionFee),
    ]),
  ).toEqual(
    block.transactions.map((each) => {
      const receipt = receiptOf.get(each.hash);
      const call = calls(each) ?? each;
      return [
        ...[each.hash, each.from.toLowerCase()],
        (call['to'] as string | null)?.toLowerCase() ?? null,
        decimal(call['value']),
        call['input'],
        decimal(receipt?.['status']),
        decimal(receipt?.['gasUsed']),
        receipt?.['root'] ?? null,
        receipt === undefined ? null : paidFor(each, receipt),
      ];
    }),
  );
  const transfers = logs.filter(
    ({ topics }) => topics[0] === TRANSFER_TOPIC && topics.length === 3,
  );
  const { decoded } = decodeLogs(webhook);
  expect(decoded.map(({ name, args }) => [name, args['value']])).toEqual(
    transfers.map(({ data }) => ['Transfer', BigInt(data)]),
  );
}

if (!isThere) {
  test('recorded blocks of EVM networks are missing', () => {
    console.warn(`16 recorded tests did not run: no folder ${folder}`);
  });
} else {
  /**
   * Reads the block from two nodes that have no other block, and returns its numbers of logs and
   * transactions, and the proof status. The ledger already knows the genesis block of the chain.
   */
  const prove = async (network: string, number: string, trust?: 'strict') => {
    const recorded = readRecorded(network, number);
    const { receipts, block } = recorded;
    const chain = CHAINS[network]!;
    const nodes = [
      await startNode(chain, recorded, receipts, { hasOthers: false }),
      await startNode(chain, recorded, receipts, { hasOthers: false }),
    ];
    for (const node of nodes) node.mine();
    const source = createEvmSource({
      chain,
      urls: nodes.map(({ url }) => url),
      pollMs: 1_000,
      trust,
      log: createLog(() => {}),
    });
    try {
      const all = { logs: true, transactions: true, traces: false };
      const header = {
        number: Number(block.number),
        hash: block.hash,
        parentHash: block.parentHash,
        timestamp: Number(block.timestamp),
      };
      const { logs, transactions } = await source.readBlock(header, all);
      return { logs: logs.length, transactions: transactions.length, proof: source.proof!() };
    } finally {
      await source.stop();
      await Promise.all(nodes.map((node) => node.stop()));
    }
  };

  describe('a recorded block', () => {
    test.each([
      ['arbitrum', '150000000', 5, 18],
      ['ethereum', '1000000', 2, 1],
      ['ethereum', '4369999', 22, 171],
      ['ethereum', '18000000', 94, 291],
      ['hyperliquid', '50000', 1, 0],
      ['tempo-mainnet', '17708868', 3, 7],
      ['tempo-mainnet', '20636966', 2, 4],
    ])('%s %s proves', async (network, number, transactions, logs) => {
      const proof = { isProven: true, reason: '' };
      expect(await prove(network, number, 'strict')).toEqual({ transactions, logs, proof });
    });

    test.each(['10000', '6542', '68215', '68216'])(
      'cronos %s is checked, not proven, and says why',
      async (number) => {
        const { proof } = await prove('cronos', number);
        expect(proof.isProven).toBe(false);
        expect(proof.reason).toMatch(/^the rules of the header are not known/);
        await expect(prove('cronos', number, 'strict')).rejects.toThrow(
          /does not match its hash 0x[\da-f]{64}\. .* pass trust=evidence$/,
        );
      },
    );
  });

  describe('a recorded block is delivered unchanged', { timeout: 120_000 }, () => {
    test.each([
      ['arbitrum', '150000000', 5, 18],
      ['cronos', '10000', 1, 1],
      ['cronos', '6542', 3, 21],
      ['cronos', '68215', 7, 43],
      ['ethereum', '1000000', 2, 1],
      ['ethereum', '4369999', 22, 171],
      ['ethereum', '18000000', 94, 291],
      ['hyperliquid', '50000', 1, 0],
      ['tempo-mainnet', '17708868', 3, 7],
      ['tempo-mainnet', '20636966', 2, 4],
    ])('%s %s', async (network, number, transactions, logs) => {
      const { recorded, webhook, chain } = await deliver(network, number, { nodes: 1 });
      expect(chain.message).toBe('');
      expectAll(recorded, recorded.listed, webhook!);
      expect([webhook!.txs.length, webhook!.logs.length]).toEqual([transactions, logs]);
      const codes = Object.keys(chain.unverified?.byCode ?? {});
      expect(codes).toEqual(network === 'cronos' ? ['header-hash'] : []);
    });

    test('cronos 68216: the receipt missing from its list is read by hash, and all 22 logs arrive', async () => {
      const { recorded, webhook, chain } = await deliver('cronos', '68216', { nodes: 1 });
      expect(chain.message).toBe('');
      expect(recorded.listed).toHaveLength(1);
      expectAll(recorded, recorded.receipts, webhook!);
      expect(webhook!.logs).toHaveLength(22);
      expect(Object.keys(chain.unverified!.byCode)).toEqual(['header-hash']);
    });

    test.each([
      ['131465', [1], 15],
      ['6541', [0], 0],
    ])(
      'cronos %s: two nodes agree that a transaction has no receipt',
      async (number, without, logs) => {
        const { recorded, webhook, chain } = await deliver('cronos', number, { nodes: 2 });
        expect(chain.message).toBe('');
        expectAll(recorded, recorded.listed, webhook!);
        expect(webhook!.logs).toHaveLength(logs);
        const lacking = webhook!.txs.flatMap(({ receiptStatus }, n) =>
          receiptStatus === null ? [n] : [],
        );
        expect(lacking).toEqual(without);
        expect(chain.unverified).toMatchObject({ blocks: 1, latest: Number(number) });
        expect(chain.unverified!.byCode).toHaveProperty('receipts');
      },
    );

    test('cronos 6541 from a single node settles, and the chain shows why', async () => {
      const { webhook, chain } = await deliver('cronos', '6541', { nodes: 1 });
      expect(webhook).toBeUndefined();
      expect(chain.message).toMatch(
        /block 6541 is not proven .*a transaction has no receipt.*--chain 0x19=<rpcUrl>/,
      );
    });

    test.each(['13683593', '14692806'])(
      'stable %s, recorded without receipts: reads the header, and the block settles',
      async (number) => {
        const recorded = readRecorded('stable', number);
        const node = await startNode(CHAINS['stable']!, recorded, []);
        node.mine();
        const source = createEvmSource({
          chain: CHAINS['stable']!,
          urls: [node.url],
          pollMs: 1_000,
          log: createLog(() => {}),
        });
        try {
          const header = await source.readHead();
          expect(header.hash).toBe(recorded.block.hash);
          const nothing = { logs: false, transactions: false, traces: false };
          expect(await source.readBlock(header, nothing)).toMatchObject({ number: Number(number) });
          await expect(
            source.readBlock(header, { ...nothing, transactions: true }),
          ).rejects.toThrow(/is not proven .*a transaction has no receipt/);
        } finally {
          await source.stop();
          await node.stop();
        }
      },
    );
  });
}
