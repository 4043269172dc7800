/**
 * One node of a chain, of whatever family: asked at its own pace, and known by what became of it. How
 * it is spoken to is its family's own.
 */
import type { ProviderHealth, ProviderScore, ProviderState } from '@sluice/kit/contract';
import type { BlockHeader, BlockRef } from '../../store/blocks/contract.ts';
import { createDecaying } from './decaying.ts';
import { type FinalityTag, SourceError, isLacking } from '../source.ts';

export interface Pace {
  /** Until when the provider wants to be left alone, in milliseconds of `performance.now`, a clock that never jumps; 0 when it does not. */
  readonly pausedUntil: number;
  /**
   * Runs the request when its turn comes. Throws `rate-limited` at once while paused. Those `aside`
   * come after all others and get at most half of what is allowed: blocks do not wait for them.
   */
  run<T>(request: () => Promise<T>, order?: 'aside'): Promise<T>;
}

type Turn = PromiseWithResolvers<void>;

const START_AT_ONCE = 8;
const MAX_AT_ONCE = 32;
const MIN_GAP_MS = 10;
const MAX_GAP_MS = 1_000;
/** What remains of the gap after each answer: gone after a few hundred. */
const GAP_DECAY = 0.98;

/**
 * How fast one provider is asked. Additive increase, multiplicative decrease (as TCP does): each
 * answer allows a little more at once, each "too many requests" halves it and spreads requests out.
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
      `${name}: it limits our requests and wants none for ${Math.ceil(leftMs / 1_000)} s`,
      { retryAfterMs: leftMs },
    );
  };

  /** Lets those in who may start now; comes back by itself where only time is missing. */
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

  /** A burst under way when the limit was hit brings many refusals; they count as one. */
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
  /** Number of its newest block. */
  head(): number | null;
  noteHead(head: BlockRef, nowMs: number): void;
  /** How its head stands to the best of the others, looked at in the same moment. */
  compare(behind: number, nowMs: number): void;
  /** Blocks it is behind, of those that are no lag yet. */
  share(): number;
  /** Others have passed it, and its head has not moved for long: it speaks of the past. */
  isStalled(nowMs: number): boolean;
}

/** More than the blocks that come while two nodes of an EVM chain are asked. */
const LAG_BLOCKS = 3;
const STALLED_MS = 60_000;
const PROBE_MIN_MS = 1_000;
const PROBE_MAX_MS = 60_000;

/** @param lagBlocks so many blocks behind the others a node is not lagging yet */
export function createLag(lagBlocks = LAG_BLOCKS): Lag {
  let head: BlockRef | undefined;
  let movedAt = performance.now();
  let behind = 0;
  let behindSince: number | undefined;
  return {
    head: () => head?.number ?? null,
    noteHead(latest, nowMs) {
      if (latest.hash !== head?.hash) movedAt = nowMs;
      head = latest;
    },
    compare(blocks, nowMs) {
      behind = Math.max(0, blocks);
      behindSince = behind === 0 ? undefined : (behindSince ?? nowMs);
    },
    share: () => behind / lagBlocks,
    isStalled: (nowMs) =>
      behindSince !== undefined && nowMs - Math.max(behindSince, movedAt) > STALLED_MS,
  };
}

export interface Outage {
  /** It did not answer. While it is left alone that is no news. */
  note(nowMs: number): void;
  end(): void;
  /** When it may be asked again, 1 s to 60 s after it last did not answer; 0 while it answers. */
  probeAt(): number;
}

/** How far a node is behind the others, and for how long one that is away is left alone. */
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

/** What the nodes of every family have in common. */
export interface AnyProvider {
  readonly name: string;
  /** Lower is better; milliseconds, in a manner of speaking. */
  readonly score: number;
  readonly state: ProviderState;
  /** Until when it is best left alone, in milliseconds of `performance.now`; 0 when it may be asked. */
  readonly restsUntil: number;
  /** Whether what it says about a height counts. */
  readonly hasVoice: boolean;
  /** Its newest block. */
  readHead(): Promise<BlockHeader>;
  /** The newest block it calls so; undefined where it calls none so. `aside`: asked after all else. */
  readTagged(tag: FinalityTag, order?: 'aside'): Promise<BlockHeader | undefined>;
  /** Its block at this height; undefined where it has none. */
  readHeaderAt(number: number): Promise<BlockHeader | undefined>;
  /** The block with this hash; undefined where it does not know it. */
  readHeaderOf(hash: string): Promise<BlockHeader | undefined>;
  /** Whether it gave us this block, or spoke of it, not long ago. */
  knows(hash: string): boolean;
  /** Reads which chain it serves, once; again after it was away or was told to forget. */
  identify(): Promise<Identity>;
  forgetIdentity(): void;
  /** It serves another chain: it is left out, and looked at again now and then. */
  exclude(why: string): void;
  /** An answer had to be refused: a part was missing, or contradicted another. */
  fault(kind: 'missing' | 'inconsistent'): void;
  /** It was alone with its block at a height, or one of two that differ. */
  disagreed(outvoted: boolean): void;
  /** How its head stands to the best of the others, looked at in the same moment. */
  compare(behind: number): void;
  health(): NodeHealth;
  close(): Promise<void>;
}

/** What is known of a node by itself; which one is followed, those who choose know. */
export type NodeHealth = Omit<ProviderHealth, 'isFollowed'>;

/** What a node says it serves. */
export interface Identity {
  /** Hash of block 0, of Aptos the chain id; undefined where the node no longer has it. */
  genesisHash: string | undefined;
}

/** The part of a provider that keeps its record, and what its family tells it. */
export interface Standing extends Pick<
  AnyProvider,
  | 'name'
  | 'score'
  | 'state'
  | 'restsUntil'
  | 'hasVoice'
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
   * Makes a request in its turn and notes what became of it. A short one measures the latency; one
   * `aside` comes after those that blocks wait for. Of an optional one it is no fault of the node that it
   * refuses it.
   */
  run<T>(
    request: () => Promise<T>,
    how: { isShort: boolean; order?: 'aside' | undefined; isOptional?: boolean | undefined },
  ): Promise<T>;
  /** The node gave this block, or spoke of it. */
  remember(hash: string): void;
  /** This is its newest block. */
  noteHead(header: BlockHeader): void;
}

/** A wrong URL does not become right by itself; a node that was set up anew may. */
const PROBE_WRONG_CHAIN_MS = 60_000;
const UNKNOWN_LATENCY_MS = 100;
/** Differences below this are no reason to turn from one node to another. */
const LATENCY_FLOOR_MS = 25;
/** Of the moving average of latencies, the weight of the newest. */
const LATENCY_WEIGHT = 0.2;
/** What a failure, as much lag as is nothing yet, and a lie cost, against milliseconds of latency. */
const TROUBLE_SCORE = 1_000;
const LAG_SCORE = 600;
const DOUBT_SCORE = 60_000;
const TROUBLE_HALF_LIFE_MS = 30_000;
const DOUBT_HALF_LIFE_MS = 300_000;
/** A fork at the head outvotes a good node now and then; one that lies is outvoted again and again. */
const OUTVOTED_DOUBT = 0.2;
const CONTRADICTION_DOUBT = 1;
/** From this much doubt on its word does not count against another's. */
const VOICELESS_DOUBT = 0.5;
const KNOWN_BLOCKS = 512;

/**
 * @param name of the node in messages: its host, and a number where a host is given twice
 * @param readIdentity asks the node which chain it serves
 */
export function createStanding(
  name: string,
  readIdentity: () => Promise<Identity>,
  {
    isNoFault = () => false,
    lagBlocks,
  }: {
    /** Whether a request failed through no fault of the node. Default: none does. */
    isNoFault?: (error: SourceError) => boolean;
    /** As in `createLag`. */
    lagBlocks?: number | undefined;
  } = {},
): Standing {
  const pace = createPace(name);
  const trouble = createDecaying(TROUBLE_HALF_LIFE_MS);
  const doubt = createDecaying(DOUBT_HALF_LIFE_MS);
  const known = new Set<string>();
  const lag = createLag(lagBlocks);
  const outage = createOutage();
  let latencyMs: number | null = null;
  let failures = 0;
  let disagreements = 0;
  let wrong = '';
  let lastError = '';
  /** While it serves another chain, when to look again. */
  let wrongUntil = 0;
  let identity: Promise<Identity> | undefined;

  const remember = (hash: string): void => {
    known.delete(hash);
    known.add(hash);
    if (known.size > KNOWN_BLOCKS) known.delete(known.values().next().value!);
  };

  const noteError = (error: unknown, isOptional: boolean): void => {
    if (!(error instanceof SourceError) || isNoFault(error)) return;
    if (isOptional && isLacking(error)) return;
    // What a node does not offer, or not in this size, is asked of another, or in another way.
    if (error.kind === 'unsupported' || error.kind === 'too-large') return;
    failures++;
    lastError = error.message;
    if (error.kind === 'rate-limited') return;
    trouble.add(1);
    if (error.kind !== 'unreachable') return;
    // Whatever comes back after this may be another node.
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
        noteError(error, isOptional);
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
    get hasVoice() {
      const { state } = standing;
      const isHeard = state === 'good' || state === 'lagging';
      return isHeard && !lag.isStalled(performance.now()) && doubt.read() < VOICELESS_DOUBT;
    },
    run,
    remember,
    noteHead: (header) => lag.noteHead(header, performance.now()),
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
    compare: (blocks) => lag.compare(blocks, performance.now()),
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
        hasVoice: standing.hasVoice,
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
