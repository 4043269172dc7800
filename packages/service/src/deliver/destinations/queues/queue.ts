/**
 * Publishes webhooks to a queue. An attempt succeeds when the broker has confirmed the message. What
 * brokers differ in is a {@link BrokerClient}.
 */
import {
  type QueueBroker,
  type TemplateValues,
  fillTemplate,
  hasPlaceholder,
  queueBrokerOf,
  WEBHOOK_HEADERS,
} from '@sluice/kit/contract';
import { flagOf } from '../../../config/settings.ts';
import { STALL_MS, withDeadline } from '../../send/deadline.ts';
import { readLocalFailure } from '../../send/localFailure.ts';
import { startStopwatch } from '../../stopwatch.ts';
import { type Connection, type ConnectionsOptions, createConnections } from '../connections.ts';
import type { Destination, OutgoingWebhook, SendResult } from '../destination.ts';
import type { CertifiedKey } from '../http/clientCertificate.ts';
import type { AddressGuard } from '../http/guard.ts';
import type { ReadChainAndPhase } from '../inbox/inbox.ts';
import { type Server, resolveServers } from './servers.ts';
import { type QueueTarget, readTarget } from './target.ts';

export interface QueueOptions {
  guard: Pick<AddressGuard, 'refuse' | 'refuseResolved' | 'resolve'>;
  /** Certificate for brokers that request one. Default: none. */
  clientCertificate?: ConnectionsOptions<never, never>['clientCertificate'];
  /** URL of the proxy for HTTP requests, through which no broker can be reached. */
  egressProxy?: string | undefined;
  readChainAndPhase: ReadChainAndPhase;
}

/** An open connection to a broker. */
export interface QueueConnection extends Connection {
  /** IP address and port of the server. */
  readonly address: string;
  /** `host:port` of other servers of the cluster, which the next connection may go to. */
  readonly otherServers: readonly string[];
}

/** The client of a kind of broker. Its module is loaded when the first connection is opened. */
export interface BrokerClient<Part extends object, Open extends QueueConnection> {
  readonly broker: QueueBroker<Part>;
  /** Returns what a connection is bound to besides the server and the login. Default: nothing. */
  scopeOf?(part: Part): string;
  /**
   * Connects to one of the servers, and to no other address. The client must not reconnect.
   *
   * @param servers to be tried in this order
   */
  open(
    target: QueueTarget<Part>,
    servers: readonly Server[],
    certificate: CertifiedKey | undefined,
  ): Promise<Open>;
  /**
   * Publishes a message, and resolves when the broker has confirmed it.
   *
   * @returns what the attempt shows as response
   */
  publish(connection: Open, message: QueueMessage<Part>): Promise<string>;
  /** Returns whether a message may be published again at once, because its connection was lost. */
  isLost(error: unknown): boolean;
  /** Returns why a connection could not be opened, and what to do. */
  explainConnecting(error: unknown, target: QueueTarget<Part>): string;
  /** Returns why a message was not confirmed, and what to do. */
  explainPublishing(
    error: unknown,
    connection: Open,
    message: QueueMessage<Part>,
  ): Promise<string> | string;
}

export interface QueueMessage<Part extends object> {
  /** The `webhook-id`. */
  id: string;
  target: QueueTarget<Part>;
  body: Uint8Array;
  /** Those of the webhook, signed now. */
  headers: Record<string, string>;
  /** Milliseconds after which the client may forget the message if it is not confirmed. */
  forgetMs: number;
  /** Fills a template of the target with the values of the webhook. */
  fill(template: string): string;
}

type Published = Pick<SendResult, 'error' | 'responseBody' | 'localFailure'>;

/** An open connection and the time that it took. */
interface Opened<Open> {
  open: Open;
  dnsMs: number;
  connectMs: number;
}

/** How far an attempt got. */
interface Progress {
  /** Returns whether the time for the attempt is over, so that nothing may be published now. */
  isOver(): boolean;
  isSent: boolean;
  /** The connection, if the attempt had to wait until it was open. */
  opened: Opened<QueueConnection> | undefined;
}

/** Number of times that a message is published in one attempt if its connection is lost. */
const MAX_TRIES = 2;

export function createQueue<Part extends object, Open extends QueueConnection>(
  client: BrokerClient<Part, Open>,
  { guard, clientCertificate, egressProxy, readChainAndPhase }: QueueOptions,
): Destination {
  const { broker, scopeOf = () => '', isLost, explainConnecting, explainPublishing } = client;
  /** Targets by webhook URL. */
  const targets = new Map<string, QueueTarget<Part>>();
  /** Other servers by place, as the last server reported them. */
  const reported = new Map<string, readonly string[]>();
  const connections = createConnections({
    clientCertificate,
    async open(target: QueueTarget<Part>, certificate) {
      const elapsedMs = startStopwatch();
      const servers = await resolveServers(guard, target, reported.get(target.place) ?? []);
      const dnsMs = elapsedMs();
      const open = await client.open(target, servers, certificate);
      reported.set(target.place, open.otherServers);
      return {
        open,
        dnsMs,
        connectMs: elapsedMs() - dnsMs,
        isClosed: () => open.isClosed(),
        drain: () => open.drain(),
        close: () => open.close(),
      };
    },
  });

  const targetOf = (url: string): QueueTarget<Part> => {
    let target = targets.get(url);
    if (target === undefined) {
      target = readTarget(broker, url, scopeOf);
      targets.set(url, target);
    }
    return target;
  };

  const refuse = (url: URL): string | undefined =>
    egressProxy === undefined
      ? guard.refuse(url)
      : `brokers cannot be reached through ${flagOf('egressProxy')}: use an https: URL, or start the service without it`;

  const publish = async (
    target: QueueTarget<Part>,
    { body, sign }: OutgoingWebhook,
    limitMs: number,
    progress: Progress,
  ): Promise<Published> => {
    const refused = refuse(target.url);
    if (refused !== undefined) return failed(refused);
    const fill = createFill(body, readChainAndPhase);
    for (let tries = 1; ; tries++) {
      let open: Open;
      try {
        const { connection, isNew } = await connections.reach(target);
        ({ open } = connection);
        if (isNew) progress.opened = connection;
      } catch (error) {
        const cause = readLocalFailure(error as Error);
        return {
          ...failed(explainConnecting(error, target)),
          localFailure: cause && { cause, isSent: progress.isSent },
        };
      }
      if (progress.isOver()) return toLate(limitMs, progress, true);
      progress.isSent = true;
      const headers = sign(Date.now());
      const id = headers[WEBHOOK_HEADERS.id]!;
      const message = { id, target, body, headers, forgetMs: limitMs + LEFT_MS, fill };
      try {
        return { error: null, responseBody: await client.publish(open, message) };
      } catch (error) {
        if (isLost(error) && tries < MAX_TRIES && !progress.isOver()) continue;
        return failed(await explainPublishing(error, open, message));
      }
    }
  };

  return {
    takes: (url) => queueBrokerOf(url)?.name === broker.name,
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
      for (const place of connections.closeIdle()) reported.delete(place);
    },
    close: connections.close,
  };
}

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

/** Returns a function that fills templates. The body is parsed once, and only if it must be. */
function createFill(
  body: Uint8Array,
  readChainAndPhase: ReadChainAndPhase,
): (template: string) => string {
  let values: TemplateValues | undefined;
  return (template) => {
    if (!hasPlaceholder(template)) return template;
    values ??= readValues(body, readChainAndPhase);
    return fillTemplate(template, values);
  };
}

function readValues(body: Uint8Array, readChainAndPhase: ReadChainAndPhase): TemplateValues {
  const webhook = JSON.parse(Buffer.from(body).toString()) as AnyWebhook;
  const { streamId: stream, tag } = webhook;
  if (stream === '') return { stream, tag: '', chain: '', phase: '' };
  const { chainId: chain, phase } = readChainAndPhase(webhook);
  return { stream, tag, chain, phase };
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
        address: opened.open.address,
        certificate: null,
      };
