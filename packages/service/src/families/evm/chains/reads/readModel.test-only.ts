/**
 * A plain model of the values that streams read, which reads the whole chain again, with streams and
 * states for tests.
 */
import type { ReadCondition, StreamRead, WebhookRead } from '@sluice/kit/contract';
import fc from 'fast-check';
import { createLog } from '../../../../base/log.ts';
import type { BlockHeader } from '../../../../store/blocks/contract.ts';
import type { Store } from '../../../../store/store.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamDraft,
  type Sealed,
} from '../../../../store/streams/contract.ts';
import { createEnrich } from '../../enrich/enrich.ts';
import type { StateAnswer, StateRequest } from '../../enrich/state.ts';
import { type EvmMatching, createEvmMatching } from '../matching.ts';
import { createStreamValues } from './streamValues.ts';

const addressOf = (n: number): string => `0x${`${n}`.repeat(40)}`;
export const CONTRACTS = [1, 2, 3].map(addressOf);
const CONDITIONS: readonly ReadCondition[] = [
  'changes',
  { every: 3 },
  { every: 25, unit: 'seconds' },
  { below: '2' },
  { above: '1.5' },
  { crosses: '2' },
];
/** Two streams read the same values under different conditions, and some of their own. */
export const STREAMS: readonly (readonly StreamRead[])[] = [
  CONTRACTS.flatMap((contract) =>
    CONDITIONS.map((when) => ({ contract, function: 'f() returns (uint256)', when })),
  ),
  [
    ...CONDITIONS.map((when) => ({
      balance: 'native',
      of: CONTRACTS.slice(0, 2),
      decimals: 0,
      when,
    })),
    { contract: CONTRACTS[0]!, function: 'f() returns (uint256)', when: 'changes' },
  ],
];

/** Results of the contracts in the state of a block; undefined if no node has it. */
export type State = readonly (number | 'reverts')[] | undefined;

export interface Made {
  header: BlockHeader;
  state: State;
}

export interface Sent {
  block: number;
  contract: string;
  when: ReadCondition;
  before: [number, number] | null;
  after: number;
}

const sideOf = (value: number, threshold: string): number => Math.sign(value - Number(threshold));

function isSent(when: ReadCondition, before: number | undefined, after: number): boolean {
  if (when === 'changes') return before !== undefined && before !== after;
  if ('every' in when) return true;
  if ('crosses' in when) {
    const isAbove = (value: number): boolean => sideOf(value, when.crosses) >= 0;
    return before !== undefined && isAbove(before) !== isAbove(after);
  }
  const holds = (value: number): boolean =>
    'below' in when ? sideOf(value, when.below) < 0 : sideOf(value, when.above) > 0;
  return holds(after) && (before === undefined || !holds(before));
}

/** Returns what one read sends over the whole chain. */
function expectedOf(contract: string, when: ReadCondition, chain: readonly Made[]): Sent[] {
  const sent: Sent[] = [];
  let last: { value: number; block: number; timestamp: number } | undefined;
  let failing: { from: number; to: number } | undefined;
  for (const { header, state } of chain) {
    const { number, timestamp } = header;
    if (failing && number - failing.to < Math.min(16, Math.ceil((failing.to - failing.from) / 2))) {
      continue;
    }
    if (when !== 'changes' && 'every' in when && last !== undefined) {
      const [now, then] =
        when.unit === 'seconds' ? [timestamp, last.timestamp] : [number, last.block];
      if (Math.floor(now / when.every) === Math.floor(then / when.every)) continue;
    }
    const value = state?.[CONTRACTS.indexOf(contract)];
    if (value === undefined) continue;
    if (value === 'reverts') {
      failing = { from: failing?.from ?? number, to: number };
      continue;
    }
    failing = undefined;
    if (isSent(when, last?.value, value)) {
      const before: Sent['before'] = last === undefined ? null : [last.block, last.value];
      sent.push({ block: number, contract, when, before, after: value });
    }
    last = { value, block: number, timestamp };
  }
  return sent;
}

export const expectedOfStream = (reads: readonly StreamRead[], chain: readonly Made[]): string[] =>
  reads
    .flatMap(({ contract, of = [contract!], when }) =>
      of.flatMap((each) => expectedOf(each, when, chain)),
    )
    .map((each) => JSON.stringify(each))
    .toSorted();

export const toSent = (
  block: number,
  { contract, of, when, before, after }: WebhookRead,
): Sent => ({
  block,
  contract: (contract ?? of)!,
  when,
  before: before && [Number(before.block), Number(before.value)],
  after: Number(after.value),
});

export const anyValue = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 4 }) },
  { weight: 1, arbitrary: fc.constant('reverts' as const) },
);

/** Responds to requests for a state. */
export const answersOf = (state: State, requests: readonly StateRequest[]): StateAnswer[] =>
  requests.map((each) => {
    if (state === undefined) return { outcome: 'refused', message: 'no state' };
    const address = 'account' in each ? each.account : each.to;
    const value = state[CONTRACTS.indexOf(address)]!;
    if (value === 'reverts') return { outcome: 'failed', message: 'it reverted' };
    return {
      outcome: 'read',
      value: 'account' in each ? String(value) : `0x${String(value).padStart(64, '0')}`,
    };
  });

/** The values of streams without addresses and tokens. */
export const VALUES = createStreamValues({
  readToken: () => Promise.resolve(undefined),
  addressesOf: () => Promise.resolve([]),
});

export const draftOf = (reads: readonly StreamRead[], chain: string): Sealed<EvmStreamDraft> =>
  ({
    family: 'evm',
    tag: '',
    description: '',
    webhookUrl: 'http://127.0.0.1:1/',
    chainIds: [chain],
    options: { ...DEFAULT_OPTIONS, reads },
    ...DEFAULT_DELIVERY,
  }) as unknown as Sealed<EvmStreamDraft>;

export const openMatching = (store: Store): EvmMatching =>
  createEvmMatching({
    store,
    enrichOf: (chain) =>
      createEnrich({
        chain,
        store,
        state: undefined as never,
        log: createLog(() => {}),
        maxWebhookBytes: 1e6,
      }),
    spamLists: {},
    omitRecentFields: false,
    maxWebhookBytes: 1e6,
  });
