/** Compares a later reading of an uncertain block with the earlier ones. */
import { joinBody } from '../../store/blocks/body.ts';
import type { BlockHeader, NewMatch } from '../../store/blocks/contract.ts';
import type { Child } from '../../store/children/contract.ts';
import type { Store } from '../../store/store.ts';
import type {
  LaterReading,
  UncertainBlock,
  UncertainMatch,
  UncertainStream,
} from '../../store/uncertain/contract.ts';
import type { StreamMatcher } from '../blockReader.ts';
import type { Matcher } from '../commit.ts';
import type { MaybeUnverified } from '../source.ts';
import { type RecordIds, decodeIds, encodeIds } from './records.ts';

/** The changes to commit after a reading. */
export interface Comparison extends Pick<LaterReading, 'matches' | 'removed'> {
  /** Children of factories in records that appeared. */
  children: readonly Child[];
  /** The records that were read so far, as the ledger stores them. */
  read: string;
  /** Number of records that appeared. */
  appeared: number;
  /** Number of records that vanished. */
  vanished: number;
}

export interface Matchers<Block> {
  matcher: Pick<Matcher<Block>, 'refresh' | 'matchAsOf' | 'findChildren' | 'addLateChildren'>;
  /** Returns the matcher of a stream, whatever its status; undefined if the stream was deleted. */
  openMatcher(streamId: string): Promise<StreamMatcher<Block> | undefined>;
}

export function createComparing<Block extends BlockHeader & MaybeUnverified>({
  records,
  store,
  matcher,
  openMatcher,
}: Matchers<Block> & {
  records: RecordIds<Block>;
  store: Pick<Store, 'listUncertainMatches' | 'listUncertainStreams'>;
}): (uncertain: UncertainBlock, block: Block) => Promise<Comparison> {
  const idsOf = (matches: readonly UncertainMatch[]): ReadonlySet<string> =>
    records.ofWebhooks(
      matches.map((match) => joinBody({ ...match, phase: 'confirmed', retries: 0 })),
    );

  const matchOne = async (streamId: string, block: Block): Promise<NewMatch[]> =>
    (await openMatcher(streamId))?.match(block) ?? [];

  /**
   * Returns the children that the records that appeared add, for the streams that were matched
   * against the block while following the chain.
   */
  const findLate = async (
    { chain, streamId: ofBackfill }: UncertainBlock,
    block: Block,
    rest: Block,
    streams: readonly UncertainStream[],
  ): Promise<Child[]> => {
    if (ofBackfill !== null) return [];
    const late = await matcher.findChildren(chain, rest);
    const growing = new Set(late.map(({ streamId }) => streamId));
    const concerned = streams.filter(({ streamId }) => growing.has(streamId));
    if (concerned.length === 0) return [];
    // Records that were read before may be about the late children.
    return (await matcher.findChildren(chain, block)).filter((child) =>
      concerned.some(({ streamId }) => streamId === child.streamId),
    );
  };

  /** Matches the records that appeared, for the streams that were matched against the block. */
  const matchAppeared = async (
    uncertain: UncertainBlock,
    block: Block,
    appeared: ReadonlySet<string>,
    existing: ReadonlyMap<string, readonly UncertainMatch[]>,
  ): Promise<{ matches: NewMatch[]; children: Child[] }> => {
    const rest = records.pick(block, (id) => appeared.has(id));
    await matcher.refresh();
    const found = await matcher.matchAsOf(uncertain.chain, rest);
    const byStream = Map.groupBy(found, ({ streamId }) => streamId);
    const streams = await store.listUncertainStreams(uncertain);
    const children = await findLate(uncertain, block, rest, streams);
    const matches: NewMatch[] = [];
    for (const { streamId, isLive } of streams) {
      if (children.some((child) => child.streamId === streamId)) {
        const known = idsOf(existing.get(streamId) ?? []);
        matches.push(
          ...(await matchOne(
            streamId,
            records.pick(block, (id) => !known.has(id)),
          )),
        );
        continue;
      }
      const its = isLive ? (byStream.get(streamId) ?? []) : await matchOne(streamId, rest);
      if (its.length === 0) continue;
      const known = idsOf(existing.get(streamId) ?? []);
      // If the block left the chain and returned, a stream may have some of the records already.
      const isKnown = [...appeared].some((id) => known.has(id));
      const left = (id: string): boolean => appeared.has(id) && !known.has(id);
      matches.push(...(isKnown ? await matchOne(streamId, records.pick(block, left)) : its));
    }
    return { matches, children };
  };

  return async (uncertain, block) => {
    const now = records.of(block);
    const unchanged = {
      matches: [],
      children: [],
      removed: [],
      read: uncertain.records,
      appeared: 0,
      vanished: 0,
    };
    if (encodeIds(now) === uncertain.records) return unchanged;
    const existing = Map.groupBy(
      await store.listUncertainMatches(uncertain),
      ({ streamId }) => streamId,
    );
    // Without the ids of all records, only the records of matches can be compared.
    const before =
      decodeIds(uncertain.records) ??
      new Set([...existing.values()].flatMap((of) => [...idsOf(of)]));
    const appeared = minus(now, before);
    // A node that lacks parts does not show that a record is gone.
    const lacksParts =
      block.unverified?.isUncertain && block.unverified.codes.some(records.isMissing);
    const left = [...before].filter((id) => lacksParts || !records.canVanish(id));
    const read = new Set([...now, ...left]);
    const vanished = minus(before, read);

    const matches: NewMatch[] = [];
    const removed: string[] = [];
    if (vanished.size > 0) {
      for (const [streamId, some] of existing) {
        if (!some[0]!.notifyRemoved || minus(idsOf(some), read).size === 0) continue;
        existing.delete(streamId);
        removed.push(...some.map(({ id }) => id));
        matches.push(...(await matchOne(streamId, block)));
      }
    }
    const isReplaced = new Set(matches.map(({ streamId }) => streamId));
    let children: readonly Child[] = [];
    if (appeared.size > 0) {
      const found = await matchAppeared(uncertain, block, appeared, existing);
      matches.push(...found.matches.filter(({ streamId }) => !isReplaced.has(streamId)));
      ({ children } = found);
    }
    return {
      matches,
      children,
      removed,
      read: encodeIds(read),
      appeared: appeared.size,
      vanished: vanished.size,
    };
  };
}

const minus = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...a].filter((id) => !b.has(id)));
