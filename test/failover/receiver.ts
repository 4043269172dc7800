/**
 * The receiver, in a thread of its own. It accepts every webhook, and records the IDs and the
 * longest time without webhooks.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import type { Receipts } from '../faults/invariants.ts';

export interface ReceiverState {
  port: number;
  accepted: number;
  /** Highest number of a block with a webhook. */
  newestBlock: number;
  /**
   * Longest time without webhooks since the last `restart`, including the current one, in
   * milliseconds.
   */
  silenceMs: number;
}

export type ReceiverReply =
  | { state: ReceiverState }
  | { receipts: Map<string, Receipts>; secondIds: string[] };

/** `restart` forgets the longest silence; the reply is the state. */
export type ReceiverQuestion = 'state' | 'restart' | 'receipts';

const receipts = new Map<string, Receipts>();
/** Webhook IDs by stream, block and phase. */
const ids = new Map<string, string>();
const secondIds: string[] = [];
let accepted = 0;
let newestBlock = 0;
let last = Date.now();
let silenceMs = 0;

const note = (now: number): void => void (silenceMs = Math.max(silenceMs, now - last));

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('error', () => {});
  request.on('end', () => {
    const id = String(request.headers['webhook-id']);
    const { streamId, confirmed, block } = JSON.parse(Buffer.concat(parts).toString()) as {
      streamId: string;
      confirmed: boolean;
      block: { number: string; hash: string };
    };
    const now = Date.now();
    note(now);
    last = now;
    const content = `${streamId} ${block.hash} ${confirmed}`;
    const known = ids.get(content);
    if (known === undefined) ids.set(content, id);
    else if (known !== id) secondIds.push(`${content}: ${known}, ${id}`);
    const receipt = receipts.get(id) ?? { total: 0, accepted: 0 };
    receipts.set(id, { total: receipt.total + 1, accepted: receipt.accepted + 1 });
    if (receipt.accepted === 0) accepted++;
    newestBlock = Math.max(newestBlock, Number(block.number));
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');

parentPort!.on('message', (question: ReceiverQuestion) => {
  const reply = (value: ReceiverReply): void => parentPort!.postMessage(value);
  if (question === 'receipts') {
    reply({ receipts, secondIds });
    return;
  }
  if (question === 'restart') silenceMs = 0;
  else note(Date.now());
  const { port } = server.address() as AddressInfo;
  reply({ state: { port, accepted, newestBlock, silenceMs } });
});
