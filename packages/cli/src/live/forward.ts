/** Sends deliveries of the service to another URL, signed anew, as the service itself would. */
import { WEBHOOK_HEADERS, cutText, signStandardWebhook } from '@sluice/kit/contract';
import { createFakeSender, signedHeaders } from '@sluice/kit/testing';
import { type AptosWebhook, type EvmWebhook, isSluiceError } from '@sluice/kit';
import type { DeliveryDetail, DeliverySummary } from '@sluice/kit/sluice';
import type { Connection } from '../connection/connection.ts';
import { CommandError } from '../terminal/errors.ts';
import { persist } from './persist.ts';

type WholeDelivery = DeliveryDetail & { body: string };

/** A delivery that was forwarded, and what the receiver made of it. */
export interface Forwarded {
  delivery: WholeDelivery;
  /** Null when no answer came. */
  status: number | null;
  /** Null for a 2xx. */
  error: string | null;
  durationMs: number;
  /** The first 4 KiB of the answer. */
  responseBody: string;
  /** As they were sent. */
  headers: Record<string, string>;
}

export interface Forwarder {
  /** What the receiver does is an outcome. Undefined where the service has no such delivery. */
  forward(id: string): Promise<Forwarded | undefined>;
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
  /** The headers that a stream's owner has set. */
  const own = new Map<string, Promise<Record<string, string>>>();
  const ownHeaders = ({ streamId, chainId }: DeliverySummary): Promise<Record<string, string>> => {
    let headers = own.get(streamId);
    if (headers === undefined) {
      const networkType = chainId.startsWith('aptos:') ? 'aptos' : 'evm';
      headers = api.streams.get(streamId, { networkType }).then(
        (stream) => stream.headers,
        // Deleted meanwhile.
        () => ({}),
      );
      own.set(streamId, headers);
    }
    return headers;
  };

  const findDelivery = async (id: string): Promise<WholeDelivery | undefined> => {
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

  /** Those of the stream's own, which sign beside the account's; none where the key may not read them. */
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
      const delivery = await persist(() => findDelivery(id), signal);
      if (delivery === undefined) return undefined;
      const { body } = delivery;
      const webhook = JSON.parse(body) as EvmWebhook | AptosWebhook;
      const headers: Record<string, string> = {
        ...(await ownHeaders(delivery)),
        ...signedHeaders(body, { secret, id }, webhook),
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

/** One POST; what goes wrong is an outcome. */
async function post(
  url: string,
  { body, headers, signal }: { body: string; headers: Record<string, string>; signal: AbortSignal },
): Promise<Pick<Forwarded, 'status' | 'error' | 'durationMs' | 'responseBody'>> {
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
    const responseBody = cutText(await response.text(), KEPT_CHARACTERS);
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
  if (error.name === 'TimeoutError') return `no complete answer within ${TIMEOUT_MS / 1000} s`;
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : error.message;
}

/** One attempt for each webhook, so that a person sees what happened now and not in two days. */
export const createSingleSender = (to: string, secret: string) =>
  createFakeSender({ to, secret, scheduleMs: [] });

/** The secret that signs: given, or the service's own. */
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
    'The service does not tell its streams secret',
    'pass --secret, or set SLUICE_SECRET',
  );
}

/** `3000`, `localhost:3000/hooks` or a URL. */
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
