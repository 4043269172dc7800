/**
 * What happens, as it happens, for the console and the command line: an event log of bounded length
 * that a reader can resume by the id of the last event it saw.
 */
import { randomBytes } from 'node:crypto';
import type { LiveEvent } from '@sluice/kit/contract';

export interface Live {
  publish(event: LiveEvent): void;
  /** A server-sent event stream from here on, or from after `lastEventId`. */
  open(lastEventId: string | undefined, signal: AbortSignal): ReadableStream<Uint8Array>;
  close(): void;
}

/** Events held for readers that come back. */
const HELD_EVENTS = 5_000;
/** Events gathered before they are written: several states of one delivery become the last one. */
const FLUSH_MS = 50;
/** Keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 15_000;
/** A reader this far behind is cut off; it resumes when it can. */
const READER_BACKLOG_BYTES = 4 * 1024 * 1024;

export function createLive(): Live {
  // Ids of an earlier run mean nothing in this one.
  const run = randomBytes(4).toString('hex');
  const held: { id: number; text: string }[] = [];
  const gathered = new Map<string, LiveEvent>();
  const readers = new Set<(chunk: string) => void>();
  const closers = new Set<() => void>();
  const encoder = new TextEncoder();
  let lastId = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    timer = undefined;
    let chunk = '';
    for (const event of gathered.values()) {
      const id = ++lastId;
      const text = `id: ${run}-${id}\ndata: ${JSON.stringify(event)}\n\n`;
      held.push({ id, text });
      chunk += text;
    }
    gathered.clear();
    if (held.length > 2 * HELD_EVENTS) held.splice(0, held.length - HELD_EVENTS);
    for (const write of readers) write(chunk);
  };

  const missed = (lastEventId: string | undefined): string => {
    if (lastEventId === undefined) return '';
    const [itsRun, itsId] = lastEventId.split('-');
    const id = Number(itsId);
    const first = held[0]?.id ?? lastId + 1;
    if (itsRun !== run || !Number.isInteger(id) || id < first - 1 || id > lastId) {
      return `id: ${run}-${lastId}\ndata: ${JSON.stringify({ type: 'reset' } satisfies LiveEvent)}\n\n`;
    }
    return held
      .slice(id - first + 1)
      .map((each) => each.text)
      .join('');
  };

  return {
    publish(event) {
      // A later state of the same thing replaces the earlier one, in the later one's place.
      const key = keyOf(event);
      gathered.delete(key);
      gathered.set(key, event);
      timer ??= setTimeout(flush, FLUSH_MS);
    },
    open(lastEventId, signal) {
      let leave = (): void => {};
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const write = (chunk: string): void => {
              controller.enqueue(encoder.encode(chunk));
              if ((controller.desiredSize ?? 0) < 0) leave();
            };
            const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS);
            leave = () => {
              leave = () => {};
              clearInterval(heartbeat);
              readers.delete(write);
              closers.delete(leaveOnce);
              signal.removeEventListener('abort', leaveOnce);
              try {
                controller.close();
              } catch {
                // The reader went first.
              }
            };
            const leaveOnce = (): void => leave();
            closers.add(leaveOnce);
            signal.addEventListener('abort', leaveOnce);
            readers.add(write);
            write(`retry: 1000\nid: ${run}-${lastId}\n: connected\n\n${missed(lastEventId)}`);
          },
          cancel: () => leave(),
        },
        new ByteLengthQueuingStrategy({ highWaterMark: READER_BACKLOG_BYTES }),
      );
    },
    close() {
      clearTimeout(timer);
      for (const leave of closers) leave();
    },
  };
}

let unkeyed = 0;

function keyOf(event: LiveEvent): string {
  switch (event.type) {
    case 'delivery':
      return `delivery ${event.delivery.id}`;
    case 'chain':
      return `chain ${event.chain.id}`;
    case 'stream':
      return `stream ${event.streamId}`;
    case 'job':
      return `job ${event.job.id}`;
    case 'inbox':
      return `inbox ${event.request.id}`;
    case 'replay':
      return `replay ${event.replay.id}`;
    case 'block':
    case 'reorg':
    case 'reset':
      return `${event.type} ${++unkeyed}`;
  }
}
