/** Turns a block into matches, with their webhook bodies and enrichment plans. */
import { describeWebhook } from '@sluice/kit';
import { type ChainFamily, isConfirmedAtOnce } from '@sluice/kit/contract';
import type { Enrich } from '../enrich/enrich.ts';
import type { StreamMatcher } from '../ingest/blockReader.ts';
import type { ChildFinder, OpenFinder } from '../ingest/childSearch.ts';
import type { Matcher } from '../ingest/commit.ts';
import type { FoundBlock } from '../ingest/source.ts';
import type { ValueMatcher } from '../ingest/values/reading.ts';
import { RetryableError } from '../base/errors.ts';
import { type FoundChild, withChildren } from '../match/children.ts';
import { type WeighedPart, tooLargeReason } from '../match/parts.ts';
import { createStreamFinder, followRules } from '../match/loadedRules.ts';
import {
  type IndexedStream,
  type SingleStream,
  type RuleIndex,
  type WatchingStreams,
  loadChildren,
} from '../match/ruleIndex.ts';
import type { LogSearch } from '../match/logSearch.ts';
import { packAddresses } from '../store/addresses/packedAddresses.ts';
import { bodyBytes, splitBody, splitFinalBody } from '../store/blocks/body.ts';
import type { BlockHeader, BlockNeeds, NewMatch } from '../store/blocks/contract.ts';
import type { Child, ChildListRef, KnownChild } from '../store/children/contract.ts';
import type { Store } from '../store/store.ts';
import {
  STREAM_FAMILIES,
  type StreamOfFamily,
  type StreamRecord,
} from '../store/streams/contract.ts';
import type { ExplainScope, ExplainedRecords } from './calls.ts';
import type { TriedValues } from './values.ts';
import { type ListStreamAddresses, MAX_LISTED, searchStreams } from './searchStreams.ts';
import { flagOf } from '../config/settings.ts';

/** The record counts and transaction hashes of a match, as the ledger stores them. */
export type RecordCounts = Pick<
  NewMatch,
  'logs' | 'transactions' | 'internalTransactions' | 'records' | 'transactionHashes'
>;

/** The parts of matching that differ between chain families. */
export interface MatchFamily<
  Name extends ChainFamily,
  Rules,
  Block,
  Match,
  Tail,
  Insight,
  Sent = never,
> {
  readonly name: Name;
  createIndex(): RuleIndex<Name, Rules>;
  /** Returns the parts of a block that the streams need. */
  needs(streams: WatchingStreams<Name, Rules>, chain: string): BlockNeeds;
  /**
   * Returns how to find the blocks of the streams by their logs; undefined if every block must be
   * read. Absent for families without a search by logs.
   */
  search?(
    streams: WatchingStreams<Name, Rules>,
    chain: string,
    addressesOf: ListStreamAddresses,
  ): LogSearch | undefined;
  match(streams: WatchingStreams<Name, Rules>, chain: string, block: Block): Match[];
  /** How factories create addresses. Absent for families without factories. */
  children?: {
    /** Returns whether a stream of the chain has factories. */
    exist(streams: WatchingStreams<Name, Rules>, chain: string): boolean;
    /** Returns the keys of the factories in a stream's rules. */
    factoriesOf(rules: Rules): readonly string[];
    /** Returns the children that the block adds to the ones that are known. */
    find(
      streams: WatchingStreams<Name, Rules>,
      chain: string,
      block: Block,
      isKnown: (child: Omit<FoundChild<Name, Rules>, 'blockNumber'>) => boolean,
    ): FoundChild<Name, Rules>[];
    /** Returns the addresses of a block that may be children, in lowercase. */
    addressesOf(chain: string, block: Block): string[];
    /**
     * Returns how to find the blocks in which the factories of the streams create children.
     *
     * @param newSince first block for factories whose children of new blocks alone are wanted;
     * undefined to search for none of these
     */
    search(
      streams: WatchingStreams<Name, Rules>,
      chain: string,
      newSince: number | undefined,
    ): LogSearch | undefined;
    /**
     * Returns the children of past blocks in order, each once.
     *
     * @param how.readKnown returns which of these addresses are children at or before a block
     */
    findPast(
      streams: WatchingStreams<Name, Rules>,
      chain: string,
      blocks: readonly (Block | Required<FoundBlock>)[],
      how: {
        newSince: number | undefined;
        readKnown(addresses: readonly string[], upTo: number): Promise<KnownChild[]>;
      },
    ): Promise<FoundChild<Name, Rules>[]>;
  };
  /** How streams read values on chain. Absent for families without them. */
  values?: {
    /** Returns whether the stream reads values. */
    isRead(record: StreamOfFamily<Name>): boolean;
    /** Returns a block without records. */
    toBlock(header: BlockHeader): Block;
    toMatch(stream: IndexedStream<Name, Rules>, sent: readonly Sent[]): Match;
  };
  explain(
    streams: WatchingStreams<Name, Rules>,
    chain: string,
    block: Block,
    only: ExplainScope,
  ): ExplainedRecords;
  /** Returns what a dry run of the block reports in addition to the webhook. */
  inspect(streams: WatchingStreams<Name, Rules>, chain: string, block: Block): Insight;
  /** Returns the body, split at the position of `retries`. */
  toParts(chain: string, block: Block, match: Match): { head: object; tail: Tail };
  countRecords(match: Match): RecordCounts;
  /** Returns a lower bound of the body's size, without building it. */
  minBytes(match: Match): number;
  split(match: Match, limit: number, weigh: (part: Match) => number): WeighedPart<Match>[];
  withoutRecords(match: Match): Match;
  /** Names the only record of a match, for messages. */
  nameOf(match: Match): string;
}

/** Matcher for one stream, whatever its status, on one chain. */
export interface SingleMatcher<Block, DryRunResult, Sent> extends Pick<
  StreamMatcher<Block>,
  'needs' | 'match' | 'confirmations'
> {
  /**
   * @param block a block with all its logs, because observed events include unmatched ones
   * @param tried the values of the stream in the block; undefined if it reads none
   */
  dryRun(
    block: Block,
    isConfirmed: boolean,
    tried: TriedValues<Sent> | undefined,
  ): Promise<DryRunResult>;
}

/** Explainer of blocks for the streams of their chain, by the current rules. */
export interface Explainer<Block> {
  needs(chain: string): BlockNeeds;
  explain(chain: string, block: Block, only: ExplainScope): Promise<ExplainedRecords>;
}

export interface LiveMatcher<Block> extends Matcher<Block>, Explainer<Block> {
  /** Returns whether the streams and their addresses have been loaded. */
  isLoaded(): boolean;
}

export interface Matching<Record, Block, DryRunResult, Sent = never> {
  /** Matcher of the blocks of every chain against all current streams. */
  readonly live: LiveMatcher<Block>;
  /** Matcher of the values that current streams read. */
  readonly values: ValueMatcher<Record, Sent>;
  /**
   * Returns a matcher for a stored stream; undefined if the stream was deleted or belongs to
   * another family.
   */
  open(chain: string, streamId: string): Promise<StreamMatcher<Block> | undefined>;
  /** Returns a finder of past children for a stored stream; undefined as {@link Matching.open}. */
  openFinder(
    chain: string,
    search: Parameters<OpenFinder<Block>>[0],
  ): Promise<ChildFinder<Block> | undefined>;
  /**
   * Returns a matcher for a stream that need not be in the ledger.
   *
   * @param addresses undefined for the addresses of the stored stream with the record's id
   */
  try(
    chain: string,
    record: Record,
    addresses: readonly string[] | undefined,
  ): Promise<SingleMatcher<Block, DryRunResult, Sent>>;
}

export function createMatching<
  Name extends ChainFamily,
  Rules,
  Block extends BlockHeader,
  Match extends { stream: { record: StreamOfFamily<Name> } },
  Options,
  Tail extends object,
  Insight extends object,
  Sent = never,
>(
  family: MatchFamily<Name, Rules, Block, Match, Tail, Insight, Sent>,
  {
    store,
    enrichOf,
    maxWebhookBytes,
  }: {
    store: Store;
    enrichOf(chain: string): Enrich<Options, Tail>;
    maxWebhookBytes: number;
  },
): Matching<StreamOfFamily<Name>, Block, { webhook: object | null } & Insight, Sent> {
  type Record = StreamOfFamily<Name>;
  const { addressBytes, isFinal } = STREAM_FAMILIES[family.name];
  const optionsOf = ({ stream }: Match) => stream.record.options as Options;
  /** Returns the maximum size of a webhook, and the setting that determines it. */
  const limitOf = ({ stream }: Match) => {
    const record: StreamRecord = stream.record;
    const own = record.options.maxWebhookBytes ?? Number.POSITIVE_INFINITY;
    return own < maxWebhookBytes
      ? { bytes: own, setting: "the stream's maxWebhookBytes" }
      : { bytes: maxWebhookBytes, setting: flagOf('maxWebhookBytes') };
  };

  /** Creates a match, and computes the maximum size of its webhook. */
  const toNewMatch = (chain: string, block: Block, match: Match) => {
    const { head, tail } = family.toParts(chain, block, match);
    const record: StreamRecord = match.stream.record;
    const enrich = enrichOf(chain);
    // Plans the enrichment first, because planning writes cached metadata into `tail`.
    const enrichment = enrich.plan(optionsOf(match), tail);
    const body = isFinal ? splitFinalBody(head, tail) : splitBody(head, tail);
    const newMatch: NewMatch = {
      streamId: record.id,
      tag: record.tag,
      part: 0,
      parts: 1,
      deliver: isFinal || isConfirmedAtOnce(record.confirmations) ? 'confirmed' : record.deliver,
      ...family.countRecords(match),
      enrichment,
      setAside: null,
      about: describeWebhook({ ...head, ...tail } as Parameters<typeof describeWebhook>[0]),
      ...body,
    };
    const growth = enrichment === null ? 0 : enrich.mostGrowth(optionsOf(match), tail);
    return { newMatch, mostBytes: bodyBytes(body) + growth };
  };

  const setAside = (chain: string, block: Block, record: Match, bytes: number): NewMatch => ({
    ...toNewMatch(chain, block, family.withoutRecords(record)).newMatch,
    ...family.countRecords(record),
    setAside: tooLargeReason(family.nameOf(record), bytes, limitOf(record)),
  });

  /** Returns one match, or several if the body is too large for one webhook. */
  const toNewMatches = (chain: string, block: Block, match: Match): NewMatch[] => {
    const limit = limitOf(match).bytes;
    if (family.minBytes(match) <= limit) {
      const whole = toNewMatch(chain, block, match);
      if (whole.mostBytes <= limit) return [whole.newMatch];
    }
    const parts = family.split(match, limit, (part) => {
      const least = family.minBytes(part);
      return least > limit ? least : toNewMatch(chain, block, part).mostBytes;
    });
    return parts.map(({ part: some, tooLarge }, part) => ({
      ...(tooLarge === undefined
        ? toNewMatch(chain, block, some).newMatch
        : setAside(chain, block, some, tooLarge)),
      part,
      parts: parts.length,
    }));
  };

  const matchAll = (
    streams: WatchingStreams<Name, Rules>,
    chain: string,
    block: Block,
  ): NewMatch[] =>
    family.match(streams, chain, block).flatMap((match) => toNewMatches(chain, block, match));

  /** Returns the children that the ledger has for the addresses of a block, and those it adds. */
  const childrenAsOf = async (
    streams: WatchingStreams<Name, Rules>,
    chain: string,
    block: Block,
  ): Promise<{ known: FoundChild<Name, Rules>[]; found: FoundChild<Name, Rules>[] }> => {
    const { children } = family;
    if (children?.exist(streams, chain) !== true) return { known: [], found: [] };
    const all = streams.streams(chain);
    const known = (
      await store.findChildren(chain, {
        addresses: children.addressesOf(chain, block),
        upTo: block.number,
        streamId: all.length === 1 ? all[0]!.record.id : undefined,
      })
    ).flatMap(({ streamId, factory, address, blockNumber }): FoundChild<Name, Rules> | [] => {
      const stream = all.find(({ record }) => record.id === streamId);
      const isCurrent = stream && children.factoriesOf(stream.selection).includes(factory);
      return isCurrent ? { stream, factory, address, blockNumber } : [];
    });
    const keyOf = ({
      stream,
      factory,
      address,
    }: Omit<FoundChild<Name, Rules>, 'blockNumber'>): string =>
      `${stream.record.id} ${factory} ${address}`;
    const keys = new Set(known.map(keyOf));
    const found = children.find(streams, chain, block, (child) => keys.has(keyOf(child)));
    return { known, found };
  };

  /**
   * Returns the streams with the children that they have at a block, according to the ledger and the
   * block itself.
   */
  const asOf = async (
    streams: WatchingStreams<Name, Rules>,
    chain: string,
    block: Block,
  ): Promise<WatchingStreams<Name, Rules>> => {
    const { known, found } = await childrenAsOf(streams, chain, block);
    return withChildren(streams, [...known, ...found]);
  };

  const single = (
    chain: string,
    { confirmations }: StreamRecord,
    stream: SingleStream<Name, Rules>,
  ) => ({
    needs: family.needs(stream, chain),
    confirmations,
    match: async (block: Block) => matchAll(await asOf(stream, chain, block), chain, block),
    async dryRun(block: Block, isConfirmed: boolean, tried: TriedValues<Sent> | undefined) {
      const streams = await asOf(stream, chain, block);
      const insight = family.inspect(streams, chain, block);
      const toWebhook = async (its: Block, match: Match | undefined): Promise<object | null> => {
        if (match === undefined) return null;
        const { head, tail } = family.toParts(chain, its, match);
        const { id } = match.stream.record;
        await enrichOf(chain).complete(block, { id, options: optionsOf(match) }, tail);
        return { ...(isFinal ? {} : { confirmed: isConfirmed }), ...head, retries: 0, ...tail };
      };
      const webhook = await toWebhook(block, family.match(streams, chain, block)[0]);
      if (tried === undefined || family.values === undefined) return { webhook, ...insight };
      const { toBlock, toMatch } = family.values;
      const match =
        tried.sent.length === 0 ? undefined : toMatch(stream.streams(chain)[0]!, tried.sent);
      return {
        webhook,
        ...insight,
        valuesWebhook: await toWebhook(toBlock(block), match),
        values: tried.values,
      };
    },
  });

  const index = family.createIndex();
  const refresh = followRules(index, store);
  const packByList = (
    chain: string,
    children: readonly Child[],
  ): (readonly [ChildListRef, Uint8Array])[] =>
    [...Map.groupBy(children, ({ streamId, factory }) => `${streamId} ${factory}`).values()].map(
      (some) => {
        const { streamId, factory } = some[0]!;
        const { bytes } = packAddresses(
          some.map(({ address }) => address),
          addressBytes,
        );
        return [{ streamId, chain, factory }, bytes];
      },
    );
  /** Number of times that loaded children were removed or forgotten. */
  let removals = 0;
  /** The last block of each chain that was matched since blocks were last removed. */
  const matchedUpTo = new Map<string, number>();
  /** The running writes of late children, by chain. */
  const lateWrites = new Map<string, Set<Promise<unknown>>>();
  const forgetChildren = (chain: string): void => {
    removals++;
    index.forgetChildren(chain);
  };
  const changeChildren: LiveMatcher<Block>['changeChildren'] = (chain, { added = [], removed }) => {
    if (removed !== undefined) matchedUpTo.delete(chain);
    for (const [list, addresses] of packByList(chain, added)) index.addChildren(list, addresses);
    if (removed !== undefined && removed.length > 0) removals++;
    for (const [list, addresses] of packByList(chain, removed ?? [])) {
      index.removeChildren(list, addresses);
    }
  };
  const toChild = ({ stream, factory, address }: FoundChild<Name, Rules>): Child => ({
    streamId: stream.record.id,
    factory,
    address,
  });
  const hasChild = (
    chain: string,
    child: Omit<FoundChild<Name, Rules>, 'blockNumber'>,
  ): boolean => {
    let isChild = false;
    index.visitChildren(chain, child.address, 2, (stream, factory) => {
      isChild ||= stream === child.stream && factory === child.factory;
    });
    return isChild;
  };
  const findStream = createStreamFinder({ index, refresh, store, createIndex: family.createIndex });

  return {
    live: {
      refresh,
      isLoaded: () => index.revision >= 0,
      needs: (chain) => family.needs(index, chain),
      search: (chain) =>
        searchStreams(store, (addressesOf) => family.search?.(index, chain, addressesOf)),
      async loadChildren(chain) {
        while (lateWrites.has(chain)) await Promise.allSettled(lateWrites.get(chain)!);
        await loadChildren(index, store, chain);
      },
      match(chain, block) {
        if (index.missingChildren(chain) !== undefined || lateWrites.has(chain)) {
          throw new RetryableError('unavailable', 'the children of a factory are being loaded');
        }
        matchedUpTo.set(chain, block.number);
        const found = family.children?.find(index, chain, block, (child) => hasChild(chain, child));
        return {
          matches: matchAll(withChildren(index.following, found ?? []), chain, block),
          children: (found ?? []).map(toChild),
        };
      },
      findChildren: async (chain, block) =>
        (await childrenAsOf(index, chain, block)).found.map(toChild),
      async addLateChildren(chain, children, write) {
        const upTo = matchedUpTo.get(chain) ?? -1;
        if (children.length === 0) return write(upTo);
        const before = removals;
        const written = write(upTo);
        const writes = lateWrites.get(chain) ?? new Set();
        lateWrites.set(chain, writes.add(written));
        try {
          const result = await written;
          // A rewind may have removed some of them after the write.
          if (removals !== before) forgetChildren(chain);
          else if (result) changeChildren(chain, { added: result.children });
          return result;
        } catch (error) {
          forgetChildren(chain);
          throw error;
        } finally {
          writes.delete(written);
          if (writes.size === 0) lateWrites.delete(chain);
        }
      },
      changeChildren,
      forgetChildren,
      matchAsOf: async (chain, block) => matchAll(await asOf(index, chain, block), chain, block),
      async explain(chain, block, only) {
        await refresh('now');
        return family.explain(await asOf(index, chain, block), chain, block, only);
      },
    },

    values: {
      refresh,
      streams: (chain) =>
        index
          .streams(chain)
          .map(({ record }) => record)
          .filter((record) => family.values?.isRead(record)),
      toMatches(chain, header, sent) {
        const { values } = family;
        if (values === undefined) return [];
        const block = values.toBlock(header);
        return index.streams(chain).flatMap((stream) => {
          const its = sent.get(stream.record.id);
          return its === undefined ? [] : toNewMatches(chain, block, values.toMatch(stream, its));
        });
      },
    },

    async open(chain, streamId) {
      const record = await store.readStream(streamId);
      if (record?.family !== family.name) return undefined;
      const stream = await findStream(record as Record);
      return {
        ...single(chain, record, stream),
        // Longer lists are not part of the search.
        rules: [record.options, stream.addressCount > MAX_LISTED || stream.addressVersion],
        search: () =>
          searchStreams(store, (addressesOf) => family.search?.(stream, chain, addressesOf)),
      };
    },

    async openFinder(chain, { streamId, blockFrom, isForAll }) {
      const record = await store.readStream(streamId);
      const { children } = family;
      if (record?.family !== family.name || children === undefined) return undefined;
      const own = family.createIndex();
      own.put(record as Record);
      const stream = own.only(record as Record)!;
      const newSince = isForAll ? blockFrom : undefined;
      return {
        needs: { logs: true, transactions: false, traces: false },
        rules: record.options,
        search: () => Promise.resolve(children.search(stream, chain, newSince)),
        find: async (blocks) =>
          (
            await children.findPast(stream, chain, blocks, {
              newSince,
              readKnown: (addresses, upTo) =>
                store.findChildren(chain, { addresses, upTo, streamId }),
            })
          ).map((child) => ({ ...toChild(child), blockNumber: child.blockNumber })),
      };
    },

    async try(chain, record, addresses) {
      if (addresses === undefined) return single(chain, record, await findStream(record));
      const own = family.createIndex();
      own.put(record);
      own.addAddresses(record.id, packAddresses(addresses, addressBytes).bytes);
      return single(chain, record, own.only(record)!);
    },
  };
}
