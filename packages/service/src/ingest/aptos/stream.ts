/**
 * Pages of transactions from one endpoint of the gRPC transaction stream. A page is asked for by its first
 * version, as of a fullnode; behind it stands a stream that goes on where the page before it ended, and is
 * read no further than pages are asked for.
 */
import type { AptosTransaction } from '../../match/aptos/block.ts';
import { describeError } from '../../base/log.ts';
import type { AptosCall, AptosGrpc } from './grpc.ts';
import type { AptosPage } from './provider.ts';
import { toAptosTransaction } from './transaction.ts';
import { SourceError } from '../source.ts';
import { type NodeHealth, createStanding } from '../nodes/standing.ts';

export interface AptosStream {
  readonly name: string;
  /** Lower is better; undefined while it is best left alone. */
  readonly score: number | undefined;
  /** Transactions from this version on, `limit` of them: they must be there, or it is waited for them. */
  readPage(start: number, limit: number): Promise<AptosPage>;
  health(): NodeHealth;
  close(): void;
}

/** Streams open at once: live, and some backfills beside it. Providers allow about twenty to a key. */
const MAX_FEEDS = 4;
/** A page so far ahead of a stream is reached by reading on; another gets a stream of its own. */
const MAX_AHEAD = 2_000;
/** Versions that are there and are not sent for so long never come. */
const PATIENCE_MS = 5_000;
/** A stream that nobody reads is closed. */
const IDLE_MS = 60_000;

/**
 * @param name of the endpoint in messages
 * @param chainId decimal, that of the network; undefined where any will do
 */
export function createAptosStream(
  url: string,
  name: string,
  chainId: () => string | undefined,
): AptosStream {
  const standing = createStanding(name, () => Promise.resolve({ genesisHash: undefined }));
  let grpc: Promise<AptosGrpc> | undefined;
  let feeds: Feed[] = [];

  const drop = (feed: Feed): void => {
    feed.close();
    feeds = feeds.filter((each) => each !== feed);
  };

  const open = async (start: number): Promise<AptosCall> => {
    grpc ??= loadGrpc().then(({ createAptosGrpc }) => createAptosGrpc(url, name));
    return (await grpc).call(start);
  };

  /** Checks a message of a stream, of which the next transaction should be `expected`. */
  const check = async (
    expected: number,
    { chainId: found, transactions }: { chainId: string; transactions: AptosTransaction[] },
  ): Promise<void> => {
    const wanted = chainId();
    if (wanted !== undefined && found !== wanted) {
      const why = `${name} streams the Aptos chain ${found}, not ${wanted}: correct its --aptos`;
      standing.exclude(why);
      throw new SourceError('wrong-chain', why);
    }
    // Whatever was wrong with its chain is so no longer.
    await standing.identify();
    for (const [n, { version }] of transactions.entries()) {
      if (version === expected + n) continue;
      throw new SourceError(
        'inconsistent',
        `${name}: the transaction stream has ${version} where ${expected + n} should be`,
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
      // Streams end now and then, and what is idle is cut off: that is no fault before a new one fails.
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
      const isDoubted = standing.state === 'good' && !standing.hasVoice;
      return standing.restsUntil > 0 || isDoubted ? undefined : standing.score;
    },
    async readPage(start, limit) {
      try {
        const taken = await standing.run(() => take(start, limit), { isShort: false });
        return { ...taken, giver: standing };
      } catch (error) {
        if (error instanceof SourceError && error.kind === 'inconsistent') {
          standing.fault('inconsistent');
        }
        throw error;
      }
    },
    health: standing.health,
    close() {
      clearInterval(sweep);
      for (const feed of feeds) drop(feed);
      void grpc?.then((its) => its.close());
    },
  };
}

async function loadGrpc(): Promise<typeof import('./grpc.ts')> {
  try {
    return await import('./grpc.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new SourceError(
      'unsupported',
      `--aptos names a transaction stream, and a package to read it with is missing: npm install @grpc/grpc-js protobufjs (${describeError(error)})`,
      { cause: error },
    );
  }
}

type Taken = Pick<AptosPage, 'transactions' | 'sizeBytes'>;

/** One stream, from its first version on. */
interface Feed {
  /** The first version that nobody has asked for. */
  readonly next: number;
  /** By `performance.now`. */
  readonly usedAt: number;
  /** It sends nothing of what is there. */
  readonly isSilent: boolean;
  /** What was asked for before comes first. */
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
  /** The version that comes next, with those that have come and are not taken. */
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
          `${name}: the transaction stream sent nothing for ${PATIENCE_MS / 1000} s, where version ${expected} should come`,
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
      void call?.then((opened) => opened.cancel());
    },
  };
}
