/**
 * Publishes webhooks to NATS JetStream. An attempt succeeds when a stream has confirmed the message,
 * which it does once the majority of its replicas have it.
 */
import { WEBHOOK_HEADERS, hasPlaceholder, queueSchemeOf, toSubject } from '@sluice/kit/contract';
import { flagOf } from '../../../config/settings.ts';
import { STALL_MS, withDeadline } from '../../send/deadline.ts';
import { readLocalFailure } from '../../send/localFailure.ts';
import { startStopwatch } from '../../stopwatch.ts';
import type { Destination, OutgoingWebhook, SendResult } from '../destination.ts';
import type { AddressGuard } from '../http/guard.ts';
import type { ReadChainAndPhase } from '../inbox/inbox.ts';
import { type Broker, type BrokerOptions, createBrokers } from './brokers.ts';
import { explainConnecting, explainPublishing, isLost } from './failures.ts';
import { type Target, readTarget } from './target.ts';

export interface NatsOptions extends BrokerOptions {
  guard: Pick<AddressGuard, 'refuse' | 'refuseResolved' | 'resolve'>;
  /** URL of the proxy for HTTP requests, through which no broker can be reached. */
  egressProxy?: string | undefined;
  readChainAndPhase: ReadChainAndPhase;
}

type Published = Pick<SendResult, 'error' | 'responseBody' | 'localFailure'>;

/** How far an attempt got. */
interface Progress {
  /** Returns whether the time for the attempt is over, so that nothing may be published now. */
  isOver(): boolean;
  isSent: boolean;
  /** The connection, if the attempt had to wait until it was open. */
  opened: Broker | undefined;
}

/**
 * A message is published again after its connection was lost. The broker drops the second one if it
 * has the first.
 */
const MAX_TRIES = 2;

export function createNats({
  guard,
  egressProxy,
  readChainAndPhase,
  ...connecting
}: NatsOptions): Destination {
  const brokers = createBrokers({ guard, ...connecting });
  /** Targets by webhook URL. */
  const targets = new Map<string, Target>();

  const targetOf = (url: string): Target => {
    let target = targets.get(url);
    if (target === undefined) {
      target = readTarget(url);
      targets.set(url, target);
    }
    return target;
  };

  const refuse = (url: URL): string | undefined =>
    egressProxy === undefined
      ? guard.refuse(url)
      : `brokers cannot be reached through ${flagOf('egressProxy')}: use an https: URL, or start the service without it`;

  const publish = async (
    target: Target,
    { body, sign }: OutgoingWebhook,
    limitMs: number,
    progress: Progress,
  ): Promise<Published> => {
    const refused = refuse(target.url);
    if (refused !== undefined) return failed(refused);
    const subject = subjectOf(target, body, readChainAndPhase);
    for (let tries = 1; ; tries++) {
      let broker: Broker;
      try {
        const reached = await brokers.reach(target);
        ({ broker } = reached);
        if (reached.isNew) progress.opened = broker;
      } catch (error) {
        const cause = readLocalFailure(error as Error);
        return {
          ...failed(explainConnecting(error, target)),
          localFailure: cause && { cause, isSent: progress.isSent },
        };
      }
      if (progress.isOver()) return toLate(limitMs, progress, true);
      progress.isSent = true;
      try {
        const signed = sign(Date.now());
        const confirmed = await broker.publish(subject, body, {
          headers: signed,
          msgID: signed[WEBHOOK_HEADERS.id]!,
          timeout: limitMs + LEFT_MS,
          ...(target.stream !== undefined && { expect: { streamName: target.stream } }),
        });
        const { stream, seq, duplicate } = confirmed;
        if (seq === 0) return failed(IN_FLIGHT);
        return { error: null, responseBody: JSON.stringify({ stream, seq, duplicate }) };
      } catch (error) {
        if (isLost(error) && tries < MAX_TRIES && !progress.isOver()) continue;
        return failed(await explainPublishing(error, broker, subject));
      }
    }
  };

  return {
    takes: (url) => queueSchemeOf(url)?.broker === 'NATS',
    isIsolable: false,
    refuse: async (url) => refuse(url) ?? guard.refuseResolved(url),
    hostOf: (url) => new URL(url).host,
    async send(webhook, limitMs) {
      const startedAt = Date.now();
      const elapsedMs = startStopwatch();
      const target = targetOf(webhook.url);
      const progress: Progress = {
        isOver: () => elapsedMs() > limitMs + STALL_MS,
        isSent: false,
        opened: undefined,
      };
      const published = await withDeadline(
        limitMs,
        publish(target, webhook, limitMs, progress),
        (isStalled) => toLate(limitMs, progress, isStalled),
      );
      const durationMs = Math.round(elapsedMs());
      return {
        ...published,
        error: published.error && target.clean(published.error),
        startedAt,
        durationMs,
        status: null,
        transport: toTransport(progress, durationMs),
      };
    },
    tidy() {
      targets.clear();
      brokers.closeIdle();
    },
    close: brokers.close,
  };
}

/**
 * Older NATS servers confirm a repeat with the position 0 while the first message is not replicated
 * yet. It may never be, for example because its leader fails.
 */
const IN_FLIGHT =
  'the broker has an earlier copy of the message, which is not replicated yet: the message is published again later';

/** Time after the attempt until the client forgets a message without confirmation. */
const LEFT_MS = 5_000;

const failed = (error: string): Published => ({ error, responseBody: '' });

/** Returns the result of an attempt that took too long. */
function toLate(limitMs: number, { isSent }: Progress, isStalled: boolean): Published {
  const missing = isSent ? 'confirmation of the message' : 'connection to the broker';
  const error = `no ${missing} within ${limitMs / 1000} s`;
  if (!isStalled) return failed(error);
  return {
    ...failed(`${error}, during which this process was suspended`),
    localFailure: { cause: 'STALLED', isSent },
  };
}

/** The parts that the webhooks of all families have. */
interface AnyWebhook {
  readonly streamId: string;
  readonly tag: string;
}

function subjectOf(
  { subject }: Target,
  body: Uint8Array,
  readChainAndPhase: ReadChainAndPhase,
): string {
  if (!hasPlaceholder(subject)) return subject;
  const webhook = JSON.parse(Buffer.from(body).toString()) as AnyWebhook;
  const { streamId: stream, tag } = webhook;
  if (stream === '') return toSubject(subject, { stream, tag: '', chain: '', phase: '' });
  const { chainId: chain, phase } = readChainAndPhase(webhook);
  return toSubject(subject, { stream, tag, chain, phase });
}

/** Returns the timing of an attempt that had to wait for its connection; otherwise null. */
const toTransport = ({ opened }: Progress, durationMs: number): SendResult['transport'] =>
  opened === undefined
    ? null
    : {
        parts: {
          dnsMs: Math.round(opened.dnsMs),
          connectMs: Math.round(opened.connectMs),
          tlsMs: null,
          waitMs: Math.max(0, durationMs - Math.round(opened.dnsMs + opened.connectMs)),
          bodyMs: null,
        },
        address: opened.address,
        certificate: null,
      };
