/**
 * The form that the webhook URLs of all queues have: `scheme://user:password@host,host:port/…`. Each
 * webhook is a message with the body and headers of the request.
 */

/** A kind of broker, and how its URLs name the target of the messages. */
export interface QueueBroker<Target extends object = object> {
  name: string;
  /** Schemes as the broker's clients spell them, each with the port of URLs without one. */
  plain: { scheme: string; port: number };
  tls: { scheme: string; port: number };
  /** Name of the part after the hosts, for messages. */
  needs: string;
  example: string;
  /** Names of the query parameters that a URL may have. */
  parameters: readonly string[];
  /** @throws Error with the problem, which completes "webhookUrl …" */
  parseTarget(url: URL): Target;
}

/** Servers of one cluster, which all use the same port. */
export interface QueueServers {
  /** Names or addresses, without brackets. */
  hosts: readonly string[];
  port: number;
  isTls: boolean;
}

/** Returns the scheme of a URL, in lowercase with its colon; empty without `//`. */
export const schemeOf = (url: string): string =>
  /^[a-z]+(?:\+[a-z]+)?:(?=\/\/)/i.exec(url)?.[0].toLowerCase() ?? '';

/**
 * Parses a webhook URL with one of the broker's schemes.
 *
 * @throws Error with the problem, which completes "webhookUrl …"
 */
export function parseBrokerUrl<Target extends object>(
  { plain, tls, needs, example, parameters, parseTarget }: QueueBroker<Target>,
  text: string,
): QueueServers & Target {
  const url = URL.parse(text);
  if (!url || url.hostname === '') {
    throw new Error(`should be a URL with a host and ${needs}, such as ${example}`);
  }
  const hosts = url.hostname.replaceAll(/[[\]]/g, '').split(',');
  if (hosts.includes('')) throw new Error('should have commas only between hosts');
  if ([...url.searchParams.keys()].some((name) => !parameters.includes(name)) || url.hash !== '') {
    throw new Error(`should have no # and no parameters except ${parameters.join(' and ')}`);
  }
  const isTls = schemeOf(text) === tls.scheme;
  return {
    hosts,
    port: url.port === '' ? (isTls ? tls : plain).port : Number(url.port),
    isTls,
    ...parseTarget(url),
  };
}

/**
 * Decodes a part of a URL.
 *
 * @throws Error with the problem, which completes "webhookUrl …"
 */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error('should have a % only before two hexadecimal digits');
  }
}
