/**
 * The sample receiver of `sluice dev`: what a user's own endpoint would do. It verifies each webhook,
 * decodes its logs, and tells of it in one line.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EvmWebhook, decodeLogs, verifySignature } from '@sluice/kit';

/** A webhook that was received, verified and decoded. */
export interface Received {
  id: string;
  webhook: EvmWebhook;
  events: ReturnType<typeof decodeLogs>['decoded'];
}

export interface Receiver {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free loopback port. A webhook whose signature does not match is answered with 401. */
export async function startReceiver({
  secret,
  onWebhook,
  onRefused,
}: {
  secret: string;
  onWebhook(received: Received): void;
  onRefused(why: string): void;
}): Promise<Receiver> {
  const receive = (body: string, id: string, signature: string): void => {
    verifySignature({ body, signature, secret });
    const webhook = JSON.parse(body) as EvmWebhook;
    // The test webhook only asks whether we are here.
    if (webhook.streamId === '') return;
    const events = webhook.abi.length > 0 ? decodeLogs(webhook).decoded : [];
    onWebhook({ id, webhook, events });
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      try {
        receive(
          Buffer.concat(chunks).toString('utf8'),
          String(request.headers['webhook-id'] ?? ''),
          String(request.headers['x-signature'] ?? ''),
        );
        response.end('ok');
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        onRefused(why);
        response.writeHead(401).end(why);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
