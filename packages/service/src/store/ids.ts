import { randomBytes } from 'node:crypto';

let lastMs = 0;
let sequence = 0;

/**
 * A UUID of version 7 (RFC 9562): its order is the order of creation, so that rows of one time stand
 * together in an index and a list needs no other order. Within this process never out of order, even
 * when the clock goes back.
 */
export function newId(nowMs = Date.now()): string {
  sequence++;
  if (nowMs > lastMs) {
    lastMs = nowMs;
    sequence = 0;
  } else if (sequence > 0xfff) {
    lastMs++;
    sequence = 0;
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const order = (0x7000 | sequence).toString(16);
  const random = randomBytes(8);
  // Variant bits 10.
  random[0] = (random[0]! & 0x3f) | 0x80;
  const tail = random.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-${order}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
