/**
 * Reads and matches Ethereum mainnet block 18,000,000 from a recording. We cannot publish the
 * recording; it is next to the checkout, or in the folder named by SLUICE_FIXTURES.
 */
import { existsSync, readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { type AbiFunction, type Hex, decodeFunctionData, erc20Abi, toFunctionSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEvmSource } from '../../packages/service/src/families/evm/ingest/evm.ts';
import type { EvmBlock } from '../../packages/service/src/families/evm/match/block.ts';
import {
  matchBlock,
  createStreamIndex,
} from '../../packages/service/src/families/evm/match/match.ts';
import { createLog } from '../../packages/service/src/base/log.ts';
import { packAddresses } from '../../packages/service/src/store/addresses/packedAddresses.ts';
import { toWebhookParts } from '../../packages/service/src/families/evm/match/webhook.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
  type StreamOptions,
} from '../../packages/service/src/store/streams/contract.ts';

const folder =
  process.env['SLUICE_FIXTURES'] ??
  fileURLToPath(new URL('../../../shared/fixtures', import.meta.url));
const present = existsSync(join(folder, 'evm'));

interface RawLog {
  address: string;
  topics: string[];
  transactionHash: string;
  transactionIndex: string;
  blockHash: string;
}
interface RawTransaction {
  hash: string;
  from: string;
  to: string | null;
  value: string;
  input: string;
}
interface RawBlock {
  hash: string;
  number: string;
  parentHash: string;
  timestamp: string;
  transactions: RawTransaction[];
}

const CHAIN = '0x1';
const TRANSFER = 'Transfer(address,address,uint256)';
const APPROVAL = 'Approval(address,address,uint256)';
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/**
 * Returns a list with the address in a topic that starts with 12 zero bytes; an empty list for
 * other topics.
 */
const addressIn = (topic: string): string[] =>
  topic.startsWith(`0x${'0'.repeat(24)}`) ? [`0x${topic.slice(26)}`] : [];

function readRecording(): { block: RawBlock; logs: RawLog[] } {
  const read = (name: string): { result: unknown }[] =>
    JSON.parse(readFileSync(join(folder, 'evm', name), 'utf8')) as { result: unknown }[];
  const block = read('mainnet-block-18000000.json')[0]!.result as RawBlock;
  const logs = read('mainnet-logs-18000000.json').flatMap(({ result }) =>
    Array.isArray(result) ? (result as RawLog[]) : [],
  );
  return { block, logs };
}

/**
 * Starts a node that serves this block. The receipts have the recorded logs, but most of their
 * other fields are synthetic.
 */
async function startNode({ block, logs }: ReturnType<typeof readRecording>): Promise<Server> {
  const hashes = { ...block, transactions: block.transactions.map(({ hash }) => hash) };
  const receipts = block.transactions.map(({ hash }) => ({
    transactionHash: hash,
    blockHash: block.hash,
    logs: logs.filter((log) => log.transactionHash === hash),
    cumulativeGasUsed: '0x5208',
    gasUsed: '0x5208',
    contractAddress: null,
    status: '0x1',
  }));
  const answers: Record<string, (params: unknown[]) => unknown> = {
    eth_chainId: () => CHAIN,
    eth_getBlockByHash: ([, full]) => (full === true ? block : hashes),
    eth_getLogs: () => logs,
    eth_getBlockReceipts: () => receipts,
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
  return server;
}

const streamOf = (id: string, options: Partial<StreamOptions>): EvmStreamRecord => ({
  id,
  tag: 'recorded',
  description: '',
  webhookUrl: '',
  chainIds: [CHAIN],
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
  options: { ...DEFAULT_OPTIONS, ...options },
  family: 'evm',
  ...DEFAULT_DELIVERY,
});

function webhookOf(options: Partial<StreamOptions>, addresses: string[], block: EvmBlock) {
  const index = createStreamIndex();
  const stream = streamOf('recorded', options);
  index.put(stream);
  index.addAddresses(stream.id, packAddresses(addresses).bytes);
  const [match] = matchBlock(index, CHAIN, block);
  return match && toWebhookParts(CHAIN, block, match).tail;
}

/** Decodes a call with viem; null if it cannot be decoded. */
function readWithViem(abi: readonly AbiFunction[], data: string): string[] | null {
  try {
    const { args } = decodeFunctionData({ abi, data: data as Hex });
    return args.map((value) => String(value).toLowerCase());
  } catch {
    return null;
  }
}

if (!present) {
  test('recorded data is missing', () => {
    console.warn(`6 recorded tests did not run: no folder evm in ${folder}`);
  });
} else {
  describe('mainnet block 18,000,000', () => {
    const recording = readRecording();
    let server: Server;
    let source: ReturnType<typeof createEvmSource>;
    const header = {
      number: Number(recording.block.number),
      hash: recording.block.hash,
      parentHash: recording.block.parentHash,
      timestamp: Number(recording.block.timestamp),
    };

    beforeAll(async () => {
      server = await startNode(recording);
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      source = createEvmSource({
        chain: CHAIN,
        urls: [url],
        pollMs: 1_000,
        // Most fields of the receipts are synthetic, so the block cannot be proven.
        trust: 'node',
        log: createLog(() => {}),
      });
    });
    afterAll(async () => {
      await source.stop();
      server.close();
    });

    test('has 291 logs that satisfy its bloom', async () => {
      const block = await source.readBlock(header, {
        logs: true,
        transactions: false,
        traces: false,
      });
      expect(block.logs).toHaveLength(291);
    });

    test('has 141 ERC-20 transfers and 26 approvals', async () => {
      const block = await source.readBlock(header, {
        logs: true,
        transactions: false,
        traces: false,
      });
      const tail = webhookOf(
        { allAddresses: true, includeContractLogs: true, topic0: [TRANSFER, APPROVAL] },
        [],
        block,
      );
      expect(tail?.erc20Transfers).toHaveLength(141);
      expect(tail?.erc20Approvals).toHaveLength(26);
    });

    test('has 94 transactions, 40 of which carry value', async () => {
      const block = await source.readBlock(header, {
        logs: true,
        transactions: true,
        traces: false,
      });
      const senders = recording.block.transactions.map(({ from }) => from.toLowerCase());
      const tail = webhookOf({ includeNativeTxs: true }, senders, block);
      expect(tail?.txs).toHaveLength(94);
      expect(tail?.txs.filter(({ value }) => value !== '0')).toHaveLength(40);
    });

    test('gives each watched address the same records as a full scan', async () => {
      const block = await source.readBlock(header, {
        logs: true,
        transactions: true,
        traces: false,
      });
      const everybody = new Set(
        recording.block.transactions
          .flatMap(({ from, to }) => [from, to ?? from])
          .map((each) => each.toLowerCase()),
      );
      for (const address of everybody) {
        const tail = webhookOf(
          { includeNativeTxs: true, includeContractLogs: true },
          [address],
          block,
        );
        const logs = block.logs.filter(
          (log) =>
            log.address === address ||
            log.topics.slice(1).some((topic) => topic === `0x${'0'.repeat(24)}${address.slice(2)}`),
        );
        const txs = block.transactions.filter(({ from, to }) => from === address || to === address);
        expect(tail?.logs.map(({ logIndex }) => Number(logIndex)) ?? []).toEqual(
          logs.map(({ logIndex }) => logIndex),
        );
        expect(tail?.txs.map(({ hash }) => hash) ?? []).toEqual(txs.map(({ hash }) => hash));
      }
    });

    test('has the calls that viem decodes, for every selector in it', async () => {
      const block = await source.readBlock(header, {
        logs: true,
        transactions: true,
        traces: false,
      });
      const { transactions } = recording.block;
      const called = transactions.filter(({ to, input }) => to !== null && input.length >= 10);
      const selectors = new Set(called.map(({ input }) => input.slice(0, 10)));
      const known = erc20Abi.filter((item) => item.type === 'function');
      for (const selector of selectors) {
        const abi = known.filter((item) => toFunctionSelector(item) === selector);
        const options = { functions: [selector], abi: abi as never, allAddresses: true };
        const expected = called
          .filter(({ input }) => input.startsWith(selector))
          .map(({ hash, input }) => ({ hash, args: readWithViem(abi, input) }));
        const found = webhookOf(options, [], block)?.calls ?? [];
        expect(
          found.map(({ transactionHash, arguments: args }) => ({
            hash: transactionHash,
            args: args?.map(({ value }) => value) ?? null,
          })),
        ).toEqual(expected);
      }
      expect(selectors.size).toBeGreaterThan(10);
    });

    test('gives 200 streams of random addresses the same counts as the recording', async () => {
      const block = await source.readBlock(header, {
        logs: true,
        transactions: true,
        traces: false,
      });
      const { logs, block: raw } = recording;
      const everybody = new Set([
        ...logs.flatMap(({ address, topics }) => [address, ...topics.slice(1).flatMap(addressIn)]),
        ...raw.transactions.flatMap(({ from, to }) => [from, to ?? from]),
      ]);
      const sets = fc.sample(
        fc.record({
          addresses: fc.uniqueArray(fc.constantFrom(...everybody, `0x${'5'.repeat(40)}`), {
            maxLength: 40,
          }),
          includeContractLogs: fc.boolean(),
          includeNativeTxs: fc.boolean(),
          transfersOnly: fc.boolean(),
        }),
        { numRuns: 200, seed: 18_000_000 },
      );

      const index = createStreamIndex();
      for (const [n, { addresses, transfersOnly, ...flags }] of sets.entries()) {
        const topic0 = transfersOnly ? [TRANSFER] : null;
        index.put(streamOf(`${n}`, { ...flags, topic0 }));
        index.addAddresses(`${n}`, packAddresses(addresses).bytes);
      }
      const found = sets.map(() => ({ logs: 0, transactions: 0 }));
      for (const match of matchBlock(index, CHAIN, block)) {
        const { logs, transactions } = match;
        found[Number(match.stream.record.id)] = {
          logs: logs.length,
          transactions: transactions.length,
        };
      }

      const expected = sets.map(({ addresses, transfersOnly, ...flags }) => {
        const isOne = (address: string | null) => address !== null && addresses.includes(address);
        const wanted = logs.filter(
          ({ address, topics }) =>
            (!transfersOnly || topics[0] === TRANSFER_TOPIC) &&
            (isOne(address) || topics.slice(1).flatMap(addressIn).some(isOne)),
        );
        const moved = raw.transactions.filter(({ from, to }) => isOne(from) || isOne(to));
        return {
          logs: flags.includeContractLogs ? wanted.length : 0,
          transactions: flags.includeNativeTxs ? moved.length : 0,
        };
      });
      expect(found).toEqual(expected);
      expect(expected.filter((each) => each.logs + each.transactions > 0).length).toBeGreaterThan(
        100,
      );
    });
  });
}
