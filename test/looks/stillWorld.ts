/**
 * Preload for the process of the sample day (`node --import`) and its threads. Stops `Date.now` and
 * makes random values the same on every run.
 */
import crypto, { createHash } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { threadId } from 'node:worker_threads';

const now = Number(process.env['LOOKS_NOW']);
let drawn = 0;

function draw(bytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let length = 0; length < bytes; length += 32) {
    parts.push(createHash('sha256').update(`${threadId} ${drawn++}`).digest());
  }
  return Buffer.concat(parts).subarray(0, bytes);
}

function drawUuid(): ReturnType<typeof crypto.randomUUID> {
  const hex = draw(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

Date.now = () => now;
Object.assign(crypto, { randomBytes: draw, randomUUID: drawUuid });
syncBuiltinESMExports();
