/**
 * Paces the requests to one node, and tracks how reliable it is. Used by the providers of every
 * chain family.
 */
import type { ProviderScore } from '@sluice/kit/contract';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { createDecaying } from './decaying.ts';
import { SourceError, isLacking } from '../source.ts';
import { type RequestOrder, createPace } from './pace.ts';
import { createLag } from './lag.ts';
import { createOutage } from './outage.ts';
import type { AnyProvider, Identity } from './anyProvider.ts';

/**
 * The part of a provider that is the same in every chain family, and the methods that update it.
 */
export interface NodeTracker extends Pick<
  AnyProvider,
  | 'name'
  | 'score'
  | 'state'
  | 'restsUntil'
  | 'hasVote'
  | 'knows'
  | 'identify'
  | 'forgetIdentity'
  | 'exclude'
  | 'fault'
  | 'disagreed'
  | 'compare'
  | 'health'
> {
  /**
   * Runs a request when its turn comes and records the outcome, for short requests also the
   * latency. For optional requests, errors that mean missing data or an unsupported method do not
   * count against the node. Neither does a missing response if the request is not `ordinary`: the
   * request may be the cause, and polls of the head detect an outage.
   */
  run<T>(
    request: () => Promise<T>,
    how: { isShort: boolean; order?: RequestOrder | undefined; isOptional?: boolean | undefined },
  ): Promise<T>;
  /** Records that the node returned or mentioned this block. */
  remember(hash: string): void;
  recordHead(header: BlockHeader): void;
}

/**
 * Time after which a node of a different chain is checked again, because the node at its URL may
 * have been replaced.
 */
const PROBE_WRONG_CHAIN_MS = 60_000;
const UNKNOWN_LATENCY_MS = 100;
/** Minimum latency in scores, so that small differences do not affect the choice of a node. */
const LATENCY_FLOOR_MS = 25;
/** Weight of the newest latency in the moving average. */
const LATENCY_WEIGHT = 0.2;
/** Scores of a failure, of the tolerated lag, and of a doubt of 1, in milliseconds of latency. */
const TROUBLE_SCORE = 1_000;
const LAG_SCORE = 600;
const DOUBT_SCORE = 60_000;
const TROUBLE_HALF_LIFE_MS = 30_000;
const DOUBT_HALF_LIFE_MS = 300_000;
/**
 * Doubt that is added when a node is outvoted. Good nodes are outvoted occasionally, in forks;
 * lying nodes are outvoted repeatedly.
 */
const OUTVOTED_DOUBT = 0.2;
const CONTRADICTION_DOUBT = 1;
/** Amount of doubt at or above which the node has no vote. */
const VOTELESS_DOUBT = 0.5;
const KNOWN_BLOCKS = 512;

/**
 * @param name name of the node in messages: its host, numbered if several nodes share it
 * @param readIdentity reads which chain the node serves
 */
export function createNodeTracker(
  name: string,
  readIdentity: () => Promise<Identity>,
  {
    isExpected = () => false,
  }: {
    /** Returns whether an error does not count against the node. Default: every error counts. */
    isExpected?: (error: SourceError) => boolean;
  } = {},
): NodeTracker {
  const pace = createPace(name);
  const trouble = createDecaying(TROUBLE_HALF_LIFE_MS);
  const doubt = createDecaying(DOUBT_HALF_LIFE_MS);
  const known = new Set<string>();
  const lag = createLag();
  const outage = createOutage();
  let latencyMs: number | null = null;
  let failures = 0;
  let disagreements = 0;
  let wrong = '';
  let lastError = '';
  /** Time until which a node of a different chain is not checked again. */
  let wrongUntil = 0;
  let identity: Promise<Identity> | undefined;

  const remember = (hash: string): void => {
    known.delete(hash);
    known.add(hash);
    if (known.size > KNOWN_BLOCKS) known.delete(known.values().next().value!);
  };

  const recordError = (error: unknown, isOptional: boolean, order: RequestOrder): void => {
    if (!(error instanceof SourceError) || isExpected(error)) return;
    if (isOptional && isLacking(error)) return;
    if (order !== 'ordinary' && error.kind === 'unreachable') return;
    // Unsupported methods and oversized responses are not failures: another node or method is
    // tried.
    if (error.kind === 'unsupported' || error.kind === 'too-large') return;
    failures++;
    lastError = error.message;
    if (error.kind === 'rate-limited') return;
    trouble.add(1);
    if (error.kind !== 'unreachable') return;
    // After an outage, a different node may respond at this URL.
    identity = undefined;
    outage.note(performance.now());
  };

  const measure = (ms: number): void => {
    latencyMs = latencyMs === null ? ms : latencyMs + (ms - latencyMs) * LATENCY_WEIGHT;
  };

  const run: NodeTracker['run'] = (request, { isShort, order = 'ordinary', isOptional = false }) =>
    pace.run(async () => {
      try {
        const start = performance.now();
        const result = await request();
        outage.end();
        if (isShort) measure(performance.now() - start);
        return result;
      } catch (error) {
        recordError(error, isOptional, order);
        throw error;
      }
    }, order);

  const readScore = (): ScoreParts => ({
    latency: Math.max(latencyMs ?? UNKNOWN_LATENCY_MS, LATENCY_FLOOR_MS),
    lag: lag.share() * LAG_SCORE,
    failures: trouble.read() * TROUBLE_SCORE,
    doubt: doubt.read() * DOUBT_SCORE,
  });
  const exclude = (why: string): void => {
    wrong = why;
    wrongUntil = performance.now() + PROBE_WRONG_CHAIN_MS;
    identity = undefined;
  };

  const tracker: NodeTracker = {
    name,
    get score() {
      return sumOf(readScore());
    },
    get state() {
      if (wrong !== '') return 'wrong-chain';
      if (outage.probeAt() > 0) return 'down';
      if (pace.pausedUntil > 0) return 'limited';
      return lag.share() > 1 ? 'lagging' : 'good';
    },
    get restsUntil() {
      const wrongProbeAt = wrong === '' ? 0 : wrongUntil;
      const until = Math.max(wrongProbeAt, outage.probeAt(), pace.pausedUntil);
      return until > performance.now() ? until : 0;
    },
    get hasVote() {
      const { state } = tracker;
      const isHeard = state === 'good' || state === 'lagging';
      return isHeard && !lag.isStalled(performance.now()) && doubt.read() < VOTELESS_DOUBT;
    },
    run,
    remember,
    recordHead: (header) => lag.recordHead(header, performance.now()),
    knows: (hash) => known.has(hash),
    identify() {
      identity ??= (async () => {
        try {
          const found = await readIdentity();
          wrong = '';
          return found;
        } catch (error) {
          identity = undefined;
          if (error instanceof SourceError && error.kind === 'wrong-chain') exclude(error.message);
          throw error;
        }
      })();
      return identity;
    },
    forgetIdentity() {
      identity = undefined;
    },
    exclude,
    fault(kind) {
      failures++;
      trouble.add(1);
      if (kind === 'inconsistent') doubt.add(CONTRADICTION_DOUBT);
    },
    disagreed(outvoted) {
      disagreements++;
      if (outvoted) doubt.add(OUTVOTED_DOUBT);
    },
    compare: (behind) => lag.compare(behind, performance.now()),
    health: () => {
      const { state } = tracker;
      return {
        name,
        state,
        message: state === 'wrong-chain' ? wrong : /^(down|limited)$/.test(state) ? lastError : '',
        head: lag.head(),
        latencyMs: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
        failures,
        disagreements,
        score: roundScore(readScore()),
        hasVote: tracker.hasVote,
      };
    },
  };
  return tracker;
}

type ScoreParts = Omit<ProviderScore, 'total'>;

const sumOf = ({ latency, lag, failures, doubt }: ScoreParts): number =>
  latency + lag + failures + doubt;

const roundScore = (parts: ScoreParts): ProviderScore => ({
  total: Math.round(sumOf(parts)),
  latency: Math.round(parts.latency),
  lag: Math.round(parts.lag),
  failures: Math.round(parts.failures),
  doubt: Math.round(parts.doubt),
});
