/** Sends webhooks to `http:` and `https:` URLs, with limits on time and on the response. */
import { readRetryAfterMs } from '@sluice/kit/contract';
import { type CleanText, cleanReceiverText } from '../../../base/foreignText.ts';
import { flagOf } from '../../../config/settings.ts';
import { DEFAULT_TIMEOUT_MS } from '../../send/timeouts.ts';
import type { Destination, OutgoingWebhook, SendResult } from '../destination.ts';
import { statusError, urlProblemOf } from '../httpStatus.ts';
import { type Login, readLogin } from '../login.ts';
import type { ShownCertificate } from './certificate.ts';
import { type AddressGuard, INSECURE_URL } from './guard.ts';
import { sendAuthorized } from './oauth2/authorized.ts';
import { TOKEN_RESPONSE_BYTES, createTokens } from './oauth2/tokens.ts';
import { type OriginOptions, createOrigins } from './origins.ts';
import type { PostResult } from './post.ts';
import { toTransport } from './transport.ts';

/**
 * The share of the timeout that an attempt may wait for an access token, in addition to the timeout
 * of the webhook: 10 s by default.
 */
const TOKEN_SHARE = 2 / 3;

/** A parsed webhook URL. */
type Target = { headers: Record<string, string>; clean: CleanText } & (
  | { origin: string; path: string }
  | { refused: string }
);

export interface HttpOptions extends Omit<OriginOptions, 'timeoutMs' | 'guard'> {
  guard: AddressGuard;
  /** Time for a token or a tunnel is a share of this. Default: 15 s. */
  timeoutMs?: number | undefined;
}

export function createHttp({
  guard,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  ...connecting
}: HttpOptions): Destination {
  const origins = createOrigins({ guard, timeoutMs, ...connecting });
  /** Targets by webhook URL. Streams have few URLs and use them thousands of times. */
  const targets = new Map<string, Target>();

  const targetOf = (webhookUrl: string): Target => {
    let target = targets.get(webhookUrl);
    if (target === undefined) {
      target = readTarget(webhookUrl, guard);
      targets.set(webhookUrl, target);
    }
    return target;
  };

  const tokens = createTokens({
    async post(url, request, limitMs) {
      const target = targetOf(url);
      if ('refused' in target) return { ...UNSENT, failure: target.refused };
      const { posted } = await origins.post(target, request, limitMs, TOKEN_RESPONSE_BYTES);
      return { ...posted, failure: posted.failure && target.clean(posted.failure) };
    },
    timeoutMs: timeoutMs * TOKEN_SHARE,
  });

  const sendOnce = async (
    { url, body, sign, clockSkewMs }: OutgoingWebhook,
    limitMs: number,
    authorization?: string,
  ): Promise<SendResult> => {
    const startedAt = Date.now();
    const beganAt = performance.now();
    const target = targetOf(url);
    const end = (posted: PostResult, certificate: ShownCertificate | null = null): SendResult => {
      const { status, failure, localFailure, retryAfter, responseBody, isSent } = posted;
      const endedAt = performance.now();
      return {
        startedAt,
        durationMs: Math.round(endedAt - beganAt),
        status,
        // Once the status has arrived, it decides, whatever happens to the rest of the response.
        error: status === null ? failure && target.clean(failure) : statusError(status),
        urlProblem: status === null ? problemOf(failure) : urlProblemOf(status),
        retryAfterMs: readRetryAfterMs(status, retryAfter, Date.now() + clockSkewMs),
        responseBody: target.clean(responseBody),
        transport: toTransport(posted, { beganAt, endedAt }, certificate),
        localFailure:
          status === null && localFailure !== undefined
            ? { cause: localFailure, isSent }
            : undefined,
      };
    };
    if ('refused' in target) return end({ ...UNSENT, failure: target.refused });
    const headers = {
      ...target.headers,
      ...sign(startedAt),
      ...(authorization !== undefined && { authorization }),
    };
    const { posted, certificate } = await origins.post(target, { headers, body }, limitMs);
    return end(posted, certificate);
  };

  return {
    takes: (url) => /^https?:/i.test(url),
    isIsolable: true,
    refuse: guard.refuseResolved,
    hostOf: (url) => new URL(url).host,
    async send(webhook, limitMs) {
      const { oauth2, url } = webhook;
      if (oauth2 === undefined || 'refused' in targetOf(url)) return sendOnce(webhook, limitMs);
      const startedAt = Date.now();
      const beganAt = performance.now();
      const sent = await sendAuthorized(
        oauth2,
        tokens,
        (authorization, leftMs) => sendOnce(webhook, leftMs, authorization),
        limitMs,
      );
      if (!('failure' in sent)) return sent;
      const { failure, localFailure } = sent;
      return {
        startedAt,
        durationMs: Math.round(performance.now() - beganAt),
        status: null,
        error: failure,
        responseBody: '',
        transport: null,
        localFailure: localFailure && { cause: localFailure, isSent: false },
      };
    },
    tidy() {
      targets.clear();
      tokens.forget();
      origins.closeIdle();
    },
    close: origins.close,
  };
}

const UNSENT: PostResult = {
  status: null,
  retryAfter: undefined,
  responseBody: '',
  isCut: false,
  failure: null,
  localFailure: undefined,
  connecting: undefined,
  isSent: false,
  answeredAt: undefined,
};

const problemOf = (failure: string | null): string | undefined =>
  failure === INSECURE_URL
    ? `The webhook URL starts with http:, and the service was started with ${flagOf('httpsOnly')}. Change it to https:, then resume the stream`
    : undefined;

/**
 * Parses and checks a URL. The result may be cached, because the addresses of a name are checked
 * for each connection.
 */
function readTarget(webhookUrl: string, guard: AddressGuard): Target {
  const url = new URL(webhookUrl);
  const login = readLogin(url);
  const headers: Record<string, string> =
    login === undefined ? {} : { authorization: basicAuthorization(login) };
  const its = { headers, clean: cleanReceiverText(webhookUrl) };
  const refused = guard.refuse(url);
  if (refused !== undefined) return { ...its, refused };
  return { ...its, origin: url.origin, path: url.pathname + url.search };
}

const basicAuthorization = ({ user, password }: Login): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
