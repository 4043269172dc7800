/**
 * Streams live events to the console and the command line. After a disconnect, a client can resume
 * in any process, after the last event id that it received.
 */
import type { LiveEvent } from '@sluice/kit/contract';
import type { EventFeed } from '../store/live/eventFeed.ts';

export interface Live {
  /** Opens a stream of server-sent events that starts now, or after `lastEventId`. */
  open(lastEventId: string | undefined, signal: AbortSignal): ReadableStream<Uint8Array>;
  close(): void;
}

/**
 * Interval of heartbeats. Clients consider a service dead after 5 s without data, and proxies close
 * idle connections.
 */
const HEARTBEAT_MS = 2_000;
const RETRY = 'retry: 1000\n';

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

export function createLive(feed: EventFeed): Live {
  const closers = new Set<() => void>();
  const encoder = new TextEncoder();

  /** Creates a function that returns the next chunk of a stream; undefined at the end. */
  const createReader = (lastEventId: string | undefined, ended: AbortSignal) => {
    let place = lastEventId === undefined ? undefined : fromId(lastEventId);
    let isGreeted = false;

    const toNewest = async (): Promise<string> => {
      const { position, events } = await feed.newest();
      place = { position, seen: events.length };
      return `id: ${toId(place)}\n`;
    };

    const readOn = async (from: Place): Promise<string> => {
      const batches = await feed.readFrom(from.position);
      if (batches === undefined) {
        const id = await toNewest();
        return `${id}data: ${JSON.stringify({ type: 'reset' } satisfies LiveEvent)}\n\n`;
      }
      let text = '';
      for (const [n, { position, events }] of batches.entries()) {
        for (let seen = n === 0 ? from.seen : 0; seen < events.length; seen++) {
          place = { position, seen: seen + 1 };
          text += `id: ${toId(place)}\ndata: ${events[seen]}\n\n`;
        }
        if (events.length === 0) place = { position, seen: 0 };
      }
      return text;
    };

    return async (): Promise<string | undefined> => {
      if (!isGreeted) {
        isGreeted = true;
        // A client that resumes keeps its last event id until it receives the events that it
        // missed.
        return `${RETRY}${place === undefined ? await toNewest() : ''}: connected\n\n`;
      }
      while (!ended.aborted) {
        const { promise: woken, resolve: wake } = Promise.withResolvers<boolean>();
        const timer = setTimeout(() => wake(false), HEARTBEAT_MS);
        const more = (): void => wake(true);
        const forget = feed.on(more);
        ended.addEventListener('abort', more, { once: true });
        try {
          const text = await readOn(place!);
          if (text !== '') return text;
          if (!(await woken)) return ': heartbeat\n\n';
        } finally {
          clearTimeout(timer);
          forget();
          ended.removeEventListener('abort', more);
        }
      }
      return undefined;
    };
  };

  return {
    open(lastEventId, signal) {
      const ending = new AbortController();
      let isLeft = false;
      const end = (): void => {
        closers.delete(end);
        signal.removeEventListener('abort', end);
        ending.abort();
      };
      closers.add(end);
      signal.addEventListener('abort', end);
      const read = createReader(lastEventId, ending.signal);
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            // If the ledger cannot be read, the stream ends and the client reconnects.
            const text = await read().catch(() => undefined);
            if (isLeft) return;
            if (text !== undefined) return controller.enqueue(encoder.encode(text));
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
      for (const end of closers) end();
    },
  };
}
