import type { ChainHealth } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toCount } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { spellCommands } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import { cutText } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareChains(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('list'))
    .description('List chains and their nodes with their state')
    .addHelpText('after', examples('sluice chains list'))
    .action((options: ConnectionOptions) => listChains(options, terminal));
  command
    .command('test <url>')
    .description('Check which methods an EVM node supports, without the service')
    .option('--json', 'Print JSON')
    .addHelpText('after', examples('sluice chains test https://node.example'))
    .action((url: string, { json = false }: { json?: boolean }) => testNode(url, json, terminal));
  addConnectionOptions(command.command('resume <id>'))
    .description('Resume a halted chain and record the skipped blocks')
    .option('--from <block>', 'First block to read; default: the head of the node')
    .addHelpText('after', examples('sluice chains resume 0x1 --from 21000000'))
    .action((id: string, options: ResumeOptions) => resumeChain(id, options, terminal));
}

async function listChains(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const chains = await connect(options, terminal).sluice.listChains();
  if (options.json) {
    terminal.printJson(chains.map((chain) => ({ ...chain, blocks: undefined })));
    return;
  }
  if (chains.length === 0) {
    terminal.note('No chains yet. Start the service with --chain <hexId>=<rpcUrl>');
  }
  for (const line of chains.flatMap(describe))
    terminal.printText(spellCommands(line), { indent: 4 });
}

interface ResumeOptions extends ConnectionOptions {
  from?: string;
}

/** Resumes a halted chain from a block, or from the head. */
async function resumeChain(id: string, options: ResumeOptions, terminal: Terminal): Promise<void> {
  const from = options.from === undefined ? {} : { from: toCount('--from', options.from) };
  const resumed = await connect(options, terminal).sluice.resumeChain(id, from);
  if (options.json) terminal.printJson(resumed);
  else {
    const { chainId, from: next } = resumed;
    terminal.printText(
      `${chainId} resumes from block ${next}; skipped blocks are a hole in the coverage of its streams`,
    );
  }
}

function describe(chain: ChainHealth): string[] {
  const head = chain.head === null ? 'head unknown' : `head ${chain.head}`;
  const at = chain.checkpoint === null ? 'not started' : `at ${chain.checkpoint}`;
  const finalized = chain.finalized === null ? '' : `, finalized ${chain.finalized}`;
  return [
    `${chain.id}  ${chain.name}  ${chain.state}  ${at}, ${head}${finalized}, confirmations ${chain.confirmations}`,
    ...(chain.message === '' ? [] : [`  ${chain.message}`]),
    ...describeUnverified(chain.unverified),
    ...chain.providers.map(
      ({ name, state, message }) =>
        `  ${name}  ${state}${message === '' || message === chain.message ? '' : `  ${message}`}`,
    ),
  ];
}

const describeUnverified = (unverified: ChainHealth['unverified']): string[] =>
  unverified === null
    ? []
    : [`  ${unverified.blocks} unverified, latest ${unverified.latest}: ${unverified.reason}`];

/** Node methods that ingestion calls. It cannot work without the `needed` ones. */
const QUESTIONS = [
  { what: 'chain', method: 'eth_chainId', params: [], needed: true },
  { what: 'head', method: 'eth_blockNumber', params: [], needed: true },
  { what: 'block', method: 'eth_getBlockByNumber', params: ['latest', true], needed: true },
  { what: 'logs', method: 'eth_getLogs', params: [{ fromBlock: 'latest' }], needed: true },
  { what: 'receipts', method: 'eth_getBlockReceipts', params: ['latest'], needed: false },
  { what: 'finality', method: 'eth_getBlockByNumber', params: ['finalized', false], needed: false },
  {
    what: 'traces',
    method: 'debug_traceBlockByNumber',
    params: ['latest', { tracer: 'callTracer' }],
    needed: false,
  },
] as const;

async function testNode(url: string, json: boolean, terminal: Terminal): Promise<void> {
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw new CommandError('usage', `${url}: should be the HTTP or HTTPS URL of a node`);
  }
  const findings: object[] = [];
  let missing = 0;
  for (const { what, method, params, needed } of QUESTIONS) {
    const started = performance.now();
    const { answer, problem } = await call(url, method, params, terminal.signal);
    const durationMs = Math.round(performance.now() - started);
    if (problem !== undefined && needed) missing++;
    findings.push({ what, method, needed, durationMs, problem: problem ?? null });
    if (json) continue;
    const mark =
      problem === undefined
        ? terminal.tint('ok', '✓')
        : needed
          ? terminal.tint('bad', '✗')
          : terminal.tint('warn', '!');
    const shown = typeof answer === 'string' ? ` ${Number(answer)}` : '';
    const figures = `${what.padEnd(9)} ${String(durationMs).padStart(5)} ms${shown}`;
    const told = cutText(`${figures}  ${problem ?? ''}`.trimEnd(), terminal.width - 2);
    terminal.print(`${mark} ${told}`);
  }
  if (json) terminal.printJson(findings);
  if (missing > 0) {
    throw new CommandError('check_failed', `${missing} required calls failed`, 'use another node');
  }
}

async function call(
  url: string,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<{ answer?: unknown; problem?: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
    });
    const { result, error } = (await response.json()) as {
      result?: unknown;
      error?: { message?: string };
    };
    if (error !== undefined) return { problem: error.message ?? 'rejected' };
    return result === null || result === undefined ? { problem: 'no result' } : { answer: result };
  } catch (error) {
    const { cause, message } = error as Error;
    return { problem: cause instanceof Error ? cause.message : message };
  }
}

const ANSWER_WITHIN_MS = 10_000;
