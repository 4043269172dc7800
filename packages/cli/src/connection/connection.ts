/** Finds the service that a command calls, and connects to it. */
import { type Client, createClient } from '@sluice/kit';
import {
  type SluiceClient,
  type SluiceClientOptions,
  createSluiceClient,
} from '@sluice/kit/sluice';
import { type Command, Option } from 'commander';
import { findDevService, readContexts } from './contexts.ts';
import { toDurationMs } from '../flags/durations.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface ConnectionOptions {
  apiUrl?: string;
  apiKey?: string;
  context?: string;
  timeout?: string;
  json?: boolean;
}

export const addConnectionOptions = (command: Command): Command =>
  command
    .option('--json', 'Print JSON')
    .addOption(
      new Option('--api-url <url>', 'URL of the service (env: SLUICE_API_URL)').helpGroup(GROUP),
    )
    .addOption(new Option('--api-key <key>', 'API key (env: SLUICE_API_KEY)').helpGroup(GROUP))
    .addOption(
      new Option('--context <name>', 'Name of a saved service (see sluice context list)').helpGroup(
        GROUP,
      ),
    )
    .addOption(
      new Option('--timeout <duration>', 'Timeout of each request; default: 30s').helpGroup(GROUP),
    );

const GROUP = 'Service options:';
const DEFAULT_URL = 'http://127.0.0.1:4400';

export type ConnectionSource = 'flags' | 'context' | 'dev' | 'default';

export interface ServiceTarget {
  url: string;
  apiKey: string | undefined;
  source: ConnectionSource;
  /** Name of the context, or path of the dev service's folder. */
  name?: string;
  /** Reason why this service was chosen, if the user may expect another one. */
  guess?: string;
}

/**
 * Context name that selects the dev service of the current folder, unless a saved context has this
 * name.
 */
const DEV_CONTEXT = 'dev';

/**
 * Finds the service. Order of precedence: `--api-url` or `SLUICE_API_URL`, a named context, the
 * context in use, the service of `sluice dev` for this folder (unless an API key is given), the
 * default URL on this machine.
 *
 * @throws CommandError `usage` if the named context does not exist.
 */
export function findTarget(options: ConnectionOptions, terminal: Terminal): ServiceTarget {
  const { env } = terminal;
  const url = options.apiUrl ?? env['SLUICE_API_URL'];
  const envKey = env['SLUICE_API_KEY'];
  const apiKey = options.apiKey ?? envKey;
  const named = options.context ?? env['SLUICE_CONTEXT'];
  const { current, contexts } = readContexts(terminal);
  if (named !== undefined) {
    const dev = named === DEV_CONTEXT ? findDevService(terminal) : undefined;
    const context = contexts[named] ?? dev;
    if (context === undefined) {
      const known = Object.keys(contexts).join(', ') || 'none';
      throw new CommandError(
        'usage',
        `There is no context ${JSON.stringify(named)}; saved contexts: ${known}`,
        `create it: sluice login --context ${named}`,
      );
    }
    // A key is saved for one service, so it is not sent to another URL.
    const saved = url === undefined || url === context.apiUrl ? context.apiKey : undefined;
    return {
      url: url ?? context.apiUrl,
      // `--context` chooses a service and its key, so a key in the environment is only a fallback.
      apiKey:
        options.apiKey ?? (options.context === undefined ? (envKey ?? saved) : (saved ?? envKey)),
      source: 'context',
      name: named,
    };
  }
  if (url !== undefined) return { url, apiKey, source: 'flags' };
  const context = current === undefined ? undefined : contexts[current];
  if (context !== undefined && current !== undefined) {
    return {
      url: context.apiUrl,
      apiKey: apiKey ?? context.apiKey,
      source: 'context',
      name: current,
      ...(findDevService(terminal) !== undefined && {
        guess: `the context in use; to use the sluice dev of this folder, pass --context ${DEV_CONTEXT}`,
      }),
    };
  }
  const dev = apiKey === undefined ? findDevService(terminal) : undefined;
  if (dev !== undefined) {
    const { apiUrl, folder: name } = dev;
    const guess = `the sluice dev of ${name}`;
    return { url: apiUrl, apiKey: dev.apiKey, source: 'dev', name, guess };
  }
  return { url: DEFAULT_URL, apiKey, source: 'default', guess: 'the default URL' };
}

export interface Connection {
  readonly url: string;
  readonly apiKey: string;
  readonly source: ConnectionSource;
  /** Client of the API that is compatible with the hosted service. */
  readonly api: Client;
  /** Client of the routes that the hosted service does not have. */
  readonly sluice: SluiceClient;
}

/**
 * Connects to the service of {@link findTarget}.
 *
 * @throws CommandError without an API key: `no_service` if no service is configured either,
 * otherwise `not_signed_in`.
 */
export function connect(options: ConnectionOptions, terminal: Terminal): Connection {
  const target = findTarget(options, terminal);
  const { url, apiKey, source } = target;
  if (apiKey === undefined) throw toMissingKey({ url, source });
  printGuess(target, terminal);
  return connectTo({ url, source, apiKey }, toClientOptions(options, terminal));
}

/** @throws SluiceError `invalid_argument` if the URL or the key is malformed. */
export function connectTo(
  { url, source, apiKey }: Pick<Connection, 'url' | 'source' | 'apiKey'>,
  options: Omit<SluiceClientOptions, 'baseUrl' | 'apiKey'>,
): Connection {
  const clientOptions = { ...options, baseUrl: url, apiKey };
  return {
    url,
    apiKey,
    source,
    api: createClient(clientOptions),
    sluice: createSluiceClient(clientOptions),
  };
}

const printedOn = new WeakSet<Terminal>();

/** Prints the service and the reason for its choice, once per command, if there is a `guess`. */
function printGuess({ url, guess }: ServiceTarget, terminal: Terminal): void {
  if (guess === undefined || printedOn.has(terminal)) return;
  printedOn.add(terminal);
  terminal.note(`Using ${url}, ${guess}`);
}

export const toMissingKey = ({
  url,
  source,
}: Pick<ServiceTarget, 'url' | 'source'>): CommandError =>
  source === 'default'
    ? new CommandError(
        'no_service',
        'No service is configured, and `sluice dev` is not running in this folder',
      )
    : new CommandError('not_signed_in', `No API key for ${url}`);

/** Returns the client options for the timeout, Ctrl-C and `--debug`. */
export const toClientOptions = ({ timeout }: ConnectionOptions, terminal: Terminal) => ({
  ...(timeout !== undefined && { timeoutMs: toDurationMs('--timeout', timeout) }),
  fetch: (input: Parameters<typeof fetch>[0], init: RequestInit = {}) =>
    fetch(input, {
      ...init,
      signal: init.signal ? AbortSignal.any([init.signal, terminal.signal]) : terminal.signal,
    }),
  ...(terminal.options.debug && {
    onResponse: ({ request, status, requestId, durationMs }: DebuggedResponse) =>
      terminal.stderr.write(
        `${request.method} ${request.url} ${status} ${Math.round(durationMs)} ms ${requestId ?? ''}\n`,
      ),
  }),
});

interface DebuggedResponse {
  request: { method: string; url: string };
  status: number;
  requestId: string | undefined;
  durationMs: number;
}
