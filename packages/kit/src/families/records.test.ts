import * as fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, erc20Abi, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import type {
  AbiItem,
  AptosWebhook,
  EvmWebhook,
  WebhookErc20Transfer,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookNftTransfer,
  WebhookTransaction,
  WebhookCall,
  WebhookRead,
} from '../contract/shapes.generated.ts';
import { TEST_WEBHOOK } from '../families/evm/testWebhook.ts';
import { isSluiceError } from '../errors.ts';
import { cachedNames, collectionNameOf, MAX_CACHED_NAMES } from '../records/collectionName.ts';
import { columnNames } from '../records/columns.ts';
import type { CompatibleRecords } from '../records/compatibleRows.ts';
import { sha256Hex } from '../records/ids.ts';
import type { Records } from '../records/rows.ts';
import { toRecords, toRemovedIds } from './records.ts';
import { sampleAptosWebhook, sampleWebhook } from '../webhooks/testing.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const OTHER_HASH = `0x${'cd'.repeat(32)}`;
const TOKEN = '0x514910771af9ca656af840dff83e8264ecf986ca';
const FROM = '0xdfd5293d8e347dfe59e90efd55b2956a1343963d';
const TO = '0xa68b437b38bfa3dad21915fd6513e5d8fda77574';

const webhookOf = (parts: Partial<EvmWebhook>): EvmWebhook => ({
  ...TEST_WEBHOOK,
  chainId: '0x89',
  tag: 'my-token',
  block: { number: '16225662', hash: OTHER_HASH, timestamp: '1671536351' },
  ...parts,
});

const transferLog: WebhookLog = {
  logIndex: '152',
  transactionHash: HASH,
  address: TOKEN,
  data: encodeAbiParameters([{ type: 'uint256' }], [2n ** 255n]),
  topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  topic1: `0x${FROM.slice(2).padStart(64, '0')}`,
  topic2: `0x${TO.slice(2).padStart(64, '0')}`,
  topic3: null,
};

const internalTx: WebhookInternalTransaction = {
  from: FROM,
  to: TO,
  value: '5',
  gas: '21000',
  transactionHash: HASH,
  internalTransactionIndex: '0',
};

const tx: WebhookTransaction = {
  hash: HASH,
  gas: '42000',
  gasPrice: '41730818',
  nonce: '102133',
  input: '0x',
  transactionIndex: '42',
  fromAddress: FROM,
  toAddress: null,
  value: null,
  type: null,
  v: '45',
  r: '9',
  s: '2',
  receiptCumulativeGasUsed: '7724173',
  receiptGasUsed: '21000',
  receiptContractAddress: TO,
  receiptRoot: null,
  receiptStatus: '1',
};

const erc20Transfer: WebhookErc20Transfer = {
  transactionHash: HASH,
  logIndex: '152',
  contract: TOKEN,
  from: FROM,
  to: TO,
  value: '4856560000000000000000',
  tokenName: '',
  tokenSymbol: '',
  tokenDecimals: '',
};

const nftTransfer: WebhookNftTransfer = {
  operator: FROM,
  from: FROM,
  to: TO,
  tokenId: '3',
  amount: '7',
  transactionHash: HASH,
  logIndex: '193',
  contract: TOKEN,
  tokenName: '',
  tokenSymbol: '',
  tokenContractType: 'ERC1155',
};

/** Encodes an event with viem, and returns the log and its ABI. */
function logOf(declaration: string, args: readonly unknown[]): { log: WebhookLog; abi: AbiItem[] } {
  const abi = parseAbi([declaration] as readonly string[]) as unknown as AbiItem[];
  const inputs = abi[0]?.inputs ?? [];
  const indexed = inputs.flatMap((input, at) => (input.indexed ? [args[at]] : []));
  const topics = encodeEventTopics({ abi, args: indexed } as never) as string[];
  const data = encodeAbiParameters(
    inputs.filter((input) => !input.indexed) as never,
    inputs.flatMap((input, at) => (input.indexed ? [] : [args[at]])) as never,
  );
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = topics;
  return { abi, log: { ...transferLog, data, topic0, topic1, topic2, topic3 } };
}

const rowOf = (declaration: string, args: readonly unknown[], ids?: 'compatible') => {
  const { log, abi } = logOf(declaration, args);
  return toRecords(webhookOf({ logs: [log], abi }), { ids }).logs[0];
};

describe('toRecords', () => {
  it('turns a decoded log into a row with its parameters as columns', () => {
    const { logs, undecodedLogs, collectionName } = toRecords(
      webhookOf({ logs: [transferLog], abi: erc20Abi as unknown as AbiItem[], confirmed: false }),
    );
    expect(collectionName).toBe('MyToken');
    expect(undecodedLogs).toEqual([]);
    expect(logs).toEqual([
      {
        id: sha256Hex(`137;${HASH};log;152`),
        name: 'Transfer',
        logIndex: 152,
        transactionHash: HASH,
        address: TOKEN,
        chainId: 137,
        blockNumber: 16225662,
        blockHash: OTHER_HASH,
        blockTimestamp: 1671536351,
        confirmed: false,
        triggers: null,
        from: FROM,
        to: TO,
        value: String(2n ** 255n),
      },
    ]);
  });

  it('keeps logs that are not in the ABI, and decodes the others', () => {
    const foreign = { ...transferLog, topic0: OTHER_HASH, logIndex: '1' };
    const webhook = webhookOf({ logs: [foreign, transferLog, { ...foreign, logIndex: '153' }] });
    const { logs, undecodedLogs } = toRecords(webhook, { abi: erc20Abi });
    expect(logs.map((row) => row.logIndex)).toEqual([152]);
    expect(undecodedLogs.map((row) => [row.logIndex, row.reason])).toEqual([
      [1, 'unknown-event'],
      [153, 'unknown-event'],
    ]);
    expect(undecodedLogs[0]).toMatchObject({ topic0: OTHER_HASH, data: transferLog.data });

    const without = toRecords(webhook);
    expect(without.logs).toEqual([]);
    expect(without.undecodedLogs).toHaveLength(3);
    // The id of a log does not depend on whether the log is decoded.
    expect(without.undecodedLogs[1]?.id).toBe(logs[0]?.id);
  });

  it('skips invalid logs', () => {
    const logs = [null, 7, transferLog] as unknown as WebhookLog[];
    expect(toRecords(webhookOf({ logs }), { abi: erc20Abi })).toMatchObject({
      logs: [{ logIndex: 152 }],
      undecodedLogs: [],
    });
  });

  it('gives each parameter its own column', () => {
    expect(
      rowOf('event E(uint256 id, uint256 _id, uint256 __id, uint256 user, uint256 x)', [
        1n,
        2n,
        3n,
        4n,
        5n,
      ]),
    ).toMatchObject({ id: expect.stringMatching(/^0x/), _user: '4', x: '5' });
    expect(Object.fromEntries(columnNames(['id', '_id', '__id', 'name']))).toEqual({
      __id: '__id',
      _id: '___id',
      id: '____id',
      name: '_name',
    });
    const row = rowOf('event E(uint256 __proto__, uint256 id, uint256 constructor)', [1n, 2n, 3n]);
    expect(Object.getOwnPropertyDescriptor(row, '__proto__')?.value).toBe('1');
    expect(row).toMatchObject({ __id: '2', constructor: '3' });
  });

  it('writes values as text: lists as JSON, or like the hosted SDK', () => {
    const declaration =
      'event E(bool b, int8 i, bytes4 s, address a, (address who, uint256[] n)[] t, string indexed h)';
    const args = [true, -3, '0xabcdef01', TO, [{ who: TOKEN, n: [1n, 2n] }], 'text'];
    expect(rowOf(declaration, args)).toMatchObject({
      b: 'true',
      i: '-3',
      s: '0xabcdef01',
      a: TO,
      t: `[{"who":"${TOKEN}","n":["1","2"]}]`,
      h: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(rowOf(declaration, args, 'compatible')).toMatchObject({
      a: TO,
      t: '0x514910771AF9Ca656af840dff83E8264EcF986CA,1,2',
    });
  });

  it('turns transactions and transfers into rows, with null for missing values', () => {
    const { txs, internalTxs, erc20Transfers } = toRecords(
      webhookOf({
        txs: [{ ...tx, triggers: [{ name: 'output1', value: '0' }] }],
        txsInternal: [{ ...internalTx, gas: null }],
        erc20Transfers: [erc20Transfer],
      }),
    );
    expect(txs[0]).toMatchObject({
      id: sha256Hex(`137;${HASH};tx;`),
      value: '0',
      type: null,
      toAddress: null,
      gasPrice: 41730818,
      triggers: [{ name: 'output1', value: '0' }],
    });
    expect(internalTxs[0]).toMatchObject({ hash: HASH, gas: 0, internalTransactionIndex: 0 });
    expect(erc20Transfers[0]).toMatchObject({ logIndex: 152, tokenDecimals: null });
  });

  it('gives internal transactions and batch entries distinct ids', () => {
    const { internalTransactionIndex: _, ...unnumbered } = internalTx;
    const webhook = webhookOf({
      txs: [tx],
      txsInternal: [internalTx, { ...internalTx, internalTransactionIndex: '1' }],
      nftTransfers: [nftTransfer, { ...nftTransfer, tokenId: '4' }, nftTransfer],
    });
    const old = webhookOf({ txsInternal: [unnumbered, unnumbered, unnumbered] });
    const { internalTxs, nftTransfers } = toRecords(webhook);
    expect(internalTxs.map(({ id }) => id)).toEqual(
      ['0', '1'].map((part) => sha256Hex(`137;${HASH};internalTx;;${part}`)),
    );
    expect(nftTransfers.map(({ id }) => id)).toEqual(
      ['3', '4', '3;1'].map((part) => sha256Hex(`137;${HASH};nftTransfer;193;${part}`)),
    );
    expect(distinct(idsOf(toRecords(webhook)))).toBe(6);
    expect(distinct(idsOf(toRecords(old)))).toBe(3);
    // As in the hosted SDK, a transaction and its internal transactions share an id, and so do the
    // entries of a batch.
    expect(distinct(idsOf(toRecords(webhook, { ids: 'compatible' })))).toBe(2);
  });

  it.each(['erc20-transfer', 'erc20-approval', 'erc721-transfer', 'nft-approval-for-all'] as const)(
    'writes compatible rows of %s like the hosted SDK',
    (kind) => {
      const webhook = sampleWebhook(kind);
      const ours = toRecords(webhook);
      const { collectionName, undecodedLogs, ...theirs } = toRecords(webhook, {
        ids: 'compatible',
      });
      expect({ collectionName, undecodedLogs: undecodedLogs.length }).toEqual({
        collectionName: ours.collectionName,
        undecodedLogs: 1,
      });
      const rows = Object.values(theirs).flat();
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ logIndex: '361' });
      expect(rows[0]).not.toHaveProperty('triggers');
    },
  );

  it('gives a token id the same row in any order of the batch', () => {
    const entries = ['1', '2', '3'].map((tokenId) => ({ ...nftTransfer, tokenId }));
    const ids = (nftTransfers: WebhookNftTransfer[]) =>
      new Map(
        toRecords(webhookOf({ nftTransfers })).nftTransfers.map((row) => [row.tokenId, row.id]),
      );
    expect(ids(entries.toReversed())).toEqual(ids(entries));
  });

  it('accepts bodies without a tag, and with null instead of lists', () => {
    const { confirmed, chainId, block } = webhookOf({});
    const nothing = { logs: null, txs: null, nftTokenApprovals: null, abi: null } as object;
    for (const tag of [null, undefined]) {
      const body = { confirmed, chainId, block, tag, txs: [tx] };
      expect(toRecords(body)).toMatchObject({
        collectionName: 'Tag_e3b0c442',
        txs: [{ hash: HASH }],
      });
      expect(toRecords({ confirmed, chainId, block, tag, ...nothing }).txs).toEqual([]);
    }
    const aptos = sampleAptosWebhook('coin-transfer');
    const { network, block: aptosBlock, transactions } = aptos;
    const body = { network, block: aptosBlock, transactions, tag: null, events: null } as never;
    const records = toRecords(body as AptosWebhook);
    expect(records).toMatchObject({
      collectionName: 'Tag_e3b0c442',
      coinTransfers: [],
      events: [],
    });
    expect(records.transactions).toEqual(toRecords(aptos).transactions);
  });

  it('replaces NUL in all texts of rows for a database, at any depth', () => {
    const abi = parseAbi(['event E(string a, (string b)[] c)']);
    const log = {
      ...transferLog,
      topic0: encodeEventTopics({ abi })[0] as string,
      topic1: null,
      topic2: null,
      data: encodeAbiParameters(abi[0].inputs, ['a\0b', [{ b: '\0' }]]),
      triggers: [{ name: 'output1', value: ['\0'] }],
    };
    const webhook = webhookOf({
      logs: [log],
      erc20Transfers: [{ ...erc20Transfer, tokenName: 'N\0' }],
    });
    const exact = toRecords(webhook, { abi });
    expect(exact.logs[0]).toMatchObject({ a: 'a\0b', c: '[{"b":"\\u0000"}]' });
    const { logs, erc20Transfers } = toRecords(webhook, { abi, text: 'database' });
    expect(logs[0]).toMatchObject({
      a: 'a\uFFFDb',
      c: '[{"b":"\uFFFD"}]',
      id: exact.logs[0]?.id,
      triggers: [{ name: 'output1', value: ['\uFFFD'] }],
    });
    expect(erc20Transfers[0]).toEqual({ ...exact.erc20Transfers[0], tokenName: 'N\uFFFD' });
    const stored = JSON.stringify(toRecords(webhook, { abi, text: 'database', ids: 'compatible' }));
    expect(stored).not.toContain('\\u0000');
  });

  it('reports logs that only strict decoding refuses', () => {
    const log = { ...transferLog, topic1: `0x${'1'.repeat(24)}${FROM.slice(2)}` };
    const webhook = webhookOf({ logs: [log] });
    expect(toRecords(webhook, { abi: erc20Abi }).logs).toMatchObject([{ from: FROM }]);
    const { undecodedLogs } = toRecords(webhook, { abi: erc20Abi, strict: true });
    expect(undecodedLogs).toMatchObject([{ reason: 'dirty' }]);
  });

  it('gives a range of tokens one row', () => {
    const range = { ...nftTransfer, tokenId: '0', toTokenId: '4999', amount: '5000' };
    const webhook = webhookOf({ nftTransfers: [range, nftTransfer] });
    expect(toRecords(webhook).nftTransfers).toMatchObject([
      { tokenId: '0', toTokenId: '4999', amount: '5000' },
      { toTokenId: null },
    ]);
    const [row] = toRecords(webhook, { ids: 'compatible' }).nftTransfers;
    expect(row).not.toHaveProperty('toTokenId');
  });

  it('treats an empty chainId as Ethereum', () => {
    const { txs } = toRecords(webhookOf({ chainId: '', txs: [tx] }));
    expect(txs[0]?.chainId).toBe(1);
    expect(txs[0]?.id).toBe(toRecords(webhookOf({ chainId: '0x1', txs: [tx] })).txs[0]?.id);
  });

  it('returns no rows for the test webhook or for absent lists', () => {
    const empty = { logs: [], undecodedLogs: [], txs: [], nftApprovals: [] };
    expect(toRecords(TEST_WEBHOOK)).toMatchObject(empty);
    const { confirmed, chainId, tag, block } = webhookOf({});
    expect(toRecords({ confirmed, chainId, tag, block })).toMatchObject(empty);
  });

  it.each([null, undefined, 'text', [], {}, { ...TEST_WEBHOOK, block: null }, { logs: [] }])(
    'rejects %j',
    (body) => {
      expect(() => toRecords(body as unknown as EvmWebhook)).toThrow(
        expect.toSatisfy((error) => isSluiceError(error) && error.code === 'invalid_webhook'),
      );
    },
  );
});

describe('ids', () => {
  const hash = fc.constantFrom(HASH, OTHER_HASH, HASH.toUpperCase().replace('0X', '0x'));
  const index = fc.nat({ max: 4 }).map(String);
  const body = fc
    .record({
      logs: fc.uniqueArray(fc.tuple(fc.constantFrom(HASH, OTHER_HASH), index), {
        selector: String,
      }),
      txs: fc.uniqueArray(fc.constantFrom(HASH, OTHER_HASH)),
      txsInternal: fc.array(fc.tuple(hash, fc.option(index, { nil: undefined }))),
      nftTransfers: fc.array(fc.tuple(hash, index, index)),
    })
    .map(({ logs, txs, txsInternal, nftTransfers }) =>
      webhookOf({
        logs: logs.map(([transactionHash, logIndex]) => ({
          ...transferLog,
          transactionHash,
          logIndex,
        })),
        erc20Transfers: logs.map(([transactionHash, logIndex]) => ({
          ...erc20Transfer,
          transactionHash,
          logIndex,
        })),
        txs: txs.map((each) => ({ ...tx, hash: each })),
        txsInternal: txsInternal.map(([transactionHash, at]) => {
          const { internalTransactionIndex: _, ...rest } = { ...internalTx, transactionHash };
          return at === undefined ? rest : { ...rest, internalTransactionIndex: at };
        }),
        nftTransfers: nftTransfers.map(([transactionHash, logIndex, tokenId]) => ({
          ...nftTransfer,
          transactionHash,
          logIndex,
          tokenId,
        })),
      }),
    );

  it('are unique in a webhook', () => {
    fc.assert(
      fc.property(body, fc.boolean(), (webhook, decodes) => {
        const ids = idsOf(toRecords(webhook, { abi: decodes ? erc20Abi : [] }));
        expect(distinct(ids)).toBe(ids.length);
      }),
    );
  });

  it('are the same in every delivery, unconfirmed or confirmed, in both modes', () => {
    fc.assert(
      fc.property(
        body,
        fc.constantFrom('distinct', 'compatible'),
        fc.nat(),
        (webhook, ids, retries) => {
          const first = toRecords({ ...webhook, confirmed: false }, { ids });
          const again = toRecords({ ...webhook, confirmed: true, retries } as EvmWebhook, { ids });
          expect(idsOf(again)).toEqual(idsOf(first));
          expect(again.txs.every((row) => row.confirmed)).toBe(true);
          expect(first.txs.some((row) => row.confirmed)).toBe(false);
        },
      ),
    );
  });
});

describe('collection names', () => {
  it.each([
    ['my-cool_tag 9é', 'MyCool_tag9'],
    ['Bored Ape', 'BoredApe'],
    ['--x--', 'X'],
    ['constructor', 'Constructor'],
    ['__proto__', '__proto__'],
  ])('%s is %s', (tag, name) => {
    expect(collectionNameOf(tag)).toBe(name);
  });

  it('exist for tags without Latin letters', () => {
    expect(collectionNameOf('')).toMatch(/^Tag_[0-9a-f]{8}$/);
    expect(collectionNameOf('日本')).not.toBe(collectionNameOf('韓国'));
  });

  it('are cached for a limited number of tags', () => {
    const tags = Array.from({ length: 1000 }, (_, at) => `tag-${at}`);
    expect(tags.map(collectionNameOf)).toEqual(tags.map((_, at) => `Tag${at}`));
    expect(cachedNames.size).toBe(MAX_CACHED_NAMES);
    expect(collectionNameOf('tag-0')).toBe('Tag0');
  });
});

function idsOf(records: Records | CompatibleRecords): string[] {
  const { collectionName: _, ...kinds } = records;
  return Object.values(kinds).flatMap((rows: readonly { id: string }[]) =>
    rows.map(({ id }) => id),
  );
}

describe('reads', () => {
  it('become rows with an id for each value, the same in every delivery', () => {
    const webhook = sampleWebhook('read');
    const [read] = webhook.reads as [WebhookRead];
    const called: WebhookRead = {
      contract: read.balance!,
      function: 'pair(uint8)',
      arguments: ['1'],
      when: 'changes',
      decimals: null,
      before: null,
      after: { block: read.after.block, value: ['1', true] },
    };
    const rows = toRecords({ ...webhook, reads: [read, called] }).reads;
    expect(rows).toMatchObject([
      {
        balance: read.balance,
        account: read.of,
        condition: '{"below":"1000"}',
        decimals: 6,
        value: '750000000',
        valueBefore: '1250000000',
        blockNumberBefore: Number(read.before!.block),
      },
      { function: 'pair(uint8)', arguments: '["1"]', value: '["1",true]', valueBefore: null },
    ]);
    const ids = rows.map(({ id }) => id);
    expect(distinct(ids)).toBe(2);
    const again = toRecords({ ...webhook, confirmed: true, reads: [read] }).reads;
    expect(again.map(({ id }) => id)).toEqual(ids.slice(0, 1));
  });
});

it('gives native balances a row for each account and block', () => {
  const nativeBalances = [FROM, OTHER_HASH.slice(0, 42)].map((address) => ({
    address,
    balance: '7',
  }));
  const rows = toRecords(webhookOf({ nativeBalances })).nativeBalances;
  expect(rows).toMatchObject([{ account: FROM, balance: '7', confirmed: true }, {}]);
  const { block } = webhookOf({});
  const later = webhookOf({ nativeBalances, block: { ...block, hash: '0x01' } });
  expect(distinct([...rows, ...toRecords(later).nativeBalances].map(({ id }) => id))).toBe(4);
});

describe('calls', () => {
  it('become rows with an id for each place in the tree of calls', () => {
    const webhook = sampleWebhook('failed-call');
    const [call] = webhook.calls as [WebhookCall];
    const calls = [call, { ...call, traceAddress: [0, 1] }, { ...call, traceAddress: [0] }];
    const rows = toRecords({ ...webhook, calls }).calls;
    expect(distinct(rows.map(({ id }) => id))).toBe(3);
    expect(rows[1]).toMatchObject({
      traceAddress: '0,1',
      function: 'transfer(address,uint256)',
      status: 'failed',
      reason: 'ERC20: transfer amount exceeds balance',
      arguments: JSON.stringify(call.arguments),
    });
    expect(toRecords(webhook, { ids: 'compatible' })).not.toHaveProperty('calls');
  });
});

const distinct = (values: readonly unknown[]): number => new Set(values).size;

describe('a removal webhook', () => {
  const KINDS = [
    'erc20-transfer',
    'erc20-approval',
    'erc721-transfer',
    'erc1155-batch-transfer',
    'nft-approval-for-all',
    'native-transfer',
    'internal-transfer',
  ] as const;

  it('has the row ids of calls', () => {
    const { confirmed: _, ...rest } = sampleWebhook('call');
    const rows = toRecords(sampleWebhook('call')).calls;
    expect(toRemovedIds({ confirmed: false, removed: true, ...rest }).calls).toEqual(
      rows.map(({ id }) => id),
    );
  });

  it.each(KINDS.flatMap((kind) => [[kind, 'distinct'] as const, [kind, 'compatible'] as const]))(
    'has the row ids of %s, in %s form',
    (kind, ids) => {
      const delivered = sampleWebhook(kind);
      const { confirmed: _, ...rest } = delivered;
      const options = { ids, abi: erc20Abi as readonly AbiItem[] };
      const { collectionName, blockHash, ...removed } = toRemovedIds(
        { confirmed: false, removed: true, ...rest },
        options,
      );
      const { collectionName: name, ...rows } = toRecords(delivered, options);
      expect([collectionName, blockHash]).toEqual([name, delivered.block.hash]);
      const written = Object.entries(rows).map(([of, all]) => [
        of,
        [...new Set((all as { id: string }[]).map(({ id }) => id))],
      ]);
      const added = { calls: [], reads: [], nativeBalances: [] };
      expect({ ...added, ...Object.fromEntries(written) }).toEqual(removed);
      expect(Object.values(removed).flat().length).toBeGreaterThan(0);
    },
  );

  it('makes no rows, and no other webhook removes any', () => {
    const webhook = sampleWebhook('erc20-transfer');
    const removed = { ...webhook, confirmed: false, removed: true } as const;
    for (const [act, message] of [
      [() => toRecords(removed), /is a removal webhook/],
      [() => toRemovedIds(webhook), /not a removal webhook/],
      [() => toRemovedIds({} as never), /Cannot make records/],
    ] as const) {
      let thrown: unknown;
      try {
        act();
      } catch (error) {
        thrown = error;
      }
      expect(isSluiceError(thrown, 'invalid_webhook')).toBe(true);
      expect(String(thrown)).toMatch(message);
    }
  });
});
