/** What a chain reports of itself: how far it is, whether it is live, and what is wrong. */
import { confirmationsOf, findEvmChain } from '@sluice/kit/contract';
import type { Log } from '../../base/log.ts';
import type { BlockRef } from '../../store/blocks/contract.ts';
import type { ChainReport } from '../../store/upkeep/contract.ts';
import type { Confirming } from '../confirming.ts';
import type { LocalChain } from '../localChain.ts';
import type { ChainSource } from '../source.ts';
import { createFinality } from './finality.ts';
import { createProgress } from './progress.ts';

export interface ReportOptions {
  chain: string;
  /** What people call the chain, and its short code; by default what the contract lists. */
  names?: { name: string; code: string } | undefined;
  /** As in `ForkOptions`. */
  isFinal?: boolean | undefined;
  /**
   * Blocks that must follow before a match is confirmed; default: what the contract lists.
   * `finalized`: until the chain itself calls its block final.
   */
  confirmations?: number | 'finalized' | undefined;
}

type ReportedSource = Pick<
  ChainSource<unknown>,
  'agreement' | 'providers' | 'lacksTraces' | 'readTagged'
>;

export interface Status {
  report(): ChainReport;
  /** Reports, although the state is the same. */
  publish(): void;
  /** Number of the newest block of the chain. */
  head(): number | null;
  noteHead(head: BlockRef): void;
  /** The next block to commit is well below this one. */
  catchUp(to: number): void;
  /** All blocks there are are committed. */
  goLive(): void;
  goDown(why: string): void;
}

/** Behind by fewer, a chain catches up without a line in the log. */
export const LOGGED_GAP_BLOCKS = 32;
const PROGRESS_MS = 1_000;
const NO_TRACES =
  'no node of this chain offers debug_traceBlockByHash or trace_block: includeInternalTxs finds nothing';

/** What there is to say of a chain that this process does not read. */
export function reportUnread(
  { chain, names = findEvmChain(chain), confirmations = confirmationsOf(chain) }: ReportOptions,
  source: ReportedSource,
): ChainReport {
  return {
    id: chain,
    name: names?.name ?? `Chain ${Number(chain)}`,
    code: names?.code ?? chain,
    state: 'starting',
    message: '',
    head: null,
    headAgeMs: null,
    checkpoint: null,
    confirmations,
    confirmedUpTo: null,
    safe: null,
    finalized: null,
    agreement: source.agreement(),
    providers: source.providers(),
    progress: null,
    lacksTraces: source.lacksTraces,
  };
}

export function createStatus(
  options: ReportOptions,
  {
    source,
    local,
    confirming,
    needsTraces,
    onReport,
    log,
  }: {
    source: ReportedSource;
    local: Pick<LocalChain, 'tip' | 'confirmedUpTo'>;
    confirming: Pick<Confirming, 'note'>;
    needsTraces(): boolean;
    onReport(report: ChainReport): void;
    log: Log;
  },
): Status {
  const { chain, isFinal } = options;
  const finality = createFinality(source);
  const progress = createProgress();
  let state: ChainReport['state'] = 'starting';
  let message = '';
  let head: BlockRef | undefined;
  let headSeenAt = 0;
  let publishedAt = 0;

  const report = (): ChainReport => ({
    ...reportUnread(options, source),
    state,
    message,
    head: head?.number ?? null,
    headAgeMs: head === undefined ? null : Math.round(performance.now() - headSeenAt),
    checkpoint: local.tip()?.number ?? null,
    confirmedUpTo: local.confirmedUpTo(),
    ...(isFinal
      ? { safe: head?.number ?? null, finalized: head?.number ?? null }
      : finality.heights()),
    progress: state === 'catching-up' ? (progress.read() ?? null) : null,
  });

  const publish = (): void => {
    publishedAt = performance.now();
    onReport(report());
  };

  const setState = (next: ChainReport['state'], why: string): void => {
    if (next === state && why === message) return;
    if (next === 'down') log.warn('chain down', { chain, reason: why });
    else if (next === 'live' && state !== 'catching-up') {
      log.info('chain live', { chain, head: head?.number ?? null });
    }
    state = next;
    message = why;
    publish();
  };

  /** What is wrong although blocks come. */
  const liveNote = (): string =>
    [source.lacksTraces && needsTraces() ? NO_TRACES : '', confirming.note()]
      .filter(Boolean)
      .join('; ');

  return {
    report,
    publish,
    head: () => head?.number ?? null,
    noteHead(latest) {
      if (latest.hash !== head?.hash) headSeenAt = performance.now();
      head = latest;
      if (!isFinal) finality.look(latest.number);
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
    goDown: (why) => setState('down', why),
  };
}
