/**
 * The sample receiver of `sluice dev`. Like a user's endpoint, it verifies and handles each
 * webhook.
 */
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifySignature } from '@sluice/kit';
import type { AnyWebhook } from '@sluice/kit/contract';

export interface ReceivedRequest {
  id: string;
  webhook: AnyWebhook;
}

export interface Receiver {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Listens on this loopback port, or on any free port if this one is in use. Responds with 401 if a
 * webhook cannot be verified or handled.
 */
export async function startReceiver({
  port,
  secret,
  onWebhook,
  onRefused,
}: {
  /** Port; 0 for any free port. */
  port: number;
  secret: string;
  onWebhook(received: ReceivedRequest): void;
  onRefused(why: string): void;
}): Promise<Receiver> {
  const receive = (body: string, id: string, signature: string): void => {
    verifySignature({ body, signature, secret });
    const webhook = JSON.parse(body) as AnyWebhook;
    // The test webhook only checks that the receiver responds.
    if (webhook.streamId === '') return;
    onWebhook({ id, webhook });
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
  await listen(server, port).catch(() => listen(server, 0));
  const { port: found } = server.address() as AddressInfo;
  return {
    port: found,
    url: `http://127.0.0.1:${found}/webhook`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<unknown> {
  server.listen(port, '127.0.0.1');
  return once(server, 'listening');
}
