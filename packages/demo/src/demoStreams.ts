/** The streams of the demo, with the behavior of their receivers. */
import type { StreamChangeKind } from '@sluice/kit/sluice';
import {
  type AptosStreamDraft,
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamDraft,
  type StreamDraft,
} from '../../service/src/store/streams/contract.ts';
import type { PastAttempt } from './sqlitePast.ts';
import { createRandom, type Random } from './random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const ETHEREUM = '0x1';
export const BASE = '0x2105';
export const APTOS = 'aptos:mainnet';

export interface DemoToken {
  address: `0x${string}`;
  name: string;
  symbol: string;
  decimals: number;
}

const token = (address: `0x${string}`, name: string, symbol: string, decimals = 6): DemoToken => ({
  address,
  name,
  symbol,
  decimals,
});

export const USDT = token('0xdac17f958d2ee523a2206206994597c13d831ec7', 'Tether USD', 'USDT');
export const USDC = token('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 'USD Coin', 'USDC');
export const BASE_USDC = token('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 'USD Coin', 'USDC');
export const BRIDGED_USDC = token(
  '0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca',
  'USD Base Coin',
  'USDbC',
);
export const PASSES = token(
  '0x8a7f6d5c4b3e2f1a0918273645546372819a0b1c',
  'Harbour Pass',
  'PASS',
  0,
);
/** A liquidity pool of USDC and WETH. */
export const POOL = '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640';

/** Generator of the addresses. Its fixed seed makes them the same at every start. */
const names = createRandom(20_261_121);
const addressesOf = (count: number): `0x${string}`[] =>
  Array.from({ length: count }, () => names.hex(20));

export const WHALES = addressesOf(3);
export const TREASURY = addressesOf(12);
export const DEPOSITS = addressesOf(4_821);
export const PEOPLE = addressesOf(400);
export const VAULTS = Array.from({ length: 2 }, () => names.hex(32));
export const APTOS_PEOPLE = Array.from({ length: 60 }, () => names.hex(32));

const SWAP_EVENT = {
  type: 'event',
  name: 'Swap',
  inputs: [
    { name: 'sender', type: 'address', indexed: true },
    { name: 'recipient', type: 'address', indexed: true },
    { name: 'amount0', type: 'int256', indexed: false },
    { name: 'amount1', type: 'int256', indexed: false },
    { name: 'sqrtPriceX96', type: 'uint160', indexed: false },
    { name: 'liquidity', type: 'uint128', indexed: false },
    { name: 'tick', type: 'int24', indexed: false },
  ],
  anonymous: false,
} as const;

const TRANSFER_EVENT = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
  anonymous: false,
} as const;

const TRANSFER = 'Transfer(address,address,uint256)';
const SWAP = 'Swap(address,address,int256,int256,uint160,uint128,int24)';

export type SimulatedResponse = Omit<PastAttempt, 'webhookUrl' | 'startedAt' | 'transport'>;

export interface DemoStream {
  /** The fields without the webhook URL, which is added later. */
  draft: Omit<EvmStreamDraft, 'webhookUrl'> | Omit<AptosStreamDraft, 'webhookUrl'>;
  addresses: { address: string; label?: string }[];
  /**
   * Returns the receiver's response `agoMs` milliseconds before the start of the demo. After the
   * start, `agoMs` is negative.
   */
  answer(agoMs: number, random: Random): SimulatedResponse;
  status: 'active' | 'paused' | 'error';
  statusMessage: string;
  errorAgoMs?: number;
  changes?: readonly {
    agoMs: number;
    kind: StreamChangeKind;
    fields?: readonly string[];
  }[];
}

const evm = (
  tag: string,
  description: string,
  chainIds: string[],
  options: Partial<EvmStreamDraft['options']> = {},
): DemoStream['draft'] => ({
  family: 'evm',
  tag,
  description,
  chainIds,
  options: { ...DEFAULT_OPTIONS, topic0: [TRANSFER], includeContractLogs: true, ...options },
  ...DEFAULT_DELIVERY,
});

const aptos = (
  tag: string,
  description: string,
  options: Partial<AptosStreamDraft['options']>,
): DemoStream['draft'] => ({
  family: 'aptos',
  tag,
  description,
  chainIds: [APTOS],
  options: { ...DEFAULT_APTOS_OPTIONS, ...options },
  ...DEFAULT_DELIVERY,
});

const labeled = (label: string, addresses: readonly string[]) =>
  addresses.map((address, index) => ({ address, label: `${label}-${index + 1}` }));

/** Returns a success with a latency that is usually close to `usualMs`, and rarely much longer. */
function okAfter(usualMs: number, random: Random): SimulatedResponse {
  const spread = random.next() + random.next() + random.next() - 1.5;
  const durationMs = Math.round(usualMs * Math.exp(spread * 0.9));
  return { durationMs, status: 200, error: null, responseBody: '{"ok":true}' };
}

const healthy =
  (usualMs: number): DemoStream['answer'] =>
  (_ago, random) =>
    okAfter(usualMs, random);

const refused = (status: number, responseBody: string, durationMs: number): SimulatedResponse => ({
  durationMs,
  status,
  error: `HTTP ${status}`,
  responseBody,
});

const CRASH = `TypeError: Cannot read properties of undefined (reading 'decimals')
    at creditDeposit (/srv/deposits/src/credit.ts:41:38)
    at async POST /hooks/deposits (/srv/deposits/src/server.ts:88:5)`;

/**
 * Ages of the deposits receiver's first crash, the swaps receiver's outage, and the removal of the
 * staging receiver.
 */
const CRASHED_AGO = 48 * MINUTE;
export const OUTAGE_AGO = { from: 9 * HOUR + 20 * MINUTE, to: 8 * HOUR + 45 * MINUTE } as const;
const GONE_AGO = 5 * HOUR;

const ACTIVE = { status: 'active', statusMessage: '' } as const;

/** The streams by tag. */
export const DEMO_STREAMS: Readonly<Record<string, DemoStream>> = {
  deposits: {
    draft: evm('deposits', 'Stablecoins paid to customers’ addresses', [ETHEREUM, BASE]),
    addresses: DEPOSITS.map((address, index) => ({ address, label: `customer-${10_200 + index}` })),
    answer: (ago, random) =>
      ago < CRASHED_AGO ? refused(500, CRASH, 30 + random.below(90)) : okAfter(95, random),
    changes: [
      { agoMs: CRASHED_AGO + MINUTE, kind: 'edited', fields: ['webhookUrl'] },
      { agoMs: 14 * HOUR, kind: 'secret-rotated' },
    ],
    ...ACTIVE,
  },
  'usdc-on-base': {
    draft: evm('usdc-on-base', 'Every transfer of USDC on Base', [BASE]),
    addresses: [{ address: BASE_USDC.address, label: 'USDC' }],
    answer: healthy(120),
    ...ACTIVE,
  },
  'whale-usdt': {
    draft: evm('whale-usdt', 'At least 1 million USDT from exchanges’ cold wallets', [ETHEREUM], {
      abi: [TRANSFER_EVENT],
      advancedOptions: [{ topic0: TRANSFER, filter: { gte: ['value', '1000000000000'] } }],
    }),
    addresses: labeled('cold-wallet', WHALES),
    answer: healthy(60),
    ...ACTIVE,
  },
  treasury: {
    draft: evm('treasury', 'Payments from and to our own accounts', [ETHEREUM, BASE]),
    addresses: labeled('treasury', TREASURY),
    answer: healthy(45),
    ...ACTIVE,
  },
  'all-swaps': {
    draft: evm('all-swaps', 'Swaps of every pool, for the price feed', [ETHEREUM], {
      topic0: [SWAP],
      allAddresses: true,
      abi: [SWAP_EVENT],
    }),
    addresses: [],
    answer: (ago, random) =>
      ago < OUTAGE_AGO.from && ago > OUTAGE_AGO.to
        ? {
            durationMs: 15_000,
            status: null,
            error: 'no complete response within 15 s',
            responseBody: '',
          }
        : okAfter(170, random),
    changes: [
      { agoMs: OUTAGE_AGO.to, kind: 'edited', fields: ['webhookUrl', 'maxPerSecond'] },
      { agoMs: 15 * HOUR, kind: 'edited', fields: ['topic0', 'abi'] },
    ],
    ...ACTIVE,
  },
  'pass-holders': {
    draft: evm('pass-holders', 'Transfers of the Harbour Pass', [BASE]),
    addresses: [{ address: PASSES.address, label: 'Harbour Pass' }],
    answer: (_ago, random) =>
      random.next() < 0.02
        ? refused(429, 'slow down: 20 requests per second', 8)
        : okAfter(80, random),
    ...ACTIVE,
  },
  'aptos-payments': {
    draft: aptos('aptos-payments', 'Every payment in APT', {
      functions: ['0x1::aptos_account::transfer'],
      allAddresses: true,
    }),
    addresses: [],
    answer: healthy(55),
    ...ACTIVE,
  },
  'aptos-vault': {
    draft: aptos('aptos-vault', 'Payments into and out of the vaults', { includeEvents: true }),
    addresses: labeled('vault', VAULTS),
    answer: healthy(50),
    ...ACTIVE,
  },
  'staging-mirror': {
    draft: evm('staging-mirror', 'Swaps of every pool, for staging', [ETHEREUM], {
      topic0: [SWAP],
      allAddresses: true,
    }),
    addresses: [],
    answer: (ago, random) =>
      ago < GONE_AGO ? refused(404, 'no such deployment', 12) : okAfter(210, random),
    status: 'error',
    statusMessage: 'Success rate below 70; the last attempt failed: HTTP 404',
    errorAgoMs: GONE_AGO - 20 * MINUTE,
    changes: [{ agoMs: GONE_AGO - 20 * MINUTE, kind: 'failed' }],
  },
  'old-nft': {
    draft: evm('old-nft', 'The first collection, until it is closed', [ETHEREUM]),
    addresses: labeled('collection', addressesOf(1)),
    answer: healthy(60),
    status: 'paused',
    statusMessage: 'Stream was paused by the user',
    changes: [{ agoMs: 30 * HOUR, kind: 'paused' }],
  },
};

export const toDraft = (stream: DemoStream, webhookUrl: string): StreamDraft => ({
  ...stream.draft,
  webhookUrl,
});
