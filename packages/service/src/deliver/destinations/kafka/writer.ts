/**
 * Writes messages to the partitions of a topic that one broker leads. There is one request at a
 * time, with all messages that were waiting, so a busy writer sends large requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BrokerConnection, PartitionRecord } from './brokerConnection.ts';
import { LostLeaderError, RejectedError, TOO_LARGE, UnreachableLeaderError } from './failures.ts';

/** Position of a message. */
export interface Written {
  partition: number;
  offset: bigint;
}

export interface Writer {
  /**
   * @param until end of the time for the message, by `performance.now()`
   * @throws RejectedError, UnreachableLeaderError or LostLeaderError
   */
  write(record: PartitionRecord, until: number): Promise<Written>;
  /** Closes the connection now, which fails the messages in flight. */
  close(): Promise<void>;
}

interface Waiting {
  record: PartitionRecord;
  bytes: number;
  until: number;
  resolve(written: Written): void;
  reject(error: unknown): void;
}

/** The messages of one partition in a request, which the broker takes or rejects as a whole. */
interface Batch {
  partition: number;
  messages: Waiting[];
  bytes: number;
  /** Whether a message had to be left for the next request, so that later ones must follow it. */
  isFull: boolean;
}

/** Maximum size of a batch, unless it has only one message. Brokers allow 1 MiB by default. */
const BATCH_BYTES = 512 * 1024;
const REQUEST_BYTES = 4 * 1024 * 1024;

export function createWriter(connect: () => Promise<BrokerConnection>): Writer {
  let waiting: Waiting[] = [];
  let isWorking = false;
  let connection: BrokerConnection | undefined;
  let batchBytes = BATCH_BYTES;

  const takeBatches = (): Batch[] => {
    const batches = new Map<number, Batch>();
    let requestBytes = 0;
    const now = performance.now();
    waiting = waiting.filter((message) => {
      const { record, bytes, until } = message;
      if (until <= now) {
        message.reject(new Error('the time for the message is over'));
        return false;
      }
      const { partition } = record;
      const batch = batches.get(partition) ?? { partition, messages: [], bytes: 0, isFull: false };
      batches.set(partition, batch);
      batch.isFull ||=
        (batch.bytes > 0 && batch.bytes + bytes > batchBytes) ||
        (requestBytes > 0 && requestBytes + bytes > REQUEST_BYTES);
      if (batch.isFull) return true;
      batch.messages.push(message);
      batch.bytes += bytes;
      requestBytes += bytes;
      return false;
    });
    return [...batches.values()].filter(({ messages }) => messages.length > 0);
  };

  const send = async (open: BrokerConnection, batches: readonly Batch[]): Promise<void> => {
    const records = batches.flatMap(({ messages }) => messages.map(({ record }) => record));
    const results = await open.produce(records);
    for (const { partition, messages, bytes } of batches) {
      const result = results.get(partition);
      if (result === undefined) {
        const error = new Error('the broker did not confirm the message');
        for (const { reject } of messages) reject(error);
      } else if ('offset' in result) {
        for (const [n, { resolve }] of messages.entries()) {
          resolve({ partition, offset: result.offset + BigInt(n) });
        }
      } else if (TOO_LARGE.has(result.error.id) && messages.length > 1) {
        // The batch is too large. Smaller ones follow, until only too large messages are alone.
        batchBytes = Math.floor(bytes / 2);
        waiting = [...messages, ...waiting];
      } else {
        for (const { reject } of messages) reject(result.error);
      }
    }
  };

  /** Returns the connection, and opens it if necessary; undefined if that failed. */
  const reach = async (): Promise<BrokerConnection | undefined> => {
    if (connection?.isClosed() === false) return connection;
    try {
      return (connection = await connect());
    } catch (cause) {
      const failed = waiting;
      waiting = [];
      for (const { reject } of failed) reject(new UnreachableLeaderError('', { cause }));
      return undefined;
    }
  };

  const work = async (): Promise<void> => {
    // Messages that are written in this turn go into the same request.
    await nextTurn();
    while (waiting.length > 0) {
      const open = await reach();
      const batches = takeBatches();
      if (open === undefined || batches.length === 0) continue;
      await send(open, batches).catch((cause: unknown) => {
        for (const { reject } of batches.flatMap(({ messages }) => messages)) {
          reject(cause instanceof RejectedError ? cause : new LostLeaderError('', { cause }));
        }
      });
    }
    isWorking = false;
  };

  return {
    write: (record, until) =>
      new Promise((resolve, reject) => {
        waiting.push({ record, bytes: sizeOf(record), until, resolve, reject });
        if (isWorking) return;
        isWorking = true;
        void work();
      }),
    close: async () => connection?.close(),
  };
}

/** Bytes of a record without its key and headers, which batches have room for. */
const RECORD_BYTES = 32;

function sizeOf({ key, value, headers = new Map<Buffer, Buffer>() }: PartitionRecord): number {
  let bytes = RECORD_BYTES + value.length + (key?.length ?? 0);
  for (const [name, text] of headers) bytes += name.length + text.length;
  return bytes;
}
