/** Tests an endpoint of the transaction stream over a real connection to a scripted server. */
import {
  type AptosStreamTrouble,
  type RunningScriptedAptosStream,
  type ScriptedAptosLedger,
  createScriptedAptosLedger,
  startScriptedAptosStream,
} from '@sluice/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { type AptosStream, createAptosStream } from './stream.ts';
import { SourceError } from '../../../ingest/source.ts';

const NAME = 'stream.example:443';
const CHAIN_ID = '4';

/** Creates a ledger with this number of versions, which all have the same small transaction. */
function longLedger(versions: number): ScriptedAptosLedger {
  const ledger = createScriptedAptosLedger();
  const block = ledger.mine();
  const head = { ...block, lastVersion: BigInt(versions - 1) };
  return {
    ...ledger,
    head,
    transactionAt: (version) => ({ ...block.transactions.at(-1)!, version: String(version) }),
  };
}
const LEDGER = longLedger(20_000);

let server: RunningScriptedAptosStream | undefined;
let stream: AptosStream | undefined;
afterEach(async () => {
  stream?.close();
  await server?.stop();
  stream = server = undefined;
});

async function start(
  options: { ledger?: ScriptedAptosLedger; key?: string } = {},
  chainId = CHAIN_ID,
): Promise<{ server: RunningScriptedAptosStream; stream: AptosStream }> {
  server = await startScriptedAptosStream({ ledger: LEDGER, ...options });
  stream = createAptosStream(server.url, NAME, () => chainId);
  return { server, stream };
}

async function versionsOf(from: AptosStream, first: number, limit: number): Promise<number[]> {
  const { transactions } = await from.readPage(first, limit);
  return transactions.map(({ version }) => version);
}
const range = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, n) => first + n);

const caught = async (work: Promise<unknown>): Promise<SourceError> => {
  const error: unknown = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(SourceError);
  return error as SourceError;
};

describe('pages', () => {
  test('are complete, however many are read at once, and share one stream', async () => {
    const { server, stream } = await start();
    const starts = range(0, 12).map((n) => 7 + n * 90);
    const pages = await Promise.all(starts.map((first) => versionsOf(stream, first, 90)));
    expect(pages).toEqual(starts.map((first) => range(first, 90)));
    expect(await versionsOf(stream, 7 + 12 * 90, 1)).toEqual([7 + 12 * 90]);
    expect(server.calls).toEqual([7]);
  });

  test('a short way ahead use the same stream; earlier or distant pages open another', async () => {
    const { server, stream } = await start();
    expect(await versionsOf(stream, 100, 50)).toEqual(range(100, 50));
    expect(await versionsOf(stream, 400, 50)).toEqual(range(400, 50));
    expect(server.calls).toEqual([100]);
    expect(await versionsOf(stream, 300, 50)).toEqual(range(300, 50));
    expect(await versionsOf(stream, 15_000, 50)).toEqual(range(15_000, 50));
    expect(await versionsOf(stream, 450, 50)).toEqual(range(450, 50));
    expect(server.calls).toEqual([100, 300, 15_000]);
  });

  test('are sent no faster than they are read', async () => {
    const { server, stream } = await start();
    await versionsOf(stream, 0, 100);
    await new Promise((resolve) => setTimeout(resolve, 500));
    // The connection and the reader buffer a few messages of 100 transactions.
    expect(server.sent).toBeLessThan(5_000);
    const pages = await Promise.all(range(1, 199).map((n) => versionsOf(stream, n * 100, 100)));
    expect(pages.flat()).toEqual(range(100, 19_900));
    expect(server.calls).toEqual([0]);
  });

  test('continue on another stream when one ends', async () => {
    const { server, stream } = await start();
    server.trouble({ kind: 'ends' });
    for (const first of range(0, 10).map((n) => n * 100)) {
      expect(await versionsOf(stream, first, 100)).toEqual(range(first, 100));
    }
    expect(server.calls.length).toBeGreaterThan(2);
    expect(stream.health()).toMatchObject({ state: 'good', failures: 0 });
  });

  test('that do not exist yet are awaited', async () => {
    const { server, stream } = await start({ ledger: longLedger(150) });
    server.trouble({ kind: 'lag', versions: 20 });
    const page = versionsOf(stream, 100, 50);
    await new Promise((resolve) => setTimeout(resolve, 100));
    server.heal();
    expect(await page).toEqual(range(100, 50));
  });
});

describe('an endpoint', () => {
  test('that cannot be opened fails its pages, without an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      stream = createAptosStream('not a URL', NAME, () => CHAIN_ID);
      await expect(stream.readPage(0, 3)).rejects.toThrow();
      stream.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  test('receives the key, with any special characters', async () => {
    const { stream } = await start({ key: 'a key/with:signs@' });
    expect(await versionsOf(stream, 0, 3)).toEqual([0, 1, 2]);
  });

  const troubles: [string, AptosStreamTrouble, string, RegExp][] = [
    ['that disconnects', { kind: 'status', code: 14 }, 'unreachable', /failed: .*UNAVAILABLE/],
    ['that fails', { kind: 'status', code: 13 }, 'unreachable', /INTERNAL/],
    ['that rejects the key', { kind: 'status', code: 16 }, 'unreachable', /rejected the API key/],
    [
      'whose gateway rate limits',
      { kind: 'status', code: 14, details: 'Received HTTP status code 429' },
      'rate-limited',
      /is rate limited/,
    ],
    [
      'that rate limits',
      { kind: 'rateLimit', retryAfterSeconds: 7 },
      'rate-limited',
      /is rate limited/,
    ],
    [
      'with a message over the limit',
      { kind: 'status', code: 8, details: 'Received message larger than max (9 vs. 8)' },
      'too-large',
      /too large/,
    ],
    [
      'that omits a version',
      { kind: 'versionGap' },
      'inconsistent',
      /returned version 51 instead of 50/,
    ],
    [
      'of another chain',
      { kind: 'wrongChainId', chainId: 99 },
      'wrong-chain',
      /streams the Aptos chain 99, not 4. Correct its --aptos/,
    ],
    ['that sends invalid messages', { kind: 'garbage' }, 'inconsistent', /could not be decoded/],
  ];
  test.each(troubles)(
    '%s reports it, and is not queried for a while',
    async (_, trouble, kind, message) => {
      const { server, stream } = await start();
      server.trouble(trouble);
      const pages = range(0, 8).map((n) => caught(stream.readPage(n * 100, 100)));
      for (const error of await Promise.all(pages)) {
        expect(error.kind).toBe(kind);
        expect(error.message).toMatch(message);
      }
      expect(server.calls.length).toBeLessThanOrEqual(9);
      if (kind === 'rate-limited') expect(stream.health().state).toBe('limited');
      if (kind === 'unreachable') expect(stream.health().state).toBe('down');
      if (kind === 'wrong-chain') expect(stream.health().state).toBe('wrong-chain');
      if (kind !== 'too-large') expect(stream.score).toBeUndefined();
    },
  );

  test('that returns a retry time is retried after it', async () => {
    const { server, stream } = await start();
    server.trouble({ kind: 'rateLimit', retryAfterSeconds: 7 });
    const { retryAfterMs } = await caught(stream.readPage(0, 1));
    expect(retryAfterMs).toBe(7_000);
  });

  test('that falls silent is abandoned, and is good again once it responds', async () => {
    const { server, stream } = await start();
    await versionsOf(stream, 0, 100);
    server.trouble({ kind: 'hangs' });
    // The messages that are already buffered arrive before the error.
    const error = await caught(
      (async () => {
        for (let n = 1; ; n++) await stream.readPage(n * 100, 100);
      })(),
    );
    expect(error.message).toMatch(/sent nothing for 5 s/);
    expect(stream.score).toBeUndefined();
    server.heal();
    expect(await versionsOf(stream, 0, 100)).toEqual(range(0, 100));
    expect(stream.health().state).toBe('good');
  }, 30_000);

  test('that has stopped is reported as unreachable', async () => {
    const { server, stream } = await start();
    await versionsOf(stream, 0, 100);
    await server.stop();
    const error = await caught(
      (async () => {
        for (let n = 1; ; n++) await stream.readPage(n * 100, 100);
      })(),
    );
    expect(error.kind).toBe('unreachable');
  });
});
