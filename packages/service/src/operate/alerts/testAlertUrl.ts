/** Sends a test alert, so that the operator can check a URL before adding it. */
import { randomUUID } from 'node:crypto';
import type { Alert, UrlTestResult } from '@sluice/kit/contract';
import type { AddressGuard } from '../../deliver/destinations/http/guard.ts';
import type { Sender } from '../../deliver/send/send.ts';

export type TestAlertUrl = (url: string) => Promise<UrlTestResult>;

export function createAlertUrlTest({
  guard,
  sender,
}: {
  guard: Pick<AddressGuard, 'refuseResolved'>;
  sender: Pick<Sender, 'send'>;
}): TestAlertUrl {
  return async (url) => {
    const refused = await guard.refuseResolved(new URL(url));
    if (refused !== undefined) return { code: 'blocked', message: refused, latencyMs: null };
    const alert: Alert = { type: 'alert.test', timestamp: new Date().toISOString(), data: {} };
    const { error, status, durationMs } = await sender.send({
      url,
      id: randomUUID(),
      body: Buffer.from(JSON.stringify(alert)),
      headers: {},
      queueSize: 0,
      recordsCharged: 0,
    });
    if (error === null) {
      return { code: 'ok', message: 'accepted a test alert', latencyMs: durationMs };
    }
    // The messages contain nothing from the response, which may come from a server in the internal
    // network.
    const isAnswered = status !== null && (status < 200 || status >= 300);
    return isAnswered
      ? {
          code: 'rejected',
          message: 'did not respond with a 2xx: check the URL and the log of the receiver',
          latencyMs: null,
        }
      : {
          code: 'unreachable',
          message: 'did not respond completely: check the URL, and that the receiver is running',
          latencyMs: null,
        };
  };
}
