/**
 * Checks what a server sends before the client reads it. Otherwise the client keeps up to 2 GiB of a
 * response, and its exceptions, which no caller can catch, end this process.
 */
import type { Socket } from 'node:net';
import { NotKafkaError } from './failures.ts';

/** Maximum size of a response. One about a topic with thousands of partitions is smaller. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
const MIN_RESPONSE_BYTES = 4;
const SIZE_BYTES = 4;
/** The first two bytes of the alert with which TLS rejects a request of Kafka. */
const TLS_ALERT = 0x15_03;

/**
 * Guards the responses on a socket on which the client listens from the event `opened`. A wrong
 * response closes the connection.
 */
export function guardResponses(socket: Socket, opened: 'connect' | 'secureConnect'): void {
  socket.once(opened, () => {
    const [read] = socket.listeners('data') as [(chunk: Buffer) => void];
    const checkSizes = createSizeCheck();
    socket.removeListener('data', read);
    socket.on('data', (chunk: Buffer) => {
      try {
        checkSizes(chunk);
        read(chunk);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
  });
}

/** Returns a function that reads the size before each response, and throws if it is impossible. */
function createSizeCheck(): (chunk: Buffer) => void {
  let size = 0;
  let sizeBytes = 0;
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at);
        left -= skipped;
        at += skipped;
        continue;
      }
      size = size * 256 + chunk[at++]!;
      if (++sizeBytes < SIZE_BYTES) continue;
      if (size < MIN_RESPONSE_BYTES || size > MAX_RESPONSE_BYTES) {
        throw new NotKafkaError(size >>> 16 === TLS_ALERT);
      }
      left = size;
      size = 0;
      sizeBytes = 0;
    }
  };
}
