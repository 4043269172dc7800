/**
 * Tests that every field of every record has the value that viem reads from the same block on
 * anvil, and that the official client and the kit parse the webhooks correctly.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, decodeLogs, unwrap } from '@sluice/kit';
import type {
  AbiItem,
  CreateEvmStream,
  EvmWebhook,
  StreamTrigger,
  WebhookTrigger,
} from '@sluice/kit/contract';
import {
  type Anvil,
  type RecordedRequest,
  type WebhookSink,
  crier,
  sluiceCollectible,
  sluiceItems,
  sluiceToken,
  startAnvil,
  startWebhookSink,
} from '@sluice/testkit';
import { type Abi, type PublicClient, createPublicClient, encodeEventTopics, http } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';
import { type ChainView, decodeTokens, readChainView, readEvent } from './chainView.ts';
import { type Contracts, deployEveryKind, heir, mine, mineEveryKind } from './everyKind.ts';

const CHAIN = '0x7a69';
const CONFIRMATIONS = 3;

interface OfficialResult {
  readonly chain: { readonly hex: string };
  readonly streamId: string;
  readonly tag: string;
  readonly retries: number;
  readonly confirmed: boolean;
  readonly decodedLogs?: unknown;
  toJSON(): Record<string, unknown>;
}
const require = createRequire(new URL('../peers/package.json', import.meta.url));
const { EvmStreamResult } = require('@moralisweb3/common-streams-utils') as {
  EvmStreamResult: { create(body: unknown): OfficialResult };
};

const folder = mkdtempSync(join(tmpdir(), 'sluice-fields-'));
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;
/** A service with `--omit-recent-fields`. */
let brief: Served;
let chain: PublicClient;
let contracts: Contracts;
let views: ChainView[];
/** Streams by tag, with the ABI that the service returned. */
const streams = new Map<string, { id: string; abi: readonly AbiItem[] }>();

const events = (...abis: Abi[]): AbiItem[] =>
  abis.flat().filter(({ type }) => type === 'event') as unknown as AbiItem[];
const view = (abi: Abi, name: string): AbiItem =>
  abi.find((item) => item.type === 'function' && item.name === name) as unknown as AbiItem;

beforeAll(async () => {
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  chain = createPublicClient({ transport: http(anvil.url) });
  contracts = await deployEveryKind(anvil);
  const watching = ['--chain', `${CHAIN}=${anvil.url},confirmations=${CONFIRMATIONS},poll=50`];
  [service, brief] = await Promise.all([
    serve(['--data', join(folder, 'data'), ...watching]),
    serve(['--data', join(folder, 'brief'), ...watching, '--omit-recent-fields']),
  ]);
  const watched = {
    includeNativeTxs: true,
    includeContractLogs: true,
    includeInternalTxs: true,
  };
  const everything = {
    ...watched,
    abi: events(sluiceToken.abi, sluiceItems.abi),
    includeAllTxLogs: true,
  };
  await createStream('everything', everything);
  await createStream('brief', everything, brief);
  await createStream('enriched', {
    ...watched,
    abi: events(sluiceCollectible.abi),
    triggers: triggersOf(contracts),
    getNativeBalances: BALANCES,
  });
  await createStream('one event', {
    allAddresses: true,
    topic0: ['Transfer(address,address,uint256)'],
    abi: events(crier.abi),
    ...watched,
  });
  const blocks = await mineEveryKind(anvil, contracts);
  for (let n = 0; n < CONFIRMATIONS; n++) await mine(anvil, []);
  views = await Promise.all(blocks.map((number) => readChainView(chain, number)));
});

afterAll(async () => {
  await Promise.all([service.stop(), brief.stop()]);
  await Promise.all([anvil.stop(), sink.close()]);
  rmSync(folder, { recursive: true });
});

async function createStream(
  tag: string,
  options: Partial<CreateEvmStream>,
  { url: baseUrl } = service,
): Promise<void> {
  const kit = createClient({ apiKey: API_KEY, baseUrl });
  const { id, abi } = await kit.streams.create({
    webhookUrl: sink.url,
    description: tag,
    tag,
    chainIds: [CHAIN],
    ...options,
  });
  // The service must keep the order of keys, because webhooks contain the ABI.
  expect(JSON.stringify(abi)).toBe(JSON.stringify(options.abi));
  streams.set(tag, { id, abi: abi ?? [] });
  if (options.allAddresses) return;
  const accounts = anvil.accounts.map(({ address }) => address);
  await kit.streams.addAddress(id, [...accounts, ...Object.values(contracts), heir]);
}

/**
 * Waits for the webhook of a stream, block and phase, and returns its request; throws if none
 * arrives within 20 s.
 */
function requestOf(tag: string, number: number, confirmed: boolean): Promise<RecordedRequest> {
  const { id } = streams.get(tag)!;
  return sink.waitFor(
    ({ body }) => {
      const webhook = JSON.parse(body) as EvmWebhook;
      return (
        webhook.streamId === id &&
        webhook.block.number === `${number}` &&
        webhook.confirmed === confirmed
      );
    },
    { timeoutMs: 20_000 },
  );
}

type Records = Pick<EvmWebhook, 'logs' | 'txs' | 'txsInternal'>;

/** Returns the expected webhook, with keys in the order of the wire format. */
async function expectedOf(
  tag: string,
  { number, block }: ChainView,
  { logs, txs, txsInternal }: Records,
): Promise<Omit<EvmWebhook, 'confirmed'>> {
  const { id, abi } = streams.get(tag)!;
  return {
    chainId: CHAIN,
    abi,
    streamId: id,
    tag,
    retries: 0,
    block,
    logs,
    txs,
    txsInternal,
    ...(await decodeTokens(chain, number, logs)),
    nativeBalances: [],
  };
}

const ADDRESS_TOPIC = `0x${'0'.repeat(24)}`;

/** Adds `triggered_by` to the records of a webhook, in its place. */
function withTriggers(
  tag: string,
  { logs, txs, erc20Transfers, ...rest }: Omit<EvmWebhook, 'confirmed'>,
): Omit<EvmWebhook, 'confirmed'> {
  const watched = new Set(
    tag === 'one event'
      ? []
      : [...anvil.accounts.map(({ address }) => address), ...Object.values(contracts), heir].map(
          (address) => address.toLowerCase(),
        ),
  );
  const among = (addresses: readonly (string | null)[]): string[] | null => {
    const found = addresses.filter((each) => each !== null && watched.has(each)) as string[];
    return found.length === 0 ? null : [...new Set(found)];
  };
  const ofLog = ({ address, topic1, topic2, topic3 }: EvmWebhook['logs'][number]) =>
    among([
      address,
      ...[topic1, topic2, topic3].map((topic) =>
        topic?.startsWith(ADDRESS_TOPIC) ? `0x${topic.slice(ADDRESS_TOPIC.length)}` : null,
      ),
    ]);
  const byIndex = new Map(logs.map((log) => [log.logIndex, ofLog(log)]));
  const marked = {
    logs: logs.map((log) => ({ ...log, triggered_by: ofLog(log) })),
    txs: txs.map((tx) => ({ ...tx, triggered_by: among([tx.fromAddress, tx.toAddress]) })),
    erc20Transfers: erc20Transfers.map(({ transactionHash, logIndex, contract, ...fields }) => ({
      transactionHash,
      logIndex,
      contract,
      triggered_by: byIndex.get(logIndex)!,
      ...fields,
    })),
  };
  const { chainId, abi, streamId, tag: _tag, retries, block, txsInternal, ...others } = rest;
  return {
    chainId,
    abi,
    streamId,
    tag,
    retries,
    block,
    logs: marked.logs,
    txs: marked.txs,
    txsInternal,
    erc20Transfers: marked.erc20Transfers,
    ...others,
  };
}

/** Compares the webhooks of both phases with the expected one, byte for byte. */
async function expectWebhooks(
  tag: string,
  seen: ChainView,
  expected: Omit<EvmWebhook, 'confirmed'>,
): Promise<void> {
  const charged = expected.logs.length + expected.txs.length + expected.txsInternal.length;
  for (const confirmed of [false, true]) {
    const { body, headers } = await requestOf(tag, seen.number, confirmed);
    const wanted = { confirmed, ...withTriggers(tag, expected) };
    expect(JSON.parse(body)).toEqual(wanted);
    // The values are equal; only the order of keys can still differ.
    expect(body === JSON.stringify(wanted), `keys in wire order: ${body}`).toBe(true);
    expect(headers['x-records-charged']).toBe(confirmed ? `${charged}` : '0');
  }
}

test('the blocks contain every kind of record', async () => {
  const logs = views.flatMap((each) => each.logs);
  const all = await Promise.all(views.map(({ number, logs }) => decodeTokens(chain, number, logs)));
  const of = <K extends keyof (typeof all)[number]>(kind: K) => all.map((each) => each[kind]);
  const txs = views.flatMap((each) => each.txs);
  expect(new Set(txs.map(({ type }) => type))).toEqual(new Set(['0', '1', '2', '4']));
  expect(new Set(txs.map(({ receiptStatus }) => receiptStatus))).toEqual(new Set(['0', '1']));
  expect(txs.filter(({ toAddress }) => toAddress === null)).toHaveLength(2);
  expect(txs.filter((each) => each.receiptContractAddress !== null)).not.toHaveLength(0);
  expect(
    new Set(logs.map((log) => [log.topic0, log.topic1, log.topic2, log.topic3].indexOf(null))),
  ).toEqual(new Set([-1, 0, 1, 2, 3]));
  expect(of('erc20Transfers').flat()).not.toHaveLength(0);
  expect(of('erc20Approvals').flat()).not.toHaveLength(0);
  expect(
    new Set(
      of('nftTransfers')
        .flat()
        .map((each) => each.tokenContractType),
    ),
  ).toEqual(new Set(['ERC721', 'ERC1155']));
  expect(of('nftApprovals').flatMap(({ ERC721 }) => ERC721)).not.toHaveLength(0);
  expect(
    new Set(
      of('nftTokenApprovals')
        .flat()
        .map((each) => [each.approvedAll, each.tokenContractType].join()),
    ),
  ).toEqual(new Set(['false,ERC721', 'true,ERC721', 'true,ERC1155']));
  // Each of the two successful calls to the mover makes eight internal transactions: four
  // transfers, three creations and one selfdestruct.
  expect(views.flatMap(({ txsInternal }) => txsInternal)).toHaveLength(2 * 8);
});

test('internal transactions equal the changes of balances', async () => {
  const seen = views.find(({ txsInternal }) => txsInternal.length > 0)!;
  const balances = [seen.number - 1, seen.number].map((blockNumber) =>
    chain.getBalance({ address: heir, blockNumber: BigInt(blockNumber) }),
  );
  const [before, after] = await Promise.all(balances);
  const { body } = await requestOf('everything', seen.number, true);
  const { txsInternal } = JSON.parse(body) as EvmWebhook;
  const received = txsInternal
    .filter(({ to }) => to === heir)
    .reduce((sum, { value }) => sum + BigInt(value!), 0n);
  expect(received).toBe(after! - before!);
  expect(received).toBe(1n + 4n + 6n + 11n);
});

test('a stream of everything receives every record, field by field', async () => {
  for (const seen of views) {
    await expectWebhooks('everything', seen, await expectedOf('everything', seen, seen));
  }
});

test('--omit-recent-fields omits the fields that hosted bodies have since 2025, nothing else', async () => {
  const RECENT = new Set(['triggered_by', 'transactionFee']);
  for (const { number } of views) {
    for (const confirmed of [false, true]) {
      const { body } = await requestOf('everything', number, confirmed);
      const { streamId, tag } = { streamId: streams.get('brief')!.id, tag: 'brief' };
      const expected = JSON.stringify({ ...JSON.parse(body), streamId, tag }, (key, value) =>
        RECENT.has(key) ? undefined : (value as unknown),
      );
      expect((await requestOf('brief', number, confirmed)).body).toBe(expected);
    }
  }
});

test('a stream of one event at all addresses receives its logs with their transactions', async () => {
  const TRANSFER = encodeEventTopics({ abi: crier.abi, eventName: 'Transfer' })[0];
  let webhooks = 0;
  for (const seen of views) {
    // Streams match the event by its topics alone, so logs that cannot be decoded match as well.
    const logs = seen.logs.filter(
      ({ topic0, topic2, topic3 }) => topic0 === TRANSFER && topic2 !== null && topic3 === null,
    );
    if (logs.length === 0) continue;
    webhooks++;
    const hashes = new Set(logs.map(({ transactionHash }) => transactionHash));
    const records = {
      logs,
      txs: seen.txs.filter(({ hash }) => hashes.has(hash)),
      txsInternal: seen.txsInternal.filter((each) => hashes.has(each.transactionHash)),
    };
    await expectWebhooks('one event', seen, await expectedOf('one event', seen, records));
  }
  expect(webhooks).toBeGreaterThan(3);
});

const BALANCES = [
  { type: 'internalTx', selectors: ['$to'] },
  { type: 'tx', selectors: ['$toAddress', '$fromAddress'] },
  { type: 'erc20transfer', selectors: ['$contract', '$to'] },
  { type: 'erc20approval', selectors: ['$spender'] },
  { type: 'nfttransfer', selectors: ['$operator', '$to'] },
  { type: 'log', selectors: ['$address'] },
] satisfies CreateEvmStream['getNativeBalances'];

function triggersOf({ erc20, erc721 }: Contracts): StreamTrigger[] {
  const balanceOf = view(sluiceToken.abi, 'balanceOf');
  return [
    { type: 'tx', contractAddress: erc20, functionAbi: balanceOf, inputs: ['$fromAddress'] },
    {
      type: 'log',
      contractAddress: erc721,
      functionAbi: view(sluiceCollectible.abi, 'lastTokenId'),
    },
    {
      type: 'erc20transfer',
      contractAddress: '$contract',
      functionAbi: balanceOf,
      inputs: ['$to'],
    },
    { type: 'erc20transfer', contractAddress: erc20, functionAbi: balanceOf, inputs: ['$from'] },
    {
      type: 'erc20approval',
      contractAddress: '$contract',
      functionAbi: view(sluiceToken.abi, 'allowance'),
      inputs: ['$owner', '$spender'],
    },
    {
      type: 'nfttransfer',
      contractAddress: erc721,
      functionAbi: view(sluiceCollectible.abi, 'isApprovedForAll'),
      inputs: ['$from', '$to'],
    },
  ];
}

/**
 * Makes a call at block `number` with viem, and returns the result in the form of a trigger result.
 */
async function ask(
  address: string,
  abi: Abi,
  functionName: string,
  args: unknown[],
  number: number,
): Promise<WebhookTrigger> {
  const value = await chain.readContract({
    address: address as `0x${string}`,
    abi,
    functionName,
    args,
    blockNumber: BigInt(number),
  });
  return { name: 'output1', value: typeof value === 'boolean' ? value : String(value) };
}

test('triggers and balances equal the results of the same calls at that block', async () => {
  const { erc20, erc721 } = contracts;
  for (const seen of views) {
    const { number } = seen;
    const tokens = (who: string, at: string = erc20) =>
      ask(at, sluiceToken.abi, 'balanceOf', [who], number);
    const expected = await expectedOf('enriched', seen, seen);
    // Two of the contracts emit transfers but are not tokens.
    const canRun = ({ contract }: { contract: string }) =>
      contract !== contracts.crier && contract !== contracts.mover;
    for (const tx of expected.txs) tx.triggers = [await tokens(tx.fromAddress)];
    for (const log of expected.logs) {
      log.triggers = [await ask(erc721, sluiceCollectible.abi, 'lastTokenId', [], number)];
    }
    for (const each of expected.erc20Transfers) {
      const first = canRun(each)
        ? await tokens(each.to, each.contract)
        : { name: 'error', value: 'execution reverted' };
      each.triggers = [first, await tokens(each.from)];
    }
    for (const each of expected.erc20Approvals) {
      const { contract, owner, spender } = each;
      each.triggers = [await ask(contract, sluiceToken.abi, 'allowance', [owner, spender], number)];
    }
    for (const each of expected.nftTransfers) {
      const inputs = [each.from, each.to];
      each.triggers = [
        await ask(erc721, sluiceCollectible.abi, 'isApprovedForAll', inputs, number),
      ];
    }
    const whose = [
      ...expected.txsInternal.map(({ to }) => to),
      ...expected.txs.flatMap((tx) => [tx.toAddress, tx.fromAddress]),
      ...expected.erc20Transfers.flatMap(({ contract, to }) => [contract, to]),
      ...expected.erc20Approvals.map(({ spender }) => spender),
      ...expected.nftTransfers.flatMap(({ operator, to }) => [operator, to]),
      ...expected.logs.map(({ address }) => address),
    ].filter((address) => address !== null);
    for (const address of new Set(whose)) {
      const balance = await chain.getBalance({
        address: address as `0x${string}`,
        blockNumber: BigInt(number),
      });
      expected.nativeBalances.push({ address, balance: `${balance}` });
    }
    await expectWebhooks('enriched', seen, expected);
  }
});

// Receivers

const LISTS = [
  'logs',
  'txs',
  'txsInternal',
  'erc20Transfers',
  'erc20Approvals',
  'nftTransfers',
  'nativeBalances',
] as const;

describe('every body', () => {
  const bodies = () => sink.requests.map(({ body }) => JSON.parse(body) as EvmWebhook);

  beforeAll(async () => {
    for (const tag of ['everything', 'enriched']) {
      for (const { number } of views) await requestOf(tag, number, true);
    }
  });

  test('is parsed by the result class of the official client', () => {
    for (const webhook of bodies()) {
      const result = EvmStreamResult.create(webhook);
      const json = JSON.parse(JSON.stringify(result.toJSON())) as Record<string, unknown>;
      for (const list of LISTS) expect(json[list]).toHaveLength(webhook[list].length);
      expect(json['ntfTokenApprovals']).toHaveLength(webhook.nftTokenApprovals.length);
      expect(json['nftApprovals']).toMatchObject({
        ERC721: { length: webhook.nftApprovals.ERC721.length },
        ERC1155: { length: webhook.nftApprovals.ERC1155.length },
      });
      const { streamId, tag, retries, confirmed } = webhook;
      expect(json).toMatchObject({ streamId, tag, retries, confirmed, abi: webhook.abi });
      // The result class converts some strings to numbers and changes the casing of addresses.
      expect(json['logs']).toMatchObject(
        webhook.logs.map(({ logIndex, transactionHash, data, topic0, topic3 }) => ({
          logIndex: Number(logIndex),
          transactionHash,
          data,
          ...(topic0 !== null && { topic0 }),
          ...(topic3 !== null && { topic3 }),
        })),
      );
      expect(json['txs']).toMatchObject(
        webhook.txs.map(({ hash, value, nonce, type, receiptStatus }) => ({
          hash,
          value,
          nonce,
          type: Number(type),
          receiptStatus: Number(receiptStatus),
        })),
      );
      expect(json['erc20Transfers']).toMatchObject(
        webhook.erc20Transfers.map(({ value, tokenName, tokenSymbol }) => ({
          value,
          tokenName,
          tokenSymbol,
        })),
      );
      expect(json['nftTransfers']).toMatchObject(
        webhook.nftTransfers.map(({ tokenId, amount }) => ({ tokenId, amount: Number(amount) })),
      );
    }
  });

  test('is unwrapped by the kit, which decodes its logs like viem', () => {
    let decoded = 0;
    for (const { body, headers } of sink.requests) {
      const { webhook, isTest } = unwrap({ body, headers, secret: SECRET });
      expect(JSON.stringify(webhook) === body, 'a fixed point').toBe(true);
      if (isTest) continue;
      const read = decodeLogs(webhook);
      const viems = webhook.logs.flatMap((log) => {
        const event = readEvent(webhook.abi as unknown as Abi, log);
        return event === undefined ? [] : { ...event, logIndex: Number(log.logIndex) };
      });
      expect(read.decoded.map(({ name, logIndex }) => [name, logIndex])).toEqual(
        viems.map(({ eventName, logIndex }) => [eventName, logIndex]),
      );
      for (const [n, { args }] of read.decoded.entries()) {
        expect(flat(args)).toEqual(flat(viems[n]!.args as unknown as object));
        decoded++;
      }
      expect(read.decoded.length + read.undecoded.length).toBe(webhook.logs.length);
    }
    expect(decoded).toBeGreaterThan(50);
  });
});

/** Converts arguments to lowercase strings, because viem adds checksums to addresses. */
const flat = (args: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, String(value).toLowerCase()]),
  );
