/**
 * The receiver of the soak, in its own thread. It counts requests by delivery ID and sometimes
 * misbehaves, depending only on the seed, the delivery ID and the attempt.
 */
import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { Receipts } from '../faults/invariants.ts';

export type ReceiverMessage =
  | { port: number }
  | { accepted: number }
  | { receipts: Map<string, Receipts>; interrupted?: Map<string, number> };

const { seed } = workerData as { seed: string };
const REPORT_EVERY_MS = 100;
const MAX_OFFENCES = 2;

const receipts = new Map<string, Receipts>();
let accepted = 0;
const report = (message: ReceiverMessage): void => parentPort!.postMessage(message);

/**
 * Chooses the behavior for a request: 1 % fail, 0.3 % are slow, and 0.2 % get a connection reset.
 * The receiver accepts every request of a delivery after the first two.
 */
function choose(id: string, time: number): 'accept' | 'fail' | 'slow' | 'cut' {
  if (time >= MAX_OFFENCES) return 'accept';
  const draw = Number.parseInt(hash('sha1', `${seed}:${id}:${time}`).slice(0, 8), 16) % 1000;
  if (draw < 10) return 'fail';
  if (draw < 13) return 'slow';
  return draw < 15 ? 'cut' : 'accept';
}

const server = createServer((request, response) => {
  request.resume();
  request.on('error', () => {});
  request.on('end', () => {
    const id = String(request.headers['webhook-id']);
    const receipt = receipts.get(id) ?? { total: 0, accepted: 0 };
    receipts.set(id, receipt);
    const choice = choose(id, receipt.total);
    receipt.total++;
    if (choice === 'cut') {
      request.socket.resetAndDestroy();
      return;
    }
    if (choice === 'fail') {
      response.writeHead(503).end();
      return;
    }
    receipt.accepted++;
    if (receipt.accepted === 1) accepted++;
    const accept = (): void => void response.writeHead(204).end();
    if (choice === 'slow') setTimeout(accept, 1_000);
    else accept();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => report({ port: (server.address() as AddressInfo).port }));
setInterval(() => report({ accepted }), REPORT_EVERY_MS);
parentPort!.on('message', () => report({ receipts }));
