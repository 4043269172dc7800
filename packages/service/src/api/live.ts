/**
 * Streams live events to the console and the command line. After a disconnect, a client can resume
 * in any process, after the last event id that it received.
 */
import type { LiveEvent } from '@sluice/kit/contract';
import type { EventFeed } from '../store/live/eventFeed.ts';
import { RetryLaterError } from './httpErrors.ts';

export interface Live {
  /**
   * Opens a stream of server-sent events that starts now, or after `lastEventId`.
   *
   * @param watch returns a signal that ends the stream; called unless `open` throws
   * @param drop closes the connection without sending what it still buffers; called if the client
   * does not read
   * @throws RetryLaterError 503 if too many clients, in total or with this key, are connected.
   */
  open(
    lastEventId: string | undefined,
    keyId: string,
    watch: () => AbortSignal,
    drop: () => void,
  ): ReadableStream<Uint8Array>;
  close(): void;
}

/**
 * Interval of heartbeats. Clients consider a service dead after 5 s without data, and proxies close
 * idle connections.
 */
const HEARTBEAT_MS = 2_000;
const HEARTBEAT = new TextEncoder().encode(': heartbeat\n\n');
const RETRY = 'retry: 1000\n';

/**
 * Maximum number of clients of one process, and of one key, so that a key cannot use up the memory
 * or keep others from connecting.
 */
const MAX_CLIENTS = 10_000;
const MAX_CLIENTS_OF_KEY = 2_000;
/**
 * Time after which a client is dropped whose connection takes no more data. Its buffers are full,
 * because other clients get at least heartbeats. It may reconnect and resume.
 */
const STALLED_MS = 30_000;
/** Retry-After while too many clients are connected. */
const RETRY_AFTER_SECONDS = 30;
/** Approximate size of a chunk, which slow clients keep in memory. A chunk has whole events. */
const CHUNK_CHARACTERS = 64 * 1024;
/** Number of recent chunks that clients share. */
const SHARED_CHUNKS = 16;

/**
 * Number of clients that receive new events before other work runs. Sending to this many takes
 * about 5 ms.
 */
const CLIENTS_PER_TURN = 64;

/** Position of a batch of events, and the number of its events that a client has received. */
interface Place {
  position: string;
  seen: number;
}

const toId = ({ position, seen }: Place): string => `${position}-${seen}`;

function fromId(id: string): Place {
  const at = id.lastIndexOf('-');
  const seen = id.slice(at + 1);
  return at >= 0 && /^\d+$/.test(seen)
    ? { position: id.slice(0, at), seen: Number(seen) }
    : { position: '', seen: 0 };
}

/** Events in the format of server-sent events, and the place after them. */
interface Chunk {
  bytes: Uint8Array;
  next: Place;
}

/** @param stalledMs Default: {@link STALLED_MS}. */
export function createLive(feed: EventFeed, stalledMs = STALLED_MS): Live {
  const closers = new Set<() => void>();
  const clients = new Map<string, number>();
  const encoder = new TextEncoder();
  /** Recent chunks by the id of the place before them. */
  const chunks = new Map<string, Promise<Chunk>>();
  const waiting = new Set<() => void>();
  /** Clients that waited when new events came, in the order in which they are woken. */
  const woken = new Set<() => void>();
  let turn: NodeJS.Immediate | undefined;

  const wakeSome = (): void => {
    turn = undefined;
    let left = CLIENTS_PER_TURN;
    for (const wake of woken) {
      if (left-- === 0) {
        turn = setImmediate(wakeSome);
        return;
      }
      woken.delete(wake);
      wake();
    }
  };
  const forgetFeed = feed.on(() => {
    for (const wake of waiting) woken.add(wake);
    waiting.clear();
    turn ??= setImmediate(wakeSome);
  });

  const readNewest = async (): Promise<Place> => {
    const { position, events } = await feed.newest();
    return { position, seen: events.length };
  };

  const buildChunk = async (place: Place): Promise<Chunk> => {
    const batches = await feed.readFrom(place.position);
    if (batches === undefined) {
      const next = await readNewest();
      const event = JSON.stringify({ type: 'reset' } satisfies LiveEvent);
      return { bytes: encoder.encode(`id: ${toId(next)}\ndata: ${event}\n\n`), next };
    }
    let next = place;
    let text = '';
    for (const [n, { position, events }] of batches.entries()) {
      for (let seen = n === 0 ? place.seen : 0; seen < events.length; seen++) {
        next = { position, seen: seen + 1 };
        text += `id: ${toId(next)}\ndata: ${events[seen]}\n\n`;
        if (text.length >= CHUNK_CHARACTERS) return { bytes: encoder.encode(text), next };
      }
      if (events.length === 0) next = { position, seen: 0 };
    }
    return { bytes: encoder.encode(text), next };
  };

  /** Returns the events after a place. Clients at the same place share a chunk. */
  const readChunk = (place: Place): Promise<Chunk> => {
    const id = toId(place);
    const known = chunks.get(id);
    if (known !== undefined) return known;
    const chunk = buildChunk(place);
    chunks.set(id, chunk);
    if (chunks.size > SHARED_CHUNKS) chunks.delete(chunks.keys().next().value!);
    const forget = (): void => {
      if (chunks.get(id) === chunk) chunks.delete(id);
    };
    // A position without events may have some at the next read.
    chunk.then(({ bytes }) => bytes.length === 0 && forget(), forget);
    return chunk;
  };

  /** Creates a function that returns the next chunk of a stream; undefined at the end. */
  const createReader = (lastEventId: string | undefined, ended: AbortSignal) => {
    let place = lastEventId === undefined ? undefined : fromId(lastEventId);
    let isGreeted = false;

    return async (): Promise<Uint8Array | undefined> => {
      if (!isGreeted) {
        isGreeted = true;
        // A client that resumes keeps its last event id until it receives the events that it
        // missed.
        const resumes = place !== undefined;
        place ??= await readNewest();
        const id = resumes ? '' : `id: ${toId(place)}\n`;
        return encoder.encode(`${RETRY}${id}: connected\n\n`);
      }
      while (!ended.aborted) {
        const { promise: hasMore, resolve } = Promise.withResolvers<boolean>();
        const timer = setTimeout(() => resolve(false), HEARTBEAT_MS);
        const more = (): void => resolve(true);
        waiting.add(more);
        ended.addEventListener('abort', more, { once: true });
        try {
          const { bytes, next } = await readChunk(place!);
          place = next;
          if (bytes.length > 0) return bytes;
          if (!(await hasMore)) return HEARTBEAT;
        } finally {
          clearTimeout(timer);
          waiting.delete(more);
          woken.delete(more);
          ended.removeEventListener('abort', more);
        }
      }
      return undefined;
    };
  };

  return {
    open(lastEventId, keyId, watch, drop) {
      const ofKey = clients.get(keyId) ?? 0;
      if (closers.size >= MAX_CLIENTS || ofKey >= MAX_CLIENTS_OF_KEY) {
        throw new RetryLaterError(
          503,
          'Too many clients receive live events from this process: close some of them, then try again',
          RETRY_AFTER_SECONDS,
        );
      }
      clients.set(keyId, ofKey + 1);
      const signal = watch();
      const ending = new AbortController();
      let isLeft = false;
      const end = (): void => {
        if (!closers.delete(end)) return;
        const left = clients.get(keyId)! - 1;
        if (left > 0) clients.set(keyId, left);
        else clients.delete(keyId);
        signal.removeEventListener('abort', end);
        clearTimeout(stall);
        ending.abort();
      };
      const stall = setTimeout(() => {
        end();
        drop();
      }, stalledMs);
      stall.unref();
      closers.add(end);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
      const read = createReader(lastEventId, ending.signal);
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            stall.refresh();
            // If the ledger cannot be read, the stream ends and the client reconnects.
            const bytes = await read().catch(() => undefined);
            if (isLeft) return;
            if (bytes !== undefined) return controller.enqueue(bytes);
            end();
            controller.close();
          },
          cancel() {
            isLeft = true;
            end();
          },
        },
        { highWaterMark: 0 },
      );
    },
    close() {
      forgetFeed();
      clearImmediate(turn);
      for (const end of closers) end();
    },
  };
}
