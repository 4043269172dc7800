/**
 * Reads pages of transactions from one endpoint of the gRPC transaction stream. As with a fullnode,
 * pages are requested by their first version. The stream is read no further than the requested
 * pages.
 */
import type { AptosTransaction } from '../match/block.ts';
import type { AptosCall, AptosGrpc } from './grpc.ts';
import type { AptosPage } from './provider.ts';
import { toAptosTransaction } from './transaction.ts';
import { SourceError } from '../../../ingest/source.ts';
import { createNodeTracker } from '../../../ingest/nodes/nodeTracker.ts';
import type { NodeHealth } from '../../../ingest/nodes/anyProvider.ts';
import { flagOf } from '../../../config/settings.ts';

export interface AptosStream {
  readonly name: string;
  /**
   * Score, lower is better; undefined while the endpoint is backed off, or has lost its vote by
   * returning wrong data.
   */
  readonly score: number | undefined;
  /**
   * Returns `limit` transactions, starting with this version. Waits for transactions that don't
   * exist yet, but fails if the endpoint sends nothing for 5 seconds.
   */
  readPage(start: number, limit: number): Promise<AptosPage>;
  health(): NodeHealth;
  close(): void;
}

/**
 * Maximum number of open streams: the live stream and several backfills. Providers allow about 20
 * per API key.
 */
const MAX_FEEDS = 4;
/** A page that starts at least this many versions ahead of all streams gets its own stream. */
const MAX_AHEAD = 2_000;
/** Time without a message after which a stream counts as silent while a page waits for it. */
const PATIENCE_MS = 5_000;
/** Time after which unused streams are closed. */
const IDLE_MS = 60_000;

/**
 * @param name name of the endpoint in messages
 * @param chainId returns the chain id of the network, in decimal; undefined to accept any chain
 */
export function createAptosStream(
  url: string,
  name: string,
  chainId: () => string | undefined,
): AptosStream {
  const tracker = createNodeTracker(name, () => Promise.resolve({ genesisHash: undefined }));
  let grpc: Promise<AptosGrpc> | undefined;
  let feeds: Feed[] = [];

  const drop = (feed: Feed): void => {
    feed.close();
    feeds = feeds.filter((each) => each !== feed);
  };

  const open = async (start: number): Promise<AptosCall> => {
    grpc ??= import('./grpc.ts').then(({ createAptosGrpc }) => createAptosGrpc(url, name));
    return (await grpc).call(start);
  };

  /** Checks the chain id of a message, and that its versions are contiguous from `expected`. */
  const check = async (
    expected: number,
    { chainId: found, transactions }: { chainId: string; transactions: AptosTransaction[] },
  ): Promise<void> => {
    const wanted = chainId();
    if (wanted !== undefined && found !== wanted) {
      const why = `${name} streams the Aptos chain ${found}, not ${wanted}. Correct its ${flagOf('aptos')}`;
      tracker.exclude(why);
      throw new SourceError('wrong-chain', why);
    }
    // Ends an earlier exclusion, because the endpoint serves the correct chain again.
    await tracker.identify();
    for (const [n, { version }] of transactions.entries()) {
      if (version === expected + n) continue;
      throw new SourceError(
        'inconsistent',
        `${name}: the transaction stream returned version ${version} instead of ${expected + n}`,
      );
    }
  };

  const openFeed = (start: number): Feed => {
    const feed = createFeed(name, start, open, check);
    feeds = [...feeds, feed];
    if (feeds.length > MAX_FEEDS) drop(feeds.toSorted((a, b) => a.usedAt - b.usedAt)[0]!);
    return feed;
  };

  const take = async (start: number, limit: number, mayReopen = true): Promise<Taken> => {
    const feed = feeds.find(({ next }) => start >= next && start - next < MAX_AHEAD);
    const own = feed ?? openFeed(start);
    try {
      return await own.take(start, limit);
    } catch (error) {
      drop(own);
      // Streams may end, and servers close idle ones, so only a failure to reopen is a fault.
      const isOver = error instanceof SourceError && error.kind === 'unreachable';
      if (feed !== undefined && isOver && !own.isSilent && mayReopen)
        return take(start, limit, false);
      throw error;
    }
  };

  const sweep = setInterval(() => {
    const idle = feeds.filter(({ usedAt }) => performance.now() - usedAt > IDLE_MS);
    for (const feed of idle) drop(feed);
  }, IDLE_MS);
  sweep.unref();

  return {
    name,
    get score() {
      const isDoubted = tracker.state === 'good' && !tracker.hasVote;
      return tracker.restsUntil > 0 || isDoubted ? undefined : tracker.score;
    },
    async readPage(start, limit) {
      try {
        const taken = await tracker.run(() => take(start, limit), { isShort: false });
        return { ...taken, giver: tracker };
      } catch (error) {
        if (error instanceof SourceError && error.kind === 'inconsistent') {
          tracker.fault('inconsistent');
        }
        throw error;
      }
    },
    health: tracker.health,
    close() {
      clearInterval(sweep);
      for (const feed of feeds) drop(feed);
      grpc?.then((its) => its.close()).catch(() => {});
    },
  };
}

type Taken = Pick<AptosPage, 'transactions' | 'sizeBytes'>;

/** An open stream of contiguous transactions. */
interface Feed {
  /** First version that has not been requested yet. */
  readonly next: number;
  /** Time of the last use, from `performance.now`. */
  readonly usedAt: number;
  /** True if the stream sent nothing for {@link PATIENCE_MS} while a page was requested. */
  readonly isSilent: boolean;
  /** Returns `limit` transactions, starting with `start`. Requests are served in order. */
  take(start: number, limit: number): Promise<Taken>;
  close(): void;
}

function createFeed(
  name: string,
  first: number,
  open: (start: number) => Promise<AptosCall>,
  check: (
    expected: number,
    batch: { chainId: string; transactions: AptosTransaction[] },
  ) => Promise<void>,
): Feed {
  let next = first;
  let usedAt = performance.now();
  let isSilent = false;
  let call: Promise<AptosCall> | undefined;
  /**
   * Version that the next message should begin with. Some earlier versions may still be buffered.
   */
  let expected = first;
  let held: { transaction: AptosTransaction; sizeBytes: number }[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});

  const readMore = async (): Promise<void> => {
    call ??= open(first);
    const opened = await call;
    const patience = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      isSilent = true;
      patience.reject(
        new SourceError(
          'unreachable',
          `${name}: the transaction stream sent nothing for ${PATIENCE_MS / 1000} s; expected version ${expected}`,
        ),
      );
    }, PATIENCE_MS);
    try {
      const batch = await Promise.race([opened.read(), patience.promise, closed.promise]);
      if (batch === undefined) {
        throw new SourceError('unreachable', `${name}: the transaction stream ended`);
      }
      const transactions = batch.transactions.map((raw) => toAptosTransaction(raw, name));
      await check(expected, { chainId: batch.chainId, transactions });
      expected += transactions.length;
      const sizeBytes = batch.sizeBytes / transactions.length;
      for (const transaction of transactions) held.push({ transaction, sizeBytes });
    } finally {
      clearTimeout(timer);
    }
  };

  const take = async (start: number, limit: number): Promise<Taken> => {
    while (expected < start + limit) await readMore();
    const taken = held.filter(
      ({ transaction: { version } }) => version >= start && version < start + limit,
    );
    held = held.filter(({ transaction: { version } }) => version >= start + limit);
    return {
      transactions: taken.map(({ transaction }) => transaction),
      sizeBytes: taken.reduce((sum, each) => sum + each.sizeBytes, 0),
    };
  };

  return {
    get next() {
      return next;
    },
    get usedAt() {
      return usedAt;
    },
    get isSilent() {
      return isSilent;
    },
    take(start, limit) {
      next = start + limit;
      usedAt = performance.now();
      const taken = turn.then(() => take(start, limit));
      turn = taken;
      turn.catch(() => {});
      return taken;
    },
    close() {
      closed.reject(new SourceError('unreachable', `${name}: the transaction stream was closed`));
      // If the call could not be opened, `take` reports the error.
      call?.then((opened) => opened.cancel()).catch(() => {});
    },
  };
}
