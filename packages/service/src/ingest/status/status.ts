/** Reports the state of a chain: its progress, whether it is live, and any problem. */
import { confirmationsOf } from '@sluice/kit/contract';
import type { Log } from '../../base/log.ts';
import { type BlockHeader, type BlockRef, FINALITY_TAGS } from '../../store/blocks/contract.ts';
import type { ChainReport } from '../../store/leases/contract.ts';
import type { LocalChain } from '../localChain.ts';
import type { ConfirmationRule } from '../confirming.ts';
import type { ChainSource } from '../source.ts';
import type { Finality } from '../finality.ts';
import { createProgress } from './progress.ts';

export interface ReportOptions {
  chain: string;
  /** Display name and short code. Default: derived from the id. */
  names?: { name: string; code: string } | undefined;
  /** True for a chain without forks. Default: false. */
  isFinal?: boolean | undefined;
  /**
   * Number of blocks that must follow before a match is confirmed, or `finalized` to wait until the
   * chain reports the block as finalized. Default: depends on the chain; see `confirmationsOf`.
   */
  confirmations?: number | 'finalized' | undefined;
}

type ReportedSource = Pick<
  ChainSource<unknown>,
  'agreement' | 'proof' | 'trust' | 'providers' | 'lacksTraces'
>;

export interface Status {
  report(): ChainReport;
  /** Sends a report even if the state has not changed. */
  publish(): void;
  /** Returns the number of the newest known block of the chain; null before the first read. */
  head(): number | null;
  recordHead(head: BlockRef): void;
  /** Reports that the chain is catching up to this height. */
  catchUp(to: number): void;
  /** Reports that all available blocks are committed. */
  goLive(): void;
  /** Reports that a block waits for a second witness. */
  settle(why: string): void;
  goDown(why: string): void;
}

/** Minimum distance to the head, in blocks, at which catching up is logged. */
const LOGGED_GAP_BLOCKS = 32;
/** Maximum distance to the head, in seconds, of a live chain that is more than a block behind. */
const LIVE_GAP_SECONDS = 5;

/** Returns whether a block is so far behind the head that the chain is catching up. */
export const isBehind = (block: BlockHeader, head: BlockHeader): boolean => {
  const blocks = head.number - block.number;
  const seconds = head.timestamp - block.timestamp;
  return blocks > LOGGED_GAP_BLOCKS || (blocks > 1 && seconds > LIVE_GAP_SECONDS);
};

const PROGRESS_MS = 1_000;
const NO_TRACES =
  'no node of this chain supports debug_traceBlockByHash or trace_block: streams match no internal transactions';

/** Returns the report of a chain that this process does not read. */
export function reportUnread(
  { chain, names, confirmations = confirmationsOf(chain) }: ReportOptions,
  source: ReportedSource,
): ChainReport {
  return {
    id: chain,
    name: names?.name ?? `Chain ${Number(chain)}`,
    code: names?.code ?? chain,
    state: 'starting',
    message: '',
    trust: source.trust ?? null,
    head: null,
    headAgeMs: null,
    checkpoint: null,
    confirmations,
    confirmedUpTo: null,
    safe: null,
    finalized: null,
    agreement: source.agreement(),
    proof: source.proof?.() ?? null,
    providers: source.providers(),
    progress: null,
    lacks: source.lacksTraces ? ['traces'] : [],
    failingReads: {},
  };
}

export function createStatus(
  options: ReportOptions,
  {
    source,
    local,
    confirming,
    finality,
    needsTraces,
    onReport,
    log,
  }: {
    source: ReportedSource;
    local: Pick<LocalChain, 'tip' | 'confirmedHeights' | 'note'>;
    confirming: Pick<ConfirmationRule, 'note'>;
    finality: Pick<Finality, 'heights' | 'lacks'>;
    needsTraces(): boolean;
    onReport(report: ChainReport): void;
    log: Log;
  },
): Status {
  const { chain, isFinal } = options;
  const progress = createProgress();
  let state: ChainReport['state'] = 'starting';
  let message = '';
  let head: BlockRef | undefined;
  let headSeenAt = 0;
  let publishedAt = 0;
  /** Reasons that were logged since the chain was last live, without their numbers. */
  const logged = new Set<string>();

  const logDown = (reason: string): void => {
    const kind = reason.replaceAll(/\d+/g, '#');
    if (logged.has(kind)) return;
    logged.add(kind);
    log.warn('chain down', { chain, reason });
  };

  const confirmedUpTo = (): number | null => {
    const upTo = local.confirmedHeights()?.chain ?? -1;
    return upTo < 0 ? null : upTo;
  };

  const report = (): ChainReport => {
    const unread = reportUnread(options, source);
    return {
      ...unread,
      lacks: [...unread.lacks, ...FINALITY_TAGS.filter((tag) => finality.lacks(tag))],
      state,
      message,
      head: head?.number ?? null,
      headAgeMs: head === undefined ? null : Math.round(performance.now() - headSeenAt),
      checkpoint: local.tip()?.number ?? null,
      confirmedUpTo: confirmedUpTo(),
      ...(isFinal
        ? { safe: head?.number ?? null, finalized: head?.number ?? null }
        : finality.heights()),
      progress: state === 'catching-up' ? (progress.read() ?? null) : null,
    };
  };

  const publish = (): void => {
    publishedAt = performance.now();
    onReport(report());
  };

  const setState = (next: ChainReport['state'], why: string): void => {
    if (next === state && why === message) return;
    if (next === 'down') logDown(why);
    else if (next === 'settling' && state !== next) {
      log.warn('block settling', { chain, reason: why });
    } else if (next === 'live' && state !== 'catching-up') {
      log.info('chain live', { chain, head: head?.number ?? null });
    }
    if (next === 'live') logged.clear();
    state = next;
    message = why;
    publish();
  };

  /** Describes problems that don't stop the chain; empty if there are none. */
  const liveNote = (): string =>
    [local.note(), source.lacksTraces && needsTraces() ? NO_TRACES : '', confirming.note()]
      .filter(Boolean)
      .join('; ');

  return {
    report,
    publish,
    head: () => head?.number ?? null,
    recordHead(latest) {
      if (latest.hash !== head?.hash) headSeenAt = performance.now();
      head = latest;
    },
    catchUp(to) {
      const at = local.tip()!.number;
      if (progress.read() === undefined) {
        progress.begin(at, to);
        if (to - at >= LOGGED_GAP_BLOCKS) log.info('catching up', { chain, from: at, to });
      }
      progress.note(at, to);
      setState('catching-up', liveNote());
      if (performance.now() - publishedAt >= PROGRESS_MS) publish();
    },
    goLive() {
      const at = local.tip()!.number;
      progress.note(at, head?.number ?? 0);
      const done = progress.end();
      if (done !== undefined && done.blocks >= LOGGED_GAP_BLOCKS) {
        log.info('caught up', { chain, at, ...done });
      }
      setState('live', liveNote());
    },
    settle: (why) => setState('settling', why),
    goDown: (why) => setState('down', why),
  };
}
