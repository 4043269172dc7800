/** Forwards deliveries to another URL, signed again as the service signs them. */
import {
  type AnyWebhook,
  familyOf,
  WEBHOOK_HEADERS,
  cutText,
  signStandardWebhook,
} from '@sluice/kit/contract';
import { createFakeSender, signedHeaders } from '@sluice/kit/testing';
import { isSluiceError } from '@sluice/kit';
import type { DeliveryDetail, DeliverySummary } from '@sluice/kit/sluice';
import type { Connection } from '../connection/connection.ts';
import { CommandError } from '../terminal/errors.ts';
import { retryWhileUnavailable } from './persist.ts';

type FullDelivery = DeliveryDetail & { body: string };

/** A forwarded delivery and the receiver's response. */
export interface ForwardedDelivery {
  delivery: FullDelivery;
  /** HTTP status; null without a complete response. */
  status: number | null;
  /** Reason for the failure, such as `HTTP 500`; null for a 2xx response. */
  error: string | null;
  durationMs: number;
  /** Response body, truncated to at most 4,096 characters. */
  responseBody: string;
  /** Headers of the request, including custom headers and signatures. */
  headers: Record<string, string>;
}

export interface Forwarder {
  /**
   * Sends a delivery to the URL. Resolves even if the receiver fails, and to undefined if the
   * service does not have the delivery.
   */
  forward(id: string): Promise<ForwardedDelivery | undefined>;
}

export interface ForwarderOptions {
  connection: Pick<Connection, 'api' | 'sluice'>;
  url: string;
  secret: string;
  signal: AbortSignal;
}

const TIMEOUT_MS = 15_000;
const KEPT_CHARACTERS = 4_096;

export function createForwarder({ connection, url, secret, signal }: ForwarderOptions): Forwarder {
  const { api, sluice } = connection;
  /** Custom headers, by stream. */
  const own = new Map<string, Promise<Record<string, string>>>();
  const ownHeaders = ({ streamId, chainId }: DeliverySummary): Promise<Record<string, string>> => {
    let headers = own.get(streamId);
    if (headers === undefined) {
      const networkType = familyOf(chainId);
      headers = api.streams.get(streamId, { networkType }).then(
        (stream) => stream.headers,
        // The stream may have been deleted.
        () => ({}),
      );
      own.set(streamId, headers);
    }
    return headers;
  };

  const findDelivery = async (id: string): Promise<FullDelivery | undefined> => {
    try {
      const [delivery, body] = await Promise.all([
        sluice.getDelivery(id),
        sluice.getDeliveryBody(id),
      ]);
      return { ...delivery, body };
    } catch (error) {
      if (isSluiceError(error, 'not_found')) return undefined;
      throw error;
    }
  };

  /**
   * Signing secrets of each stream, in addition to the service's secret. Empty if they cannot be
   * read, for example because the API key may not read them.
   */
  const streamSecrets = new Map<string, Promise<string[]>>();
  const secretsOf = ({ streamId }: DeliverySummary): Promise<string[]> => {
    let secrets = streamSecrets.get(streamId);
    if (secrets === undefined) {
      secrets = sluice.getStreamSecret(streamId).then(
        (own) => [own.secret, ...own.previous.map((each) => each.secret)],
        () => [],
      );
      streamSecrets.set(streamId, secrets);
    }
    return secrets;
  };

  return {
    async forward(id) {
      const delivery = await retryWhileUnavailable(() => findDelivery(id), signal);
      if (delivery === undefined) return undefined;
      const { body } = delivery;
      const webhook = JSON.parse(body) as AnyWebhook;
      const headers: Record<string, string> = {
        ...(await ownHeaders(delivery)),
        ...signedHeaders(body, { secret, id, unverified: delivery.unverified }, webhook),
        'user-agent': 'Sluice',
      };
      const timestamp = Number(headers[WEBHOOK_HEADERS.timestamp]);
      headers[WEBHOOK_HEADERS.standardSignature] = [...(await secretsOf(delivery)), secret]
        .map((each) => signStandardWebhook({ id, timestamp, body, secret: each }))
        .join(' ');
      return { delivery, headers, ...(await post(url, { body, headers, signal })) };
    },
  };
}

/** Sends one POST. Returns failures instead of throwing them. */
async function post(
  url: string,
  { body, headers, signal }: { body: string; headers: Record<string, string>; signal: AbortSignal },
): Promise<Pick<ForwardedDelivery, 'status' | 'error' | 'durationMs' | 'responseBody'>> {
  const started = performance.now();
  const durationMs = (): number => Math.round(performance.now() - started);
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    // As in the service, the status decides even if the body is cut or never ends.
    const responseBody = cutText(await response.text().catch(() => ''), KEPT_CHARACTERS);
    const error = response.ok ? null : `HTTP ${response.status}`;
    return { status: response.status, error, durationMs: durationMs(), responseBody };
  } catch (error) {
    return {
      status: null,
      error: describeFailure(error),
      durationMs: durationMs(),
      responseBody: '',
    };
  }
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no complete response within ${TIMEOUT_MS / 1000} s`;
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : error.message;
}

/** Creates a sender without retries, so that the result is known immediately. */
export const createSingleSender = (to: string, secret: string, unverified?: readonly string[]) =>
  createFakeSender({ to, secret, unverified, scheduleMs: [] });

/** Returns the secret to sign with: `given`, `SLUICE_SECRET`, or the service's secret. */
export async function findSecret(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  connectIt: () => Pick<Connection, 'api'>,
): Promise<string> {
  const known = given ?? env['SLUICE_SECRET'];
  if (known !== undefined) return known;
  const { secretKey } = await connectIt().api.settings.read();
  if (secretKey) return secretKey;
  throw new CommandError(
    'not_signed_in',
    'The service does not return its streams secret',
    'pass --secret, or set SLUICE_SECRET',
  );
}

/** Converts `3000`, `localhost:3000/hooks` or a URL to a URL. Adds `path` to a URL without one. */
export function toLocalUrl(name: string, given: string, path = '/'): string {
  const text = /^\d+$/.test(given)
    ? `http://localhost:${given}`
    : /^https?:\/\//.test(given)
      ? given
      : `http://${given}`;
  const isWord = /^[a-z]\w*$/i.test(given) && given !== 'localhost';
  if (isWord || !URL.canParse(text) || (/^\d+$/.test(given) && Number(given) > 65_535)) {
    throw new CommandError(
      'usage',
      `${name} ${given}: should be a port or a URL`,
      'e.g. 3000 or http://localhost:3000/webhooks',
    );
  }
  const url = new URL(text);
  if (url.pathname === '/') url.pathname = path;
  return url.href;
}
