/**
 * Describes the states of streams, chains, deliveries and other objects: a shape, a word and a tone
 * for each state, and the reason for a problem.
 */
import type {
  ServiceDetails,
  ChainState,
  DestinationSummary,
  DeliveryPhase,
  DeliveryState,
  DeliverySummary,
  BackOff,
  StreamSummary,
} from '@sluice/kit/sluice';
import { isWaiting, receiverOf } from '@sluice/kit/contract';
import { headAgeMs, isOverdue, meanBlockMs } from '../chains/blockPace.ts';
import {
  formatAgo,
  formatClock,
  formatCount,
  formatDateTime,
  formatDue,
  formatDuration,
  formatMoment,
  formatQuantity,
  formatSpan,
} from '../ui/text/format.ts';
import { formatKey } from './names.ts';
import type { WatchedChain } from '../chains/timeline.ts';
import type { Condition, Tone } from '../ui/status.tsx';

/** Creates a condition. Those that only one page shows are next to that page. */
export const condition = (shape: Condition['shape'], word: string, tone: Tone): Condition => ({
  shape,
  word,
  tone,
});

const CHAIN_CONDITIONS: Record<ChainState, Condition> = {
  starting: condition('dashed', 'starting', 'muted'),
  live: condition('disc', 'live', 'ok'),
  'catching-up': condition('half', 'catching up', 'info'),
  settling: condition('dashed', 'settling', 'warn'),
  down: condition('triangle', 'down', 'bad'),
};

/** Returns whether a chain is down. A live chain whose next block is overdue counts as down. */
export const isChainDown = (chain: WatchedChain): boolean =>
  chain.state === 'down' || (chain.state === 'live' && isOverdue(chain));

export const chainCondition = (chain: WatchedChain): Condition =>
  CHAIN_CONDITIONS[isChainDown(chain) ? 'down' : chain.state];

/** Describes the problem of a chain. Returns an empty string while the chain is healthy. */
export function chainProblem(chain: WatchedChain, now: number): string {
  if (chain.state !== 'live' || !isOverdue(chain)) return chain.message;
  const pace = meanBlockMs(chain.blocks);
  const silence = `no new block for ${formatSpan(headAgeMs(chain, now) ?? 0)}`;
  return [
    pace === null ? silence : `${silence}, usually one every ${formatDuration(pace)}`,
    chain.message,
  ]
    .filter(Boolean)
    .join('; ');
}

/** Condition of a stream while one of its chains is down. */
export const CHAIN_DOWN = condition('triangle', 'chain down', 'bad');

export const ENVIRONMENT_CONDITIONS: Record<ServiceDetails['environment'], Condition> = {
  dev: condition('ring', 'dev', 'muted'),
  prod: condition('disc', 'prod', 'warn'),
};

export const PHASE_CONDITIONS: Record<DeliveryPhase, Condition> = {
  unconfirmed: condition('ring', 'unconfirmed', 'muted'),
  confirmed: condition('disc', 'confirmed', 'muted'),
  removed: condition('cross', 'removed', 'reorg'),
};

/** Names the action that sends a delivery now. */
export const sendVerb = (state: DeliveryState | undefined): string =>
  isWaiting(state) ? 'Retry now' : state === 'held' ? 'Release' : 'Replay';

export const DELIVERY_CONDITIONS: Readonly<Record<DeliveryState, Condition>> = {
  enriching: condition('dashed', 'enriching', 'muted'),
  held: condition('bars', 'held', 'warn'),
  pending: condition('dashed', 'pending', 'muted'),
  retrying: condition('dashed', 'retrying', 'warn'),
  leased: condition('half', 'sending', 'info'),
  succeeded: condition('disc', 'delivered', 'ok'),
  failed: condition('triangle', 'failed', 'bad'),
  quarantined: condition('exclamation', 'quarantined', 'bad'),
  cancelled: condition('cross', 'canceled', 'faint'),
};

/**
 * Returns, for each stream, the most recently updated delivery to its `webhookUrl` with at least one
 * attempt.
 */
export function newestTried(deliveries: readonly DeliverySummary[]): Map<string, DeliverySummary> {
  const newest = new Map<string, DeliverySummary>();
  for (const delivery of deliveries) {
    if (delivery.destination !== undefined) continue;
    const known = newest.get(delivery.streamId);
    if (delivery.attempts > 0 && (known === undefined || known.updatedAt < delivery.updatedAt)) {
      newest.set(delivery.streamId, delivery);
    }
  }
  return newest;
}

/**
 * Returns whether a stream fails but retries so rarely that the newest deliveries do not show it.
 * Such a stream has queued deliveries and failed attempts in the last two hours, but no success in
 * the last ten minutes.
 */
const isStuck = ({
  queue,
  deliveredSeries,
  hourlyFailed,
}: Pick<StreamSummary, 'queue' | 'deliveredSeries' | 'hourlyFailed'>): boolean =>
  queue > 0 &&
  hourlyFailed.slice(-2).some((failed) => failed > 0) &&
  deliveredSeries.slice(-2).every((delivered) => delivered === 0);

const isFailing = (delivery: DeliverySummary | undefined): boolean =>
  delivery !== undefined && delivery.error !== null && delivery.state !== 'succeeded';

/** Returns the condition of an additional destination. */
export function destinationCondition({
  status,
  backOff,
}: Pick<DestinationSummary, 'status' | 'backOff'>): Condition {
  switch (status) {
    case 'paused':
      return condition('bars', 'paused', 'muted');
    case 'terminated':
      return condition('cross', 'terminated', 'bad');
    case 'error':
      return condition('triangle', 'failing', 'bad');
    case 'active':
      if (backOff === null) return condition('disc', 'active', 'ok');
      return backOff.reason === 'failures'
        ? condition('triangle', 'failing', 'bad')
        : condition('exclamation', 'throttled', 'warn');
  }
}

/** Describes the problem of an additional destination; null if it has none. */
function destinationProblem(its: DestinationSummary, now: number): string | null {
  const { destination, status, statusMessage, queue, backOff } = its;
  const parts: string[] = [];
  if (status === 'error' || status === 'terminated') parts.push(statusMessage);
  if (backOff !== null) parts.push(backOffWords(backOff, now));
  if (parts.length === 0) return null;
  if (queue > 0) parts.push(`${formatCount(queue)} queued`);
  return `destination ${destination}, ${receiverOf(its)}: ${parts.join('; ')}`;
}

/** @param latest the stream's newest attempted delivery, see {@link newestTried}. */
export function streamCondition(
  stream: Pick<
    StreamSummary,
    | 'status'
    | 'statusMessage'
    | 'queue'
    | 'deliveredSeries'
    | 'hourlyFailed'
    | 'backOff'
    | 'certificateEndsAt'
    | 'allAddresses'
    | 'amountOfAddresses'
    | 'amountOfFactories'
    | 'amountOfReads'
    | 'destinations'
  >,
  latest: DeliverySummary | undefined,
): Condition {
  switch (stream.status) {
    case 'paused':
      return condition('bars', 'paused', 'muted');
    case 'terminated':
      return condition('cross', 'terminated', 'faint');
    case 'error':
      return condition('triangle', 'failing', 'bad');
    case 'active':
      if (
        isFailing(latest) ||
        stream.backOff?.reason === 'failures' ||
        (latest === undefined && isStuck(stream))
      )
        return condition('triangle', 'failing', 'bad');
      if (idleReasonOf(stream) !== null) return condition('ring', 'no addresses', 'warn');
      return stream.statusMessage === '' &&
        stream.backOff === null &&
        stream.certificateEndsAt === null &&
        stream.destinations.every((each) => destinationCondition(each).tone === 'ok')
        ? condition('disc', 'active', 'ok')
        : condition('exclamation', 'attention', 'warn');
  }
}

/** Describes how long sending to a receiver is paused and what happens next. */
export function backOffWords({ reason, until }: BackOff, now: number): string {
  const isOver = until <= now;
  const span = formatSpan(Math.ceil((until - now) / 1000) * 1000);
  const nothing = `sending is paused for ${span}, until ${formatClock(until).slice(0, 8)}`;
  if (reason === 'throttled') return isOver ? 'sending the queue now' : nothing;
  return isOver
    ? 'probing with one delivery now'
    : `${nothing}, then one delivery is sent as a probe`;
}

/**
 * Explains in one line the problems of a stream and what happens next. Returns null if the stream
 * has no problem or is paused.
 * @param retries the maximum number of retries; undefined while unknown.
 */
export function streamReason(
  stream: Pick<
    StreamSummary,
    | 'status'
    | 'statusMessage'
    | 'queue'
    | 'webhookUrl'
    | 'failingSince'
    | 'backOff'
    | 'certificateEndsAt'
    | 'destinations'
  >,
  latest: DeliverySummary | undefined,
  now: number,
  retries?: number,
): string | null {
  if (stream.status === 'paused') return null;
  const parts: string[] = [];
  if (stream.statusMessage !== '') parts.push(stream.statusMessage);
  if (latest !== undefined && stream.status !== 'terminated' && isFailing(latest)) {
    const receiver = receiverOf(stream);
    // The status message already names the response.
    if (stream.status === 'error') parts.push(receiver);
    else if (latest.status !== null && latest.status >= 300) {
      parts.push(`${latest.status} from ${receiver}`);
    } else parts.push(`no response from ${receiver}: ${latest.error}`);
    if (stream.failingSince !== null) {
      parts.push(`since ${formatMoment(stream.failingSince, now)}`);
    }
    // A retry that is due while sending is paused happens later, so it is not shown.
    if (latest.nextAttemptAt !== null && latest.nextAttemptAt > (stream.backOff?.until ?? 0)) {
      const due = formatDue(latest.nextAttemptAt, now);
      parts.push(
        retries === undefined
          ? `retry ${latest.attempts} ${due}`
          : `retry ${latest.attempts} of ${retries} ${due}`,
      );
    }
  }
  if (stream.backOff !== null) {
    if (stream.backOff.reason === 'throttled') parts.push('rate limited by the receiver');
    parts.push(backOffWords(stream.backOff, now));
  }
  // An expired certificate already appears as the error of the attempts.
  if (stream.certificateEndsAt !== null && stream.certificateEndsAt > now) {
    const { certificateEndsAt: endsAt } = stream;
    parts.push(
      `the receiver’s certificate expires in ${formatSpan(endsAt - now)}, ${formatDateTime(endsAt)}: renew it`,
    );
  }
  if (parts.length > 0 && stream.queue > 0) parts.push(`${formatCount(stream.queue)} queued`);
  parts.push(
    ...stream.destinations
      .map((each) => destinationProblem(each, now))
      .filter((problem) => problem !== null),
  );
  return parts.length === 0 ? null : parts.join(' · ');
}

/**
 * Returns text such as `paused by maya 2d ago`; null if the stream is not paused or the pause was
 * not recorded.
 */
export const pausedWords = (
  { status, paused }: Pick<StreamSummary, 'status' | 'paused'>,
  now: number,
): string | null =>
  status === 'paused' && paused !== null
    ? `paused by ${formatKey(paused.by)} ${formatAgo(paused.at, now)}`
    : null;

/** Reason why no blocks are matched against a stream. */
export type IdleReason = 'paused' | 'terminated' | 'without addresses';

/**
 * Returns why no blocks are matched against the stream; null if blocks are matched, as for a stream
 * in error.
 */
export function idleReasonOf(
  stream: Pick<StreamSummary, 'status' | 'allAddresses' | 'amountOfAddresses'> & Sources,
): IdleReason | null {
  const { status, allAddresses, amountOfAddresses } = stream;
  if (status === 'paused' || status === 'terminated') return status;
  return allAddresses || amountOfAddresses > 0 || hasSources(stream) ? null : 'without addresses';
}

type Sources = Pick<StreamSummary, 'amountOfFactories' | 'amountOfReads'>;

/** Returns whether a stream can match without addresses: it has factories or values on chain. */
export const hasSources = ({ amountOfFactories, amountOfReads }: Sources): boolean =>
  amountOfFactories + amountOfReads > 0;

/**
 * Describes what the stream watches: the numbers of addresses, factories, their children, values
 * and events, or a warning that it watches every address.
 */
export function streamScope(
  stream: Pick<
    StreamSummary,
    'allAddresses' | 'amountOfAddresses' | 'amountOfChildren' | 'topic0'
  > &
    Sources,
): { text: string; unscoped: boolean } {
  const { allAddresses, amountOfAddresses, amountOfChildren, topic0 } = stream;
  const { amountOfFactories, amountOfReads } = stream;
  const hasAddresses = amountOfAddresses > 0 || !hasSources(stream);
  const parts = [
    allAddresses && 'ALL ADDRESSES',
    !allAddresses && hasAddresses && formatQuantity(amountOfAddresses, 'address', 'addresses'),
    amountOfFactories > 0 && formatQuantity(amountOfFactories, 'factory', 'factories'),
    amountOfChildren > 0 && formatQuantity(amountOfChildren, 'child', 'children'),
    amountOfReads > 0 && formatQuantity(amountOfReads, 'value'),
    topic0.length > 0 && formatQuantity(topic0.length, 'event'),
  ];
  return { text: parts.filter((part) => part !== false).join(' · '), unscoped: allAddresses };
}
