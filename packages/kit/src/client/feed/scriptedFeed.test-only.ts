/**
 * A feed in memory, as a `fetch` function. Leases end, and requests and responses are lost, when the
 * test wants it, which a real service does not do on cue.
 */
import { signedHeaders, sampleWebhook } from '../../webhooks/testing.ts';
import type { AnyWebhook } from '../../families/webhooks.ts';
import type { FeedPage, ReleaseFeed } from '../../contract/shapes.generated.ts';
import { createSluiceClient } from '../sluice.ts';

export const SECRET = 'the streams secret';
export const STREAM = '7a2fd0a6-0a5c-4d5f-9d0b-8a3a9b9f2f10';

/**
 * The outcome of a request: `refused` and `lost` end it without a response, before or after the
 * service processed it; a number is the status of an error.
 */
export type Outcome = 'ok' | 'refused' | 'lost' | number;

export interface ScriptedFeed {
  readonly client: ReturnType<typeof createSluiceClient>;
  /** Positions that were acknowledged. */
  readonly acknowledged: ReadonlySet<number>;
  /** The queries of all reads, and the positions in each acknowledgement. */
  readonly reads: URLSearchParams[];
  readonly acks: number[][];
  /** The bodies of all requests to release deliveries. */
  readonly releases: ReleaseFeed[];
  /** Outcomes of the next reads and acknowledgements. */
  readonly outcomes: { readonly read: Outcome[]; readonly ack: Outcome[] };
  /** Adds a delivery. */
  add(webhook?: AnyWebhook): void;
  /** Ends all leases. */
  endLeases(): void;
}

/** @param rules `endsLeases`: whether leases end when a read finds nothing else */
export function createScriptedFeed(rules: { endsLeases?: boolean } = {}): ScriptedFeed {
  const webhooks: AnyWebhook[] = [];
  const acknowledged = new Set<number>();
  const leased = new Set<number>();
  const reads: URLSearchParams[] = [];
  const acks: number[][] = [];
  const releases: ReleaseFeed[] = [];
  const outcomes: { read: Outcome[]; ack: Outcome[] } = { read: [], ack: [] };
  let wake = (): void => {};
  const changed = (): Promise<void> => new Promise((resolve) => (wake = resolve));

  const toPage = (positions: readonly number[], after: number, isShared: boolean): FeedPage => ({
    deliveries: positions.map((position) => {
      const body = JSON.stringify(webhooks[position - 1]);
      const id = `id-${position}`;
      const headers = {
        ...signedHeaders(body, { secret: SECRET, id }),
        'x-read': String(reads.length),
      };
      return { id, position, headers, body };
    }),
    nextPosition: positions.at(-1) ?? after,
    newestPosition: webhooks.length,
    leaseEndsAt: isShared && positions.length > 0 ? Date.now() + 60_000 : null,
  });

  const read = async (query: URLSearchParams, signal: AbortSignal): Promise<FeedPage> => {
    const isShared = query.get('mode') !== 'each';
    const after = Number(query.get('after') ?? webhooks.length);
    for (;;) {
      const positions = webhooks
        .map((_, n) => n + 1)
        .filter((each) => (isShared ? !leased.has(each) && !acknowledged.has(each) : each > after))
        .slice(0, Number(query.get('limit') ?? 100));
      if (positions.length > 0) {
        if (isShared) positions.forEach((each) => leased.add(each));
        return toPage(positions, after, isShared);
      }
      if (rules.endsLeases && leased.size > 0) {
        await new Promise((resolve) => setTimeout(resolve));
        leased.clear();
        continue;
      }
      await Promise.race([changed(), untilAborted(signal)]);
      signal.throwIfAborted();
    }
  };

  const respond = async (
    outcome: Outcome | undefined,
    process: () => Promise<unknown>,
  ): Promise<Response> => {
    if (outcome === 'refused') throw new TypeError('fetch failed');
    if (typeof outcome === 'number') {
      return Response.json({ message: 'refused' }, { status: outcome });
    }
    const result = await process();
    if (outcome === 'lost') throw new TypeError('fetch failed');
    return Response.json(result);
  };

  const fetch = async (input: unknown, { body, signal }: RequestInit = {}): Promise<Response> => {
    signal!.throwIfAborted();
    const { pathname, searchParams } = new URL(String(input));
    if (pathname.endsWith('/feed')) {
      reads.push(searchParams);
      return await respond(outcomes.read.shift(), () => read(searchParams, signal!));
    }
    if (pathname.endsWith('/release')) {
      const released = JSON.parse(body as string) as ReleaseFeed;
      releases.push(released);
      for (const position of released.positions) leased.delete(position);
      return Response.json({ released: released.positions.length });
    }
    const { positions } = JSON.parse(body as string) as { positions: number[] };
    acks.push(positions);
    return await respond(outcomes.ack.shift(), () => {
      for (const position of positions) {
        acknowledged.add(position);
        leased.delete(position);
      }
      return Promise.resolve({ acknowledged: positions.length, position: 0 });
    });
  };

  return {
    client: createSluiceClient({ baseUrl: 'http://sluice.test', apiKey: 'the-key', fetch }),
    acknowledged,
    reads,
    acks,
    releases,
    outcomes,
    add(webhook = sampleWebhook('erc20-transfer')) {
      webhooks.push(webhook);
      wake();
    },
    endLeases() {
      leased.clear();
      wake();
    },
  };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
