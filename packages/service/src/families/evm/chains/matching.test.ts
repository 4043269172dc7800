/** Tests that no webhook exceeds the size limit, whatever its block contains. */
import { DEFAULT_MAX_WEBHOOK_BYTES, type EvmWebhook } from '@sluice/kit/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEnrich } from '../enrich/enrich.ts';
import type { EvmBlock, EvmLog } from '../match/block.ts';
import { createEvmMatching } from './matching.ts';
import { createLog } from '../../../base/log.ts';
import { joinBody } from '../../../store/blocks/body.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
} from '../../../store/streams/contract.ts';
import type { NewMatch } from '../../../store/blocks/contract.ts';
import type { Store } from '../../../store/store.ts';

const CHAIN = '0x1';
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const word = (n: number): string => n.toString(16).padStart(64, '0');
const topic = (n: number): string => `0x${word(n)}`;

const record: EvmStreamRecord = {
  family: 'evm',
  id: 'stream',
  tag: 'tag 😀',
  description: '',
  webhookUrl: '',
  chainIds: [CHAIN],
  options: { ...DEFAULT_OPTIONS, allAddresses: true, includeContractLogs: true },
  ...DEFAULT_DELIVERY,
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
};

const blockOf = (logs: Partial<EvmLog>[]): EvmBlock => ({
  number: 1,
  hash: topic(1),
  parentHash: topic(0),
  timestamp: 1,
  transactions: [],
  internalTransactions: [],
  logs: logs.map((log, logIndex) => ({
    logIndex,
    transactionIndex: 0,
    transactionHash: topic(7),
    address: `0x${'70'.repeat(20)}`,
    topics: [topic(9)],
    data: '0x',
    ...log,
  })),
});

const match = async (
  block: EvmBlock,
  maxWebhookBytes: number,
  own: number | null = null,
  stream = record,
  addresses: readonly string[] = [],
): Promise<readonly NewMatch[]> => {
  const unused = {} as Store;
  const enrich = createEnrich({
    chain: CHAIN,
    store: unused,
    state: {
      call: () => Promise.resolve([]),
      balances: () => Promise.resolve([]),
      failures: () => Promise.resolve([]),
      isGone: () => false,
    },
    log: createLog(() => {}),
    maxWebhookBytes,
  });
  const matching = createEvmMatching({
    store: unused,
    enrichOf: () => enrich,
    spamLists: {},
    omitRecentFields: false,
    maxWebhookBytes,
  });
  const limited = { ...stream, options: { ...stream.options, maxWebhookBytes: own } };
  return (await matching.try(CHAIN, limited, addresses)).match(block);
};

/** Returns the body in its longest form: as a removal webhook with a three-digit `retries`. */
const bodyOf = (each: NewMatch): string => joinBody({ ...each, phase: 'removed', retries: 999 });
const webhookOf = (each: NewMatch) => JSON.parse(bodyOf(each)) as EvmWebhook;

const LONGEST = `"label":"${'😀'.repeat(64)}"`;

const batchOf = (words: readonly number[], more = ''): Partial<EvmLog> => ({
  topics: [TRANSFER_BATCH, topic(1), topic(2), topic(3)],
  data: `0x${words.map(word).join('')}${more}`,
});

describe('webhooks of a block', () => {
  test('property: none exceeds the limit, and each log is in one or set aside', async () => {
    const items = fc.nat({ max: 12 });
    const log = fc.record({
      transactionIndex: fc.nat({ max: 3 }),
      bytes: fc.nat({ max: 2_000 }),
      items,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(log, { maxLength: 25 }),
        fc.integer({ min: 2_000, max: 9_000 }),
        fc.boolean(),
        async (logs, limit, isOwn) => {
          const sorted = logs.toSorted((a, b) => a.transactionIndex - b.transactionIndex);
          const block = blockOf(
            sorted.map(({ transactionIndex, bytes, items: n }) => ({
              transactionIndex,
              transactionHash: topic(transactionIndex),
              ...(n === 0
                ? { data: `0x${'ab'.repeat(bytes)}` }
                : batchOf([
                    0x40,
                    0x60 + 32 * n,
                    n,
                    ...Array.from({ length: n }, () => 1),
                    n,
                    ...Array.from({ length: n }, () => 2),
                  ])),
            })),
          );
          const matches = isOwn
            ? await match(block, DEFAULT_MAX_WEBHOOK_BYTES, limit)
            : await match(block, limit, DEFAULT_MAX_WEBHOOK_BYTES);
          expect(matches.reduce((sum, each) => sum + each.logs, 0)).toBe(logs.length);
          const sent = matches.filter(({ setAside }) => setAside === null);
          expect(sent.flatMap((each) => webhookOf(each).logs.length)).toEqual(
            sent.map((each) => each.logs),
          );
          for (const [part, each] of matches.entries()) {
            expect(Buffer.byteLength(bodyOf(each))).toBeLessThanOrEqual(limit);
            expect(each).toMatchObject({ part, parts: matches.length });
            if (each.setAside !== null) expect(each.logs).toBe(1);
          }
        },
      ),
    );
  });

  test('property: labels of matched addresses fit into the limit, whatever their length', async () => {
    const own = {
      ...record,
      options: { ...record.options, allAddresses: false, includeMatched: true },
    };
    const addressOf = (n: number): string => `0x${word(n).slice(24)}`;
    const emitters = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(emitters, fc.integer({ min: 2_500, max: 9_000 }), async (numbers, limit) => {
        const block = blockOf(
          numbers.map((n, at) => ({ address: addressOf(n), transactionIndex: at })),
        );
        const matches = await match(block, limit, null, own, numbers.map(addressOf));
        for (const each of matches) {
          const { matched, logs } = webhookOf(each);
          expect(matched!.map(({ address }) => address)).toEqual([
            ...new Set(logs.map(({ address }) => address)),
          ]);
          const longest = { ...each, bodyTail: each.bodyTail.replaceAll('"label":null', LONGEST) };
          expect(Buffer.byteLength(bodyOf(longest))).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('two arrays at one offset of a 1 MB log are not decoded', async () => {
    const items = 16_000;
    const [one, ...others] = await match(
      blockOf([batchOf([0x40, 0x40, items], word(5).repeat(items * 2 + 1))]),
      DEFAULT_MAX_WEBHOOK_BYTES,
    );
    expect(others).toEqual([]);
    expect(webhookOf(one!)).toMatchObject({ logs: [{}], nftTransfers: [] });
  });

  test('a record that is too large by itself is set aside with the reason', async () => {
    const large = { data: `0x${'00'.repeat(3_000)}` };
    const matches = await match(blockOf([{}, large, {}]), 4_096);
    expect(matches.map(({ setAside, logs }) => [setAside === null, logs])).toEqual([
      [true, 1],
      [false, 1],
      [true, 1],
    ]);
    expect(matches[1]).toMatchObject({
      transactionHashes: [topic(7)],
      enrichment: null,
      setAside: expect.stringMatching(
        /^log 1 of transaction 0x0+7 needs a webhook of at least \d+ bytes, but --max-webhook-bytes is 4096/,
      ) as string,
    });
    expect(webhookOf(matches[1]!).logs).toEqual([]);
    expect((await match(blockOf([large]), 8_192, 4_096))[0]!.setAside).toContain(
      "but the stream's maxWebhookBytes is 4096",
    );
  });
});
