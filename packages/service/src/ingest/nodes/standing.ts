/**
 * Paces the requests to one node, and tracks how reliable it is. Used by the providers of every
 * chain family.
 */
import type { ProviderHealth, ProviderScore, ProviderState } from '@sluice/kit/contract';
import type { BlockHeader, BlockRef } from '../../store/blocks/contract.ts';
import { createDecaying } from './decaying.ts';
import { type FinalityTag, SourceError, isLacking } from '../source.ts';

export interface Pace {
  /** The `performance.now` time at which the provider's pause ends; 0 while it is not paused. */
  readonly pausedUntil: number;
  /**
   * Runs the request when its turn comes; while paused, throws `rate-limited` immediately. `aside`
   * requests start only when no ordinary request waits, and use at most half of the capacity, so
   * that blocks are hardly delayed.
   */
  run<T>(request: () => Promise<T>, order?: 'aside'): Promise<T>;
}

type Turn = PromiseWithResolvers<void>;

const START_AT_ONCE = 8;
const MAX_AT_ONCE = 32;
const MIN_GAP_MS = 10;
const MAX_GAP_MS = 1_000;
/**
 * Factor that each success applies to the gap between requests. The gap is 0 after at most a few
 * hundred successes.
 */
const GAP_DECAY = 0.98;

/**
 * Paces the requests to one provider: additive increase, multiplicative decrease, as in TCP. Each
 * success raises the concurrency slightly; each "too many requests" halves it and spreads requests
 * out.
 */
export function createPace(name: string): Pace {
  let allowed = START_AT_ONCE;
  let running = 0;
  let gapMs = 0;
  let nextStart = 0;
  let pausedUntil = 0;
  let lastCut = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  const waiting: Turn[] = [];
  const waitingAside: Turn[] = [];
  let runningAside = 0;

  const pauseError = (): SourceError | undefined => {
    const leftMs = pausedUntil - performance.now();
    if (leftMs <= 0) return undefined;
    return new SourceError(
      'rate-limited',
      `${name}: rate limited for another ${Math.ceil(leftMs / 1_000)} s`,
      { retryAfterMs: leftMs },
    );
  };

  /**
   * Starts the requests that may run now, or rejects all waiting requests while paused. Sets a
   * timer if only the gap delays the next request.
   */
  const admit = (): void => {
    clearTimeout(timer);
    const paused = pauseError();
    if (paused !== undefined) {
      for (const each of [...waiting.splice(0), ...waitingAside.splice(0)]) each.reject(paused);
      return;
    }
    while (running < Math.floor(allowed)) {
      const mayAside = runningAside < Math.max(1, Math.floor(allowed / 2));
      const queue = waiting.length > 0 || !mayAside ? waiting : waitingAside;
      if (queue.length === 0) return;
      const waitMs = nextStart - performance.now();
      if (waitMs > 0) {
        timer = setTimeout(admit, waitMs);
        return;
      }
      running++;
      if (queue === waitingAside) runningAside++;
      nextStart = performance.now() + gapMs;
      queue.shift()!.resolve();
    }
  };

  /** Pauses the requests, and slows them down at most once per second. */
  const slowDown = (retryAfterMs: number): void => {
    const now = performance.now();
    pausedUntil = Math.max(pausedUntil, now + retryAfterMs);
    if (now - lastCut < 1_000) return;
    lastCut = now;
    allowed = Math.max(1, allowed / 2);
    gapMs = Math.min(MAX_GAP_MS, Math.max(MIN_GAP_MS, gapMs * 2));
  };

  return {
    get pausedUntil() {
      return pausedUntil > performance.now() ? pausedUntil : 0;
    },
    async run(request, order) {
      const turn: Turn = Promise.withResolvers();
      (order === 'aside' ? waitingAside : waiting).push(turn);
      admit();
      await turn.promise;
      try {
        const result = await request();
        allowed = Math.min(MAX_AT_ONCE, allowed + 1 / allowed);
        gapMs = gapMs < 1 ? 0 : gapMs * GAP_DECAY;
        return result;
      } catch (error) {
        if (error instanceof SourceError && error.kind === 'rate-limited') {
          slowDown(error.retryAfterMs ?? 0);
        }
        throw error;
      } finally {
        running--;
        if (order === 'aside') runningAside--;
        admit();
      }
    },
  };
}

export interface Lag {
  /** Returns the number of the node's newest block; null if unknown. */
  head(): number | null;
  recordHead(head: BlockRef, nowMs: number): void;
  /** Records the node's distance to the best node, whose head was read at the same time. */
  compare(behind: Behind, nowMs: number): void;
  /** Returns the lag behind the best node, as a share of the tolerated lag. */
  share(): number;
  /**
   * Returns whether the node has been behind, without a new head, for more than {@link STALLED_MS}.
   */
  isStalled(nowMs: number): boolean;
}

/** The distance from a node's head to the head of the best node, by number and timestamp. */
export interface Behind {
  blocks: number;
  seconds: number;
}

/** Tolerated lag. Both numbers must be exceeded, because a fast chain has many blocks a second. */
const LAG_BLOCKS = 3;
const LAG_SECONDS = 5;
const STALLED_MS = 60_000;
const PROBE_MIN_MS = 1_000;
const PROBE_MAX_MS = 60_000;

export function createLag(): Lag {
  let head: BlockRef | undefined;
  let movedAt = performance.now();
  let share = 0;
  let behindSince: number | undefined;
  return {
    head: () => head?.number ?? null,
    recordHead(latest, nowMs) {
      if (latest.hash !== head?.hash) movedAt = nowMs;
      head = latest;
    },
    compare({ blocks, seconds }, nowMs) {
      share = Math.max(0, Math.min(blocks / LAG_BLOCKS, seconds / LAG_SECONDS));
      behindSince = blocks <= 0 ? undefined : (behindSince ?? nowMs);
    },
    share: () => share,
    isStalled: (nowMs) =>
      behindSince !== undefined && nowMs - Math.max(behindSince, movedAt) > STALLED_MS,
  };
}

export interface Outage {
  /** Records a failure to respond. Ignored while the node is backed off. */
  note(nowMs: number): void;
  end(): void;
  /**
   * Returns the time at which the node may be queried again, 1 s to 60 s after the last recorded
   * failure; 0 while it responds.
   */
  probeAt(): number;
}

/** Tracks the back-off of an unresponsive node. */
export function createOutage(): Outage {
  let probeAt = 0;
  let waitMs = 0;
  return {
    note(nowMs) {
      if (nowMs < probeAt) return;
      waitMs = Math.min(Math.max(waitMs * 2, PROBE_MIN_MS), PROBE_MAX_MS);
      probeAt = nowMs + waitMs;
    },
    end() {
      probeAt = waitMs = 0;
    },
    probeAt: () => probeAt,
  };
}

/** The interface that nodes of every chain family share. */
export interface AnyProvider {
  readonly name: string;
  /** Score, roughly in milliseconds; lower is better. */
  readonly score: number;
  readonly state: ProviderState;
  /** The `performance.now` time at which the node's back-off ends; 0 if it is not backed off. */
  readonly restsUntil: number;
  /** Whether the node has a vote on the block at a height. */
  readonly hasVote: boolean;
  readHead(): Promise<BlockHeader>;
  /**
   * Reads the header of the block with this tag; undefined if the node has none. `aside` reads at
   * low priority.
   */
  readTagged(tag: FinalityTag, order?: 'aside'): Promise<BlockHeader | undefined>;
  /** Reads the header at this height; undefined if the node has none. */
  readHeaderAt(number: number): Promise<BlockHeader | undefined>;
  /** Reads the header with this hash; undefined if the node does not know it. */
  readHeaderOf(hash: string): Promise<BlockHeader | undefined>;
  /** Returns whether the node recently returned or mentioned this block. */
  knows(hash: string): boolean;
  /**
   * Reads which chain the node serves. The result is reused until an outage, or until `exclude` or
   * `forgetIdentity` is called.
   */
  identify(): Promise<Identity>;
  forgetIdentity(): void;
  /** Excludes the node because it serves a different chain. It is checked again periodically. */
  exclude(why: string): void;
  /**
   * Records that a response was rejected because a part was missing or contradicted another part.
   */
  fault(kind: 'missing' | 'inconsistent'): void;
  /** Records a disagreement about the block at a height, and whether this node was outvoted. */
  disagreed(outvoted: boolean): void;
  /** Records the node's distance to the best node, whose head was read at the same time. */
  compare(behind: Behind): void;
  health(): NodeHealth;
  close(): Promise<void>;
}

/** The health of one node; `providers.ts` adds `isPrimary` and `addedId`. */
export type NodeHealth = Omit<ProviderHealth, 'isPrimary' | 'addedId'>;

export interface Identity {
  /** Hash of block 0, or the chain id on Aptos; undefined if the node no longer has block 0. */
  genesisHash: string | undefined;
}

/**
 * The part of a provider that is the same in every chain family, and the methods that update it.
 */
export interface Standing extends Pick<
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
   * latency. `aside` requests start only when no ordinary request waits. For optional requests,
   * errors that mean missing data or an unsupported method do not count against the node.
   */
  run<T>(
    request: () => Promise<T>,
    how: { isShort: boolean; order?: 'aside' | undefined; isOptional?: boolean | undefined },
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
export function createStanding(
  name: string,
  readIdentity: () => Promise<Identity>,
  {
    isExpected = () => false,
  }: {
    /** Returns whether an error does not count against the node. Default: every error counts. */
    isExpected?: (error: SourceError) => boolean;
  } = {},
): Standing {
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

  const recordError = (error: unknown, isOptional: boolean): void => {
    if (!(error instanceof SourceError) || isExpected(error)) return;
    if (isOptional && isLacking(error)) return;
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

  const run: Standing['run'] = (request, { isShort, order, isOptional = false }) =>
    pace.run(async () => {
      try {
        const start = performance.now();
        const result = await request();
        outage.end();
        if (isShort) measure(performance.now() - start);
        return result;
      } catch (error) {
        recordError(error, isOptional);
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

  const standing: Standing = {
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
      const { state } = standing;
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
      const { state } = standing;
      return {
        name,
        state,
        message: state === 'wrong-chain' ? wrong : /^(down|limited)$/.test(state) ? lastError : '',
        head: lag.head(),
        latencyMs: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
        failures,
        disagreements,
        score: roundScore(readScore()),
        hasVote: standing.hasVote,
      };
    },
  };
  return standing;
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
