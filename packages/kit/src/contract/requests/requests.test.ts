import { erc20Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import { aptosAddressesSchema } from '../../families/aptos/schemas/addresses.ts';
import {
  createAptosStreamSchema,
  updateAptosStreamSchema,
} from '../../families/aptos/schemas/streams.ts';
import { evmAddressesSchema } from '../../families/evm/schemas/addresses.ts';
import { compatibleDryRunSchema, historicalJobSchema } from '../../families/evm/schemas/blocks.ts';
import {
  createEvmStreamSchema,
  updateEvmStreamSchema,
} from '../../families/evm/schemas/streams.ts';
import { listStreamsQuerySchema, streamStatusSchema } from './streams.ts';
import { listHistoryQuerySchema, listLogsQuerySchema, settingsSchema } from './account.ts';

const STREAM = { webhookUrl: 'http://localhost:1/hook', description: 'minimal', chainIds: ['0x1'] };
const OAUTH2 = { tokenUrl: 'https://a.example/token', clientId: 'a', clientSecret: 'b' };
const ADDRESS = '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e';

/** Returns the path and message of each problem in a stream with these fields. */
const problems = (fields: object) =>
  (createEvmStreamSchema.safeParse({ ...STREAM, ...fields }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')} ${message}`,
  );

describe('createEvmStreamSchema', () => {
  it('accepts a minimal stream', () => {
    expect(createEvmStreamSchema.parse(STREAM)).toEqual(STREAM);
  });

  it('treats null as absent, except where it is a value', () => {
    const unset = { topic0: null, abi: null, tag: null, demo: null, headers: null };
    expect(createEvmStreamSchema.parse({ ...STREAM, ...unset })).toEqual(STREAM);
    expect(updateEvmStreamSchema.parse({ ...unset, chainIds: null, maxInFlight: null })).toEqual({
      maxInFlight: null,
    });
  });

  it.each([
    ...['Host', 'content-type', 'traceparent', 'webhook-id', 'X-Signature', 'x-sluice-part'],
    ...['Proxy-Authorization', 'proxy-connection', 'HTTP2-Settings', 'via', 'max-forwards'],
  ])('rejects the header %s, which the service sets', (name) => {
    expect(problems({ headers: { [name]: 'x' } })).toEqual([
      expect.stringContaining(`headers.${name} `),
    ]);
    expect(problems({ headers: { [`my-${name}`]: 'x' } })).toEqual([]);
  });

  it('normalizes and deduplicates chain ids', () => {
    const chainIds = ['0X01', 1, '137', '0x89'];
    expect(createEvmStreamSchema.parse({ ...STREAM, chainIds }).chainIds).toEqual(['0x1', '0x89']);
  });

  it.each([
    ['topic0', 'events', (event: string): unknown => event],
    ['functions', 'functions', (called: string): unknown => called],
    ['advancedOptions', 'events and functions', (topic0: string): unknown => ({ topic0 })],
  ])('accepts signatures of at most 100,000 characters in total in %s', (field, what, toEntry) => {
    const events = Array.from({ length: 25 }, (_, n) => `${String(n).padStart(3_998, 'e')}()`);
    expect(problems({ [field]: events.map(toEntry) })).toEqual([]);
    expect(problems({ [field]: [...events, 'e'].map(toEntry) })).toEqual([
      `${field} should name ${what} of at most 100000 characters in total`,
    ]);
  });

  it('stores functions as text, with the names of ABI items', () => {
    const quote = {
      type: 'function',
      name: 'quote',
      inputs: [
        {
          name: 'path',
          type: 'tuple[]',
          components: [
            { name: 'token', type: 'address' },
            { name: '', type: 'uint24' },
          ],
        },
        { name: '', type: 'bytes' },
      ],
      outputs: [],
      stateMutability: 'view',
    };
    const functions = ['transfer(address,uint256)', '0xA9059CBB', '*', quote];
    expect(createEvmStreamSchema.parse({ ...STREAM, functions }).functions).toEqual([
      'transfer(address,uint256)',
      '0xA9059CBB',
      '*',
      'quote((address token, uint24)[] path, bytes)',
    ]);
    expect(problems({ functions: ['transfer', { ...quote, type: 'event' }, 7] })).toEqual([
      expect.stringMatching(/^functions\.0 should be a function signature/),
      expect.stringMatching(/^functions\.1 should be a function signature/),
      expect.stringMatching(/^functions\.2 should be a function signature/),
    ]);
  });

  it('accepts filters on an event or on a function, not on both', () => {
    const named = { function: 'transfer(address,uint256)', transactionStatus: 'failed' };
    expect(problems({ advancedOptions: [named] })).toEqual([]);
    expect(
      problems({
        advancedOptions: [
          { filter: {} },
          { ...named, topic0: 'Paid()' },
          { ...named, includeNativeTxs: true },
          { topic0: 'Paid()', transactionStatus: 'any' },
        ],
      }),
    ).toEqual([
      'advancedOptions.0.topic0 should name an event, unless function names a function',
      'advancedOptions.1.topic0 should name an event, unless function names a function',
      'advancedOptions.2.includeNativeTxs should be left out of the options of a function',
      'advancedOptions.3.transactionStatus should be left out of the options of an event',
    ]);
  });

  it('accepts complete ABIs and unnamed parameters', () => {
    const abi = [...erc20Abi, { type: 'event', name: 'A', inputs: [{ type: 'uint' }] }];
    expect(createEvmStreamSchema.parse({ ...STREAM, abi }).abi?.at(-1)).toEqual({
      type: 'event',
      name: 'A',
      inputs: [{ name: '', type: 'uint' }],
    });
  });

  it.each([
    [
      { webhookUrl: 'ftp://a' },
      'webhookUrl should be an absolute http:// or https:// URL, sluice://inbox/<name>, sluice://feed, nats:// or tls:// with a subject, amqp:// or amqps:// with a routing key, kafka:// or kafka+ssl:// with a topic, or postgres:// with a schema',
    ],
    [
      { webhookUrl: '/hook' },
      'webhookUrl should be an absolute http:// or https:// URL, sluice://inbox/<name>, sluice://feed, nats:// or tls:// with a subject, amqp:// or amqps:// with a routing key, kafka:// or kafka+ssl:// with a topic, or postgres:// with a schema',
    ],
    [{ chainIds: [] }, 'chainIds should name at least one chain, e.g. ["0x1"]'],
    [
      { chainIds: ['0x1', 'eth'] },
      'chainIds.1 should be a chain ID in hex, e.g. 0x1 (names such as eth are not chain IDs)',
    ],
    [
      { topic0: ['Transfer'] },
      'topic0.0 should be an event signature, e.g. Transfer(address,address,uint256), or its 32-byte hash',
    ],
    [
      { abi: 'Transfer' },
      'abi should be a list of ABI items, an artifact with one in abi, or its JSON text',
    ],
    [{ maxInFlight: 0 }, 'maxInFlight should be at least 1'],
    [{ maxInFlight: 65 }, 'maxInFlight should be at most 64'],
    [{ maxInFlight: 1.5 }, 'maxInFlight should be a whole number from 1 to 64, or null'],
    [{ maxWebhookBytes: 65_535 }, 'maxWebhookBytes should be at least 65536'],
    [{ maxWebhookBytes: 2 ** 31 }, 'maxWebhookBytes should be at most 1073741824'],
    [{ timeoutSeconds: 61 }, 'timeoutSeconds should be at most 60'],
    [
      { retries: 'never' },
      'retries should be standard, short, long, none, or up to 50 waits in seconds, each from 1 to 604800',
    ],
    [
      { maxWebhookBytes: '9000' },
      'maxWebhookBytes should be a whole number from 65536 to 1073741824, or null',
    ],
    [{ maxPerSecond: 0 }, 'maxPerSecond should be at least 0.01'],
    [
      { oauth2: { ...OAUTH2, tokenUrl: 'sluice://inbox/a' } },
      'oauth2.tokenUrl should be an absolute http:// or https:// URL without login and fragment',
    ],
    [
      { oauth2: { ...OAUTH2, tokenUrl: 'https://user@a.example/' } },
      'oauth2.tokenUrl should be an absolute http:// or https:// URL without login and fragment',
    ],
    [
      { oauth2: { ...OAUTH2, clientSecret: '' } },
      'oauth2.clientSecret should be printable ASCII, not empty',
    ],
    [{ oauth2: { ...OAUTH2, scope: 'a\nb' } }, 'oauth2.scope should be printable ASCII, not empty'],
    [{ maxPerSecond: '5' }, 'maxPerSecond should be a number from 0.01 to 10000, or null'],
  ])('rejects %j', (fields, problem) => {
    expect(problems(fields)).toEqual([problem]);
  });

  it('rejects unknown fields', () => {
    expect(problems({ chains: ['0x1'] })).toHaveLength(1);
  });

  it('leaves out items of an ABI that have no certain meaning', () => {
    const abi = JSON.stringify({
      abi: [...erc20Abi, { type: 'event', name: 'A', inputs: 7 }, null],
    });
    expect(createEvmStreamSchema.parse({ ...STREAM, abi }).abi).toHaveLength(erc20Abi.length);
  });

  it('limits the events of an ABI, and keeps other items only within these limits', () => {
    const event = { type: 'event', name: 'A', inputs: [] };
    const action = { ...event, type: 'function' };
    const large = { ...event, inputs: Array.from({ length: 5_000 }, () => ({ type: 'bool' })) };
    const many = (item: object) => Array.from({ length: 1_000 }, () => item);
    const lengthOf = (abi: object[]) => createEvmStreamSchema.parse({ ...STREAM, abi }).abi?.length;
    expect(lengthOf([...many(action)])).toBe(1_000);
    expect(lengthOf([...many(action), event])).toBe(1);
    expect(lengthOf([large, { ...large, type: 'function' }])).toBe(1);
    expect(problems({ abi: [...many(event), event] })).toEqual([
      'abi should have at most 1000 events',
    ]);
    expect(problems({ abi: [large, { ...event, inputs: [{ type: 'bool' }] }] })).toEqual([
      'abi should have at most 5000 inputs and components of events',
    ]);
  });
});

describe('the other schemas', () => {
  it('an update may have any subset of the fields', () => {
    expect(updateEvmStreamSchema.parse({})).toEqual({});
    expect(updateEvmStreamSchema.parse({ chainIds: [10] })).toEqual({ chainIds: ['0xa'] });
    expect(updateEvmStreamSchema.safeParse({ chainIds: [] }).success).toBe(false);
  });

  it('addresses become lowercase, single or in a list', () => {
    const upper = ADDRESS.toUpperCase();
    expect(evmAddressesSchema.parse({ address: upper })).toEqual({ address: ADDRESS });
    expect(evmAddressesSchema.parse({ address: [upper] })).toEqual({ address: [ADDRESS] });
    expect(evmAddressesSchema.safeParse({ address: [] }).success).toBe(false);
    expect(evmAddressesSchema.safeParse({ address: '0x1' }).success).toBe(false);
  });

  it('a limit is an integer from 1 to 100, default 100', () => {
    expect(listStreamsQuerySchema.parse({})).toEqual({ limit: 100 });
    expect(listStreamsQuerySchema.parse({ limit: '7', cursor: 'c' })).toEqual({
      limit: 7,
      cursor: 'c',
    });
    for (const limit of ['0', '101', '1.5', 'x', '']) {
      expect(listStreamsQuerySchema.safeParse({ limit }).success).toBe(false);
    }
  });

  it('only a status that a user may set is accepted', () => {
    expect(streamStatusSchema.safeParse({ status: 'paused' }).success).toBe(true);
    expect(streamStatusSchema.safeParse({ status: 'terminated' }).success).toBe(false);
  });
});

describe('Aptos streams', () => {
  const APTOS = { webhookUrl: 'http://localhost:1/hook', description: '', tag: 'a' };
  const messages = (fields: object) =>
    createAptosStreamSchema
      .safeParse({ ...APTOS, ...fields })
      .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

  it('may name networks by chain id', () => {
    const stream = { ...APTOS, network: ['1', 'mainnet', 'testnet'] };
    expect(createAptosStreamSchema.parse(stream).network).toEqual(['mainnet', 'testnet']);
    expect(updateAptosStreamSchema.parse({})).toEqual({});
  });

  it('may have Move paths, with or without type arguments', () => {
    const events = ['0x1::coin::WithdrawEvent', '0x1::coin::Pair<0x1::a::B, u8>'];
    const stream = { ...APTOS, network: ['devnet'], events, functions: null };
    expect(createAptosStreamSchema.parse(stream)).toEqual({ ...stream, functions: undefined });
  });

  it.each([
    [{ network: [] }, 'network should name at least one network, e.g. ["mainnet"]'],
    [{ network: ['solana'] }, 'network.0 should be one of mainnet, testnet, devnet, local'],
    [
      { network: ['mainnet'], events: ['Withdraw'] },
      'events.0 should be a Move path, e.g. 0x1::coin::WithdrawEvent',
    ],
  ])('must not have %j', (fields, message) => {
    expect(messages(fields)).toEqual([message]);
  });

  it('have addresses padded and in lowercase', () => {
    const padded = `0x${'ab'.padStart(64, '0')}`;
    expect(aptosAddressesSchema.parse({ address: 'AB' })).toEqual({ address: padded });
    expect(aptosAddressesSchema.parse({ address: ['0xAb'] })).toEqual({ address: [padded] });
    expect(aptosAddressesSchema.safeParse({ address: `0x${'1'.repeat(65)}` }).success).toBe(false);
    expect(aptosAddressesSchema.safeParse({ address: [] }).success).toBe(false);
  });
});

describe('history, settings and blocks', () => {
  const ID = '6c86e9ed-0a93-4f8f-af4d-929ee8918bbb';

  it('a query may repeat a filter', () => {
    expect(listHistoryQuerySchema.parse({})).toEqual({ limit: 100 });
    expect(
      listHistoryQuerySchema.parse({
        limit: '5',
        excludePayload: 'true',
        chainId: '137',
        blockNumber: ['1', '2'],
        fromTimestamp: '7',
      }),
    ).toEqual({
      limit: 5,
      excludePayload: true,
      chainId: ['0x89'],
      blockNumber: [1, 2],
      fromTimestamp: 7,
    });
    expect(listLogsQuerySchema.parse({ deliveryStatus: 'failed' }).deliveryStatus).toEqual([
      'failed',
    ]);
    for (const wrong of [
      { deliveryStatus: 'lost' },
      { blockNumber: '' },
      { toTimestamp: '-1' },
      { transactionHash: '0x1' },
    ]) {
      expect(listLogsQuerySchema.safeParse(wrong).success).toBe(false);
    }
    // Parameters of other lists are ignored.
    expect(listLogsQuerySchema.parse({ excludePayload: 'true' })).not.toHaveProperty(
      'excludePayload',
    );
  });

  it('an invalid region lists the valid ones, in the words of the hosted service', () => {
    expect(settingsSchema.parse({ region: 'us-west-2' })).toEqual({ region: 'us-west-2' });
    expect(settingsSchema.safeParse({ region: 'eu-central-100' }).error?.issues[0]?.message).toBe(
      "should be one of the following; ['us-east-1','us-west-2','eu-central-1','ap-southeast-1']",
    );
    expect(settingsSchema.safeParse({ secretKey: '' }).success).toBe(false);
  });

  it('a dry run accepts the rules of a stream, but no webhook URL', () => {
    const dryRun = { includeNativeTxs: true, addresses: [ADDRESS.toUpperCase()] };
    expect(compatibleDryRunSchema.parse(dryRun)).toEqual({ ...dryRun, addresses: [ADDRESS] });
    expect(compatibleDryRunSchema.safeParse({ webhookUrl: STREAM.webhookUrl }).success).toBe(false);
  });

  it('a historical job does not end before its first block', () => {
    const job = { chainId: '1', streamId: ID, blockFrom: 1, blockTo: 1 };
    expect(historicalJobSchema.parse(job)).toEqual({ ...job, chainId: '0x1' });
    expect(historicalJobSchema.safeParse({ ...job, blockFrom: 2 }).success).toBe(false);
    expect(historicalJobSchema.safeParse({ ...job, blockTo: 1.5 }).success).toBe(false);
  });
});
