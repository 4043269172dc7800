import { describeChainFix } from './chainFix.ts';
import { statSync } from 'node:fs';
import { CHAIN_FORMATS, describeNodeFlag, familyOf, toConnectingCurl } from '@sluice/kit/contract';
import { createSluiceClient, type SluiceClient, type StreamSummary } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import {
  type ConnectionOptions,
  addConnectionOptions,
  findTarget,
  toClientOptions,
} from '../connection/connection.ts';
import { contextsPath } from '../connection/contexts.ts';
import { examples } from '../flags/examples.ts';
import { rewriteCommands } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import { formatCount, formatQuantity } from '../terminal/progress.ts';
import { wrapText } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { VERSION } from '@sluice/service/build';

export const declareDoctor = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .addHelpText('after', examples('sluice doctor', 'sluice doctor --context production'))
    .action((options: ConnectionOptions) => doctor(options, terminal));

interface Finding {
  check: string;
  state: 'ok' | 'warn' | 'bad';
  message: string;
  fix?: string;
}

const MAX_SKEW_MS = 60_000;

/** Checks for common problems. The exit code is 9 if the state of a check is `bad`. */
async function doctor(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const findings: Finding[] = [];
  const report = ({ message, fix, ...rest }: Finding): void => {
    const finding: Finding = { ...rest, message: rewriteCommands(message) };
    if (fix !== undefined) finding.fix = rewriteCommands(fix);
    findings.push(finding);
    if (options.json) return;
    const mark = { ok: '✓', warn: '!', bad: '✗' }[finding.state];
    terminal.printText(`${mark} ${finding.check.padEnd(10)}${finding.message}`, {
      indent: 12,
      tint: { tone: finding.state, of: mark },
    });
    if (finding.fix === undefined) return;
    for (const line of wrapText(' '.repeat(12) + finding.fix, 12, terminal.width)) {
      terminal.print(terminal.tint('faint', line));
    }
  };
  for await (const finding of examine(options, terminal)) report(finding);
  if (options.json) terminal.printJson(findings);
  const bad = findings.filter(({ state }) => state === 'bad');
  if (bad.length > 0) {
    const names = [...new Set(bad.map(({ check }) => check))].join(', ');
    throw new CommandError(
      'check_failed',
      `${bad.length} of ${findings.length} checks failed: ${names}`,
    );
  }
}

async function* examine(
  options: ConnectionOptions,
  terminal: Terminal,
): AsyncGenerator<Finding, undefined> {
  yield ok(
    'sluice',
    `${VERSION} on Node ${process.versions.node}, ${process.platform} ${process.arch}`,
  );
  const file = statSync(contextsPath(terminal), { throwIfNoEntry: false });
  if (file !== undefined && process.platform !== 'win32' && (file.mode & 0o077) !== 0) {
    yield {
      check: 'contexts',
      state: 'bad',
      message: `${contextsPath(terminal)} contains keys, but other users can read it`,
      fix: `chmod 600 ${contextsPath(terminal)}`,
    };
  }
  const { url, apiKey } = findTarget(options, terminal);
  const { fetch, ...rest } = toClientOptions(options, terminal);
  let response: Response;
  const asked = Date.now();
  try {
    response = await fetch(new URL('/health', url), { signal: AbortSignal.timeout(5_000) });
  } catch (error) {
    const { cause } = error as Error;
    yield {
      check: 'service',
      state: 'bad',
      message: `${url} does not respond: ${cause instanceof Error ? cause.message : String(error)}`,
      fix: 'start it (sluice dev, sluice serve), or check the URL (sluice whoami)',
    };
    return;
  }
  yield response.ok
    ? ok('service', `${url} responds in ${Date.now() - asked} ms`)
    : {
        check: 'service',
        state: 'bad',
        message: `${url}/health returns ${response.status}`,
        fix: 'check the log of the service, or the URL (sluice whoami)',
      };
  yield clock(response.headers.get('date'));
  if (apiKey === undefined) {
    yield { check: 'key', state: 'bad', message: `no API key for ${url}`, fix: 'sluice login' };
    return;
  }
  const sluice = createSluiceClient({ baseUrl: url, apiKey, fetch, ...rest });
  if (!(await sluice.checkSession())) {
    yield {
      check: 'key',
      state: 'bad',
      message: 'the service rejects this API key',
      fix: 'sluice login',
    };
    return;
  }
  yield ok('key', `…${apiKey.slice(-4)} is valid`);
  yield* examineChains(sluice);
  yield* examineStreams(sluice);
}

const ok = (check: string, message: string): Finding => ({ check, state: 'ok', message });

function clock(date: string | null): Finding {
  const skewMs = date === null ? 0 : Date.now() - Date.parse(date);
  return Math.abs(skewMs) < MAX_SKEW_MS
    ? ok('clock', 'in sync with the service')
    : {
        check: 'clock',
        state: 'bad',
        message: `${Math.round(Math.abs(skewMs) / 1_000)} s off the service's clock, so webhooks look too old or too new`,
        fix: 'synchronize both clocks with NTP',
      };
}

async function* examineChains(sluice: SluiceClient): AsyncGenerator<Finding, undefined> {
  const chains = await sluice.listChains();
  if (chains.length === 0) {
    yield {
      check: 'chains',
      state: 'warn',
      message: 'no chain is configured',
      fix: 'start the service with --chain <hexId>=<rpcUrl>',
    };
  }
  for (const { id, name, state, head, checkpoint, message, providers } of chains) {
    const lag =
      head === null || checkpoint === null
        ? ''
        : head < checkpoint
          ? `, and its head is block ${formatCount(head)}, below the last one read, ${formatCount(checkpoint)}`
          : `, ${formatQuantity(head - checkpoint, 'block')} behind`;
    const needsResume = state === 'down' && (await isHalted(sluice, id));
    yield {
      check: CHAIN_FORMATS[familyOf(id)].nodeSetting,
      state: state === 'down' ? 'bad' : state === 'live' ? 'ok' : 'warn',
      message: `${name} (${id}) is ${state}${lag}${message === '' ? '' : `: ${message}`}`,
      ...(state === 'down' && { fix: describeChainFix(id, message, needsResume) }),
    };
    // If a chain is not live and has only one node, its message already describes that node.
    const troubled = providers.filter((each) => each.state !== 'good');
    for (const node of providers.length > 1 || state === 'live' ? troubled : []) {
      yield {
        check: 'node',
        state: 'warn',
        message: `${node.name} is ${node.state}: ${node.message}`,
      };
    }
  }
}

/** Returns whether the chain waits until it is resumed. */
async function isHalted(sluice: SluiceClient, chain: string): Promise<boolean> {
  const [newest] = await sluice.listGaps({ chain });
  return newest?.kind === 'halted' && newest.endedAt === null;
}

async function* examineStreams(sluice: SluiceClient): AsyncGenerator<Finding, undefined> {
  const streams = await sluice.listStreamSummaries();
  const read = new Set((await sluice.listChains()).map(({ id }) => id));
  const findings = streams.map((stream) => examineStream(stream, read));
  const troubled = findings.filter((found) => found.some(({ state }) => state !== 'ok')).length;
  yield ok('streams', `${streams.length}, ${troubled} with problems`);
  yield* findings.flat();
}

/** Lists what keeps a stream from delivering, with a fix for each finding. */
function examineStream(stream: StreamSummary, read: ReadonlySet<string>): Finding[] {
  const { id, status, statusMessage, chainIds, failingSince, webhookUrl } = stream;
  const name = stream.tag || id;
  // Short ids keep the commands on one line, so that they can be copied.
  const short = id.slice(0, 8);
  const finding = (state: Finding['state'], message: string, fix: string): Finding => ({
    check: 'stream',
    state,
    message: `${name} ${message}`,
    fix,
  });
  if (status === 'paused') {
    return [finding('ok', 'is paused', `sluice streams resume ${short}`)];
  }
  if (status === 'terminated') {
    return [finding('bad', `was terminated: ${statusMessage}`, `sluice streams resume ${short}`)];
  }
  const unread = chainIds.filter((chain) => !read.has(chain));
  const found = unread.map((chain) =>
    finding(
      'bad',
      `is on ${chain}, but no node is configured for it`,
      `start the service with ${describeNodeFlag(chain)}`,
    ),
  );
  if (status === 'error' || failingSince !== null) {
    const since =
      failingSince === null ? '' : `, since ${new Date(failingSince).toISOString().slice(0, 16)}Z`;
    // The message of an active stream is about its chains, not about its receiver.
    const why = status === 'error' && statusMessage !== '' ? `: ${statusMessage}` : '';
    const url = URL.canParse(webhookUrl) ? new URL(webhookUrl) : undefined;
    const isLookedAt = url?.protocol.startsWith('http') ? `${toConnectingCurl(webhookUrl)}; ` : '';
    found.push(
      finding(
        'bad',
        `has a failing receiver${since}${why}`,
        `${isLookedAt}list attempts: sluice deliveries list --stream ${short} --limit 5`,
      ),
    );
  }
  if (found.length === 0 && statusMessage !== '') {
    found.push(finding('warn', `is ${status}: ${statusMessage}`, `sluice streams get ${short}`));
  }
  return found;
}
