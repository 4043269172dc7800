/** Computes the progress of a block and the verdict of each stream. */
import {
  type BackOff,
  type ChainCoverage,
  type DeliveryState,
  type DeliverySummary,
  type ExplainedRecord,
  type ExplainedValue,
  type ExplainReason,
  type ExplainStage,
  type ExplainVerdict,
  type StreamVerdict,
  EXPLAIN_STAGES,
  describeUnverifiedCode,
} from '@sluice/kit/contract';
import type { ConfirmedHeights, LedgerMatch } from '../../../store/blocks/contract.ts';
import type { ChainReport } from '../../../store/leases/contract.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';

export interface BlockFacts {
  chain: string;
  /** Block number; undefined if no block was found. */
  number: number | undefined;
  /** Unix seconds; undefined if no node has the block. */
  timestamp: number | undefined;
  /** Time of the commit in Unix milliseconds; null unless the ledger still has the block's hash. */
  committedAt: number | null;
  /** The matcher's result by stream; undefined if no node returned the block. */
  records: ReadonlyMap<string, ExplainedRecord[]> | undefined;
  /** The values that streams read in the block, by stream. */
  values: ReadonlyMap<string, ExplainedValue[]>;
  /** Number of the last committed block; null if there is none. */
  checkpoint: number | null;
  /** Whether the chain now has another block at this height. */
  isReplaced: boolean;
  /** Why the chain is halted, if the block may not be on it; undefined otherwise. */
  halt: string | undefined;
  /** The confirmations of the chain. */
  confirmations: ChainReport['confirmations'];
  /** The numbers of the newest confirmed blocks. */
  heights: ConfirmedHeights;
  /** Codes of what the evidence for the block does not cover; empty if it is verified. */
  unverified: string[];
}

const reason = (
  stage: ExplainStage,
  outcome: ExplainReason['outcome'],
  message: string,
): ExplainReason => ({ stage, outcome, message });

/**
 * Returns the progress of a block, by stage.
 *
 * @param health report of the chain; undefined if the chain is not read
 * @param trouble readable reason why the nodes could not be queried; undefined if they could
 */
export function toBlockStages(
  { chain, number, records, checkpoint, isReplaced, halt, unverified }: BlockFacts,
  health: Pick<ChainReport, 'providers'> | undefined,
  trouble: string | undefined,
): ExplainReason[] {
  const unread = health === undefined ? `${chain} is not read` : 'no node has the block';
  const stages = [
    records === undefined
      ? reason('seen', 'unknown', trouble ?? unread)
      : reason('seen', 'passed', `the nodes of ${chain} have the block`),
  ];
  if (number === undefined) return stages;
  const isCommitted = checkpoint !== null && checkpoint >= number;
  if (isCommitted) {
    // The heads of the nodes say nothing more: after a start they are not known yet.
    stages.push(reason('fetched', 'passed', `a node returned block ${number}`));
  } else if (health !== undefined) {
    const have = health.providers.filter(({ head }) => head !== null && head >= number).length;
    stages.push(
      reason(
        'fetched',
        have > 0 ? 'passed' : 'waiting',
        `${have} of ${health.providers.length} nodes have reached block ${number}`,
      ),
    );
  }
  const committed =
    checkpoint === null ? 'nothing is committed yet' : `committed up to block ${checkpoint}`;
  stages.push(
    halt !== undefined
      ? reason('committed', 'stopped', describeHalt(halt))
      : isReplaced
        ? reason('committed', 'stopped', 'another block replaced this one')
        : reason('committed', isCommitted ? 'passed' : 'waiting', committed),
  );
  if (unverified.length > 0) {
    const codes = unverified.map((code) => `${code}: ${describeUnverifiedCode(code).meaning}`);
    stages.push(reason('verified', 'unknown', `accepted unverified. ${codes.join(' ')}`));
  }
  return stages;
}

const describeHalt = (halt: string): string => `the chain is halted: ${halt}`;

interface VerdictNeeds {
  /**
   * Blocks of the chain that the stream was matched against; read only if the current rules match
   * the block but the ledger has no match.
   */
  coverage: ChainCoverage | undefined;
  /** Maximum number of returned records. */
  most: number;
  /** Returns the back-off of the receiver of a delivery; undefined if it is not backed off. */
  backOffOf: (delivery: DeliverySummary) => Pick<BackOff, 'until'> | undefined;
  /** Numbers of the additional destinations of the stream. */
  destinations: readonly number[];
}

/** Returns the verdict of a stream for a block, with its reasons. */
export function toStreamVerdict(
  stream: StreamRecord,
  facts: BlockFacts,
  matches: readonly LedgerMatch[],
  needs: VerdictNeeds,
): StreamVerdict {
  const { coverage, most } = needs;
  const records = facts.records?.get(stream.id) ?? [];
  const values = facts.values.get(stream.id) ?? [];
  const deliveries = matches.flatMap((match) => match.deliveries);
  const verdict = (
    name: ExplainVerdict,
    stages: ExplainReason[],
    reason = stages.findLast(({ outcome }) => outcome !== 'passed') ?? stages.at(-1)!,
  ): StreamVerdict => ({
    streamId: stream.id,
    tag: stream.tag,
    changedAt: stream.updatedAt,
    verdict: name,
    reason,
    stages,
    recordCount: records.length,
    records: [
      ...records.filter(({ included }) => included),
      ...records.filter(({ included }) => !included),
    ]
      .slice(0, most)
      .map((record, n) => (n < WITH_CONDITIONS ? record : withoutConditions(record))),
    ...firstValues(values),
    deliveries,
  });

  // A match in the ledger counts even if the rules have changed since.
  if (matches.length > 0) {
    const stages = [
      ...[...recordReasons(records), ...valueReasons(values)].filter(
        ({ outcome }) => outcome === 'passed',
      ),
      ...matchReasons(matches, stream, facts, needs),
    ];
    const name = verdictOf(matches);
    // The verdict shows why a delivery failed, is held or waits, even if a later check waits, too.
    const outcome = name === 'failed' ? 'stopped' : 'waiting';
    return verdict(
      name,
      stages,
      stages.findLast((each) => each.stage === 'delivery' && each.outcome === outcome) ??
        stages.findLast((each) => each.outcome === 'waiting' || each.outcome === 'stopped') ??
        stages.at(-1),
    );
  }

  const stages: ExplainReason[] = [];
  const { chain, number } = facts;
  if (!stream.chainIds.includes(chain)) {
    const watched = stream.chainIds.join(', ');
    return verdict('not-matched', [
      reason('chain', 'stopped', `the stream watches ${watched}, not ${chain}`),
    ]);
  }
  stages.push(reason('chain', 'passed', `the stream watches ${chain}`));
  if (stream.status !== 'active' && stream.status !== 'error') {
    const why = stream.statusMessage === '' ? '' : `: ${stream.statusMessage}`;
    stages.push(reason('status', 'stopped', `the stream is ${stream.status}${why}`));
    return verdict('not-evaluated', stages);
  }
  stages.push(reason('status', 'passed', `the stream is ${stream.status}`));
  if (facts.records === undefined) {
    stages.push(
      reason(
        'address',
        'unknown',
        'nothing was matched because the nodes did not return the block',
      ),
    );
    return verdict('not-evaluated', stages);
  }
  if (records.length > 0) stages.push(...recordReasons(records));
  else if (values.length === 0 || stream.addressCount > 0) stages.push(unmatchedReason(stream));
  stages.push(...valueReasons(values));
  if (![...records, ...values].some(({ included }) => included)) {
    const undecided = values.find(isUndecided)?.reason.outcome;
    if (undecided === undefined) return verdict('not-matched', stages);
    return verdict(undecided === 'waiting' ? 'waiting' : 'not-evaluated', stages);
  }

  if (facts.halt !== undefined) {
    stages.push(reason('match', 'waiting', describeHalt(facts.halt)));
    return verdict('waiting', stages);
  }
  if (facts.isReplaced) {
    stages.push(reason('match', 'stopped', 'the block left the chain before it was matched'));
  } else if (number === undefined || facts.checkpoint === null || facts.checkpoint < number) {
    stages.push(reason('match', 'waiting', 'the block is not committed yet'));
    return verdict('waiting', stages);
  } else {
    stages.push(...coverageReasons(stream, facts, number, coverage));
  }
  return verdict('not-evaluated', stages);
}

/** Maximum number of records with conditions, which triple the size of a record. */
const WITH_CONDITIONS = 50;

const withoutConditions = (record: ExplainedRecord): ExplainedRecord => ({
  ...record,
  reasons: record.reasons.map(({ stage, outcome, message }) => reason(stage, outcome, message)),
});

/** Returns the reasons of the record that passed the most checks. */
function recordReasons(records: readonly ExplainedRecord[]): ExplainReason[] {
  const reach = ({ included, reasons }: ExplainedRecord): number =>
    included
      ? EXPLAIN_STAGES.length
      : Math.max(-1, ...reasons.map(({ stage }) => EXPLAIN_STAGES.indexOf(stage)));
  const furthest = records.toSorted((a, b) => reach(b) - reach(a))[0];
  if (furthest === undefined) return [];
  // A record is included if it passes one of the stream's filters, so the failed filters are left
  // out.
  const { included, reasons } = furthest;
  return included ? reasons.filter(({ outcome }) => outcome === 'passed') : reasons;
}

/** Maximum number of values that a verdict lists. */
const VALUES = 50;

/** Returns the first values, starting with those that were sent, and their number. */
const firstValues = (
  values: readonly ExplainedValue[],
): Pick<StreamVerdict, 'valueCount' | 'values'> => ({
  valueCount: values.length,
  values: values.toSorted((a, b) => Number(b.included) - Number(a.included)).slice(0, VALUES),
});

/** Returns whether it is not known if the value met its condition. */
const isUndecided = ({ reason: { outcome } }: ExplainedValue): boolean =>
  outcome === 'waiting' || outcome === 'unknown';

/** Returns the reason of the only value, or one that sums up all values. */
function valueReasons(values: readonly ExplainedValue[]): ExplainReason[] {
  const [only, ...others] = values;
  if (only === undefined) return [];
  if (others.length === 0) return [only.reason];
  const met = values.filter(({ included }) => included).length;
  const undecided = values.find(isUndecided);
  if (met === 0 && undecided !== undefined) return [undecided.reason];
  const count = `${met === 0 ? 'none' : met} of the ${values.length} values that it reads`;
  return [
    reason(
      'value',
      met > 0 ? 'passed' : 'stopped',
      `${count} met ${met > 1 ? 'their' : 'its'} condition`,
    ),
  ];
}

const hasFactories = (options: StreamRecord['options']): boolean =>
  'factories' in options && (options.factories ?? []).length > 0;

const hasReads = (options: StreamRecord['options']): boolean =>
  'reads' in options && (options.reads ?? []).length > 0;

const countAddresses = (whose: string, count: number): string =>
  count === 1 ? `${whose} only address` : `${whose} ${count.toLocaleString('en')} addresses`;

function unmatchedReason({ addressCount, options }: StreamRecord): ExplainReason {
  if (options.allAddresses) {
    return reason(
      'address',
      'stopped',
      'the stream watches all addresses, but its events and options select no record',
    );
  }
  const watched = [
    addressCount > 0 && countAddresses('its', addressCount),
    hasFactories(options) && 'the children of its factories',
  ].filter((each) => each !== false);
  if (watched.length > 0) {
    return reason('address', 'stopped', `no record involves ${watched.join(' or ')}`);
  }
  return reason(
    'address',
    'stopped',
    hasReads(options)
      ? 'the stream watches no addresses, and only reads values'
      : 'the stream has no addresses yet',
  );
}

const HOLE_REASONS: Readonly<Record<ChainCoverage['holes'][number]['reason'], string>> = {
  paused: 'were not matched, because the stream was paused',
  terminated: 'were not matched, because the stream was terminated',
  resumed: 'were not matched, because the chain was resumed from a later block',
  state: 'were not matched, because no node had the state in which the stream reads values',
  unread: 'have deliveries that expired before a consumer of the feed had read them',
  children: 'were not matched, because children of its factories were found later',
  before: 'were not matched, because the stream did not watch the chain yet',
};

/** Explains why the ledger has no match, although the current rules match the block. */
function coverageReasons(
  stream: StreamRecord,
  { timestamp }: BlockFacts,
  number: number,
  coverage: ChainCoverage | undefined,
): ExplainReason[] {
  const { from = null, to = null, holes = [] } = coverage ?? {};
  if (from === null || to === null || number < from) {
    const why = from === null ? '' : `, because its coverage starts at block ${from}`;
    const message = `the stream was not matched against block ${number}${why}: run a backfill`;
    return [reason('coverage', 'stopped', message)];
  }
  const hole = holes.find((each) => each.from <= number && number <= each.to);
  if (hole !== undefined) {
    const range = `blocks ${hole.from} to ${hole.to}`;
    const message = `${range} ${HOLE_REASONS[hole.reason]}: run a backfill`;
    return [reason('coverage', 'stopped', message)];
  }
  const changed = timestamp !== undefined && stream.updatedAt > timestamp * 1000;
  return [
    reason('coverage', 'passed', `the stream was matched against block ${number}`),
    changed
      ? reason('match', 'stopped', 'its rules or addresses were different then and matched nothing')
      : reason('match', 'stopped', 'the match was deleted: its retention period has ended'),
  ];
}

/** Words for the states of deliveries, as in the console. */
const STATE_WORDS: Readonly<Record<DeliveryState, string>> = {
  enriching: 'enriching',
  held: 'held',
  pending: 'pending',
  retrying: 'retrying',
  leased: 'sending',
  succeeded: 'delivered',
  failed: 'failed',
  quarantined: 'quarantined',
  cancelled: 'canceled',
};

/** Describes what a delivery waits for, other than its next attempt; empty if nothing. */
function describeHold(
  { state, nextAttemptAt }: DeliverySummary,
  { status }: StreamRecord,
  backOff: Pick<BackOff, 'until'> | undefined,
): string {
  if (state === 'held') return ' until another node confirms the block, or until it is released';
  if (nextAttemptAt === null) return '';
  if (status === 'paused') return ' until the stream is resumed';
  return backOff !== undefined && nextAttemptAt <= backOff.until
    ? ` while its receiver is backed off, until ${new Date(backOff.until).toISOString()}`
    : '';
}

function matchReasons(
  matches: readonly LedgerMatch[],
  stream: StreamRecord,
  facts: BlockFacts,
  { backOffOf, destinations }: VerdictNeeds,
): ExplainReason[] {
  const deliveries = matches.flatMap((match) => match.deliveries);
  const isOrphaned = matches.every(({ state }) => state === 'orphaned');
  const isEnriching = matches.some((match) => match.isEnriching);
  const frozen = matches.find(({ state }) => state === 'frozen');
  const reasons = [
    reason(
      'match',
      isOrphaned ? 'stopped' : 'passed',
      isOrphaned ? 'its block left the chain' : 'the match is committed',
    ),
    reason(
      'enrichment',
      isEnriching ? 'waiting' : 'passed',
      isEnriching ? 'the body is waiting for enrichment' : 'the body is complete',
    ),
  ];
  for (const delivery of deliveries) {
    const { phase, destination, state, attempts, error } = delivery;
    const tries = attempts === 0 ? '' : ` after ${attempts} attempt${attempts === 1 ? '' : 's'}`;
    const hold = describeHold(delivery, stream, backOffOf(delivery));
    const why = error === null || state === 'held' ? '' : `: ${error}`;
    const to = destination === undefined ? '' : ` to destination ${destination}`;
    const message = `${phase}${to}: ${STATE_WORDS[state]}${tries}${hold}${why}`;
    reasons.push(reason('delivery', DELIVERY_OUTCOMES[state], message));
  }
  for (const destination of destinations) {
    if (deliveries.some((each) => each.destination === destination)) continue;
    const message = `nothing to destination ${destination}: it was added later, or was terminated`;
    reasons.push(reason('delivery', 'unknown', message));
  }
  if (frozen !== undefined) {
    reasons.push(reason('confirmation', 'waiting', describeConfirmation(frozen, facts)));
  } else if (!isOrphaned) reasons.push(reason('confirmation', 'passed', 'the block is confirmed'));
  return reasons;
}

/** Describes what an unconfirmed match waits for, and how far the chain is. */
function describeConfirmation(
  { confirmations }: Pick<LedgerMatch, 'confirmations'>,
  { number, heights, confirmations: ofChain }: BlockFacts,
): string {
  const needed = confirmations ?? ofChain;
  if (needed === 'safe' || needed === 'finalized') {
    const height = heights[needed];
    return height < 0
      ? `waits for the ${needed} block of the chain, which no node has reported yet`
      : `waits until the ${needed} block of the chain, now ${height}, has reached ${number}`;
  }
  if (needed === 'latest' || number === undefined) return 'waits for the next block';
  const followed = Math.min(needed, Math.max(0, heights.depth - number));
  const blocks = needed === 1 ? '1 block' : `${needed} blocks`;
  return `waits for ${blocks} to follow, now ${followed} of ${needed}`;
}

const DELIVERY_OUTCOMES = {
  enriching: 'waiting',
  held: 'waiting',
  pending: 'waiting',
  retrying: 'waiting',
  leased: 'waiting',
  succeeded: 'passed',
  failed: 'stopped',
  quarantined: 'stopped',
  cancelled: 'stopped',
} as const;

function verdictOf(matches: readonly LedgerMatch[]): ExplainVerdict {
  const states = new Set(
    matches.flatMap(({ deliveries }) => deliveries.map(({ state }) => DELIVERY_OUTCOMES[state])),
  );
  const isGivenUp = matches.some(({ deliveries }) =>
    deliveries.some(({ state }) => state === 'failed' || state === 'quarantined'),
  );
  if (isGivenUp) return 'failed';
  if (matches.some(({ deliveries }) => deliveries.some(({ state }) => state === 'held'))) {
    return 'held';
  }
  if (states.has('waiting')) return 'waiting';
  if (states.has('passed')) return 'delivered';
  return matches.some(({ state }) => state === 'frozen') ? 'waiting' : 'cancelled';
}

/** Explains why a stream does not watch an address. */
function notWatched({ addressCount, options }: StreamRecord): string {
  const among = [
    (addressCount > 0 || !(hasFactories(options) || hasReads(options))) &&
      `${addressCount === 1 ? '' : 'among '}${countAddresses("the stream's", addressCount)}`,
    hasFactories(options) && 'among the children of its factories',
  ].filter((each) => each !== false);
  return among.length === 0
    ? 'the stream watches no addresses, and reads no value of it'
    : `it is not ${among.join(' or ')}`;
}

/** How a stream watches an address. */
export interface Watch {
  label: string | null;
  /** Where the address comes from, if a factory created it. */
  origin?: string | undefined;
}

/**
 * Returns the verdict for an address: whether the stream watches or reads it, and with which label.
 */
export function toWatchVerdict(
  stream: StreamRecord,
  watch: Watch | undefined,
  values: readonly ExplainedValue[],
): StreamVerdict {
  const { label = null, origin } = watch ?? {};
  const name = label === null ? '' : ` as ${JSON.stringify(label)}`;
  const since = origin === undefined ? '' : `: ${origin}`;
  const isRead = values.length > 0;
  const isListed = stream.options.allAddresses || watch !== undefined;
  const isWatched = isListed || isRead;
  const match = stream.options.allAddresses
    ? reason('address', 'passed', 'the stream watches all addresses')
    : isRead && !isListed
      ? reason(
          'value',
          'passed',
          `the stream reads ${values.length === 1 ? 'a value' : `${values.length} values`} of it`,
        )
      : reason(
          'address',
          isWatched ? 'passed' : 'stopped',
          isWatched ? `the stream watches it${name}${since}` : notWatched(stream),
        );
  return {
    streamId: stream.id,
    tag: stream.tag,
    changedAt: stream.updatedAt,
    verdict: isWatched ? 'watched' : 'not-watched',
    reason: match,
    stages: [
      match,
      reason(
        'status',
        stream.status === 'active' || stream.status === 'error' ? 'passed' : 'stopped',
        `the stream is ${stream.status}`,
      ),
      reason('chain', 'passed', `the stream watches ${stream.chainIds.join(', ')}`),
    ],
    recordCount: 0,
    records: [],
    ...firstValues(values),
    deliveries: [],
  };
}

const STREAMS = 200;
const ORDER: readonly ExplainVerdict[] = [
  'failed',
  'held',
  'waiting',
  'cancelled',
  'delivered',
  'watched',
  'not-evaluated',
  'not-matched',
  'not-watched',
];

/** Returns the first `STREAMS` verdicts in order of importance (`ORDER`). */
export const firstVerdicts = (verdicts: readonly StreamVerdict[]): StreamVerdict[] =>
  verdicts
    .toSorted((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict))
    .slice(0, STREAMS);
