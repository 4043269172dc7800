import { erc20Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import {
  createEvmStreamSchema,
  evmAddressesSchema,
  listStreamsQuerySchema,
  streamStatusSchema,
  updateEvmStreamSchema,
} from './schemas.ts';

const STREAM = { webhookUrl: 'http://localhost:1/hook', description: 'minimal', chainIds: ['0x1'] };
const ADDRESS = '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e';

/** The paths and messages of what is wrong. */
const problems = (fields: object) =>
  (createEvmStreamSchema.safeParse({ ...STREAM, ...fields }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')} ${message}`,
  );

describe('createEvmStreamSchema', () => {
  it('takes the least there can be', () => {
    expect(createEvmStreamSchema.parse(STREAM)).toEqual(STREAM);
  });

  it('takes null for what is unset, as answers have it', () => {
    const unset = { topic0: null, abi: null, advancedOptions: null, triggers: null };
    expect(createEvmStreamSchema.parse({ ...STREAM, ...unset })).toEqual({ ...STREAM, ...unset });
  });

  it('spells chain ids one way, each once', () => {
    const chainIds = ['0X01', 1, '137', '0x89'];
    expect(createEvmStreamSchema.parse({ ...STREAM, chainIds }).chainIds).toEqual(['0x1', '0x89']);
  });

  it('takes whole ABIs, also where a parameter has no name', () => {
    const abi = [...erc20Abi, { type: 'event', name: 'A', inputs: [{ type: 'uint' }] }];
    expect(createEvmStreamSchema.parse({ ...STREAM, abi }).abi?.at(-1)).toEqual({
      type: 'event',
      name: 'A',
      inputs: [{ name: '', type: 'uint' }],
    });
  });

  it.each([
    [{ webhookUrl: 'ftp://a' }, 'webhookUrl should be an absolute http:// or https:// URL'],
    [{ webhookUrl: '/hook' }, 'webhookUrl should be an absolute http:// or https:// URL'],
    [{ chainIds: [] }, 'chainIds should name at least one chain, e.g. ["0x1"]'],
    [
      { chainIds: ['0x1', 'eth'] },
      'chainIds.1 should be a chain id in hex, e.g. 0x1 (names such as eth are not chain ids)',
    ],
    [
      { topic0: ['Transfer'] },
      'topic0.0 should be an event signature, e.g. Transfer(address,address,uint256), or its 32-byte hash',
    ],
    [{ abi: [{ type: 'event' }] }, 'abi.0.name an event, function or error should have a name'],
    [
      { abi: [{ type: 'event', name: 'A', inputs: [{ name: 'a', type: 'uint7' }] }] },
      'abi.0.inputs.0.type should be a Solidity type, e.g. uint256, address[] or tuple',
    ],
    [
      { abi: [{ type: 'event', name: 'A', inputs: [{ name: 'a', type: 'tuple[2]' }] }] },
      'abi.0.inputs.0.components a tuple should list its components',
    ],
  ])('%j', (fields, problem) => {
    expect(problems(fields)).toEqual([problem]);
  });

  it('refuses fields it does not know', () => {
    expect(problems({ chains: ['0x1'] })).toHaveLength(1);
  });

  it('allows three indexed inputs, four where the event is anonymous', () => {
    const inputs = ['a', 'b', 'c', 'd'].map((name) => ({ name, type: 'bool', indexed: true }));
    const event = { type: 'event', name: 'A', inputs };
    expect(problems({ abi: [{ ...event, anonymous: true }] })).toEqual([]);
    expect(problems({ abi: [event] })).toEqual([
      'abi.0.inputs an event should have at most 3 indexed inputs (4 when anonymous)',
    ]);
  });
});

describe('the other schemas', () => {
  it('an update may have any part of a stream', () => {
    expect(updateEvmStreamSchema.parse({})).toEqual({});
    expect(updateEvmStreamSchema.parse({ chainIds: [10] })).toEqual({ chainIds: ['0xa'] });
    expect(updateEvmStreamSchema.safeParse({ chainIds: [] }).success).toBe(false);
  });

  it('addresses keep their form and become lower case', () => {
    const upper = ADDRESS.toUpperCase();
    expect(evmAddressesSchema.parse({ address: upper })).toEqual({ address: ADDRESS });
    expect(evmAddressesSchema.parse({ address: [upper] })).toEqual({ address: [ADDRESS] });
    expect(evmAddressesSchema.safeParse({ address: [] }).success).toBe(false);
    expect(evmAddressesSchema.safeParse({ address: '0x1' }).success).toBe(false);
  });

  it('a limit is a whole number from 1 to 100, and 100 when absent', () => {
    expect(listStreamsQuerySchema.parse({})).toEqual({ limit: 100 });
    expect(listStreamsQuerySchema.parse({ limit: '7', cursor: 'c' })).toEqual({
      limit: 7,
      cursor: 'c',
    });
    for (const limit of ['0', '101', '1.5', 'x', '']) {
      expect(listStreamsQuerySchema.safeParse({ limit }).success).toBe(false);
    }
  });

  it('a status is one that a user may set', () => {
    expect(streamStatusSchema.safeParse({ status: 'paused' }).success).toBe(true);
    expect(streamStatusSchema.safeParse({ status: 'terminated' }).success).toBe(false);
  });
});
