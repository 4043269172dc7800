import { type ChainHealth, type NewNode, describeUnverifiedCode } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toCount } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { rewriteCommands } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import { formatQuantity } from '../terminal/progress.ts';
import { cutText } from '../terminal/text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortenId } from '../connection/shortIds.ts';
import { findAdded, printVerdict } from './addedUrls.ts';

export function declareChains(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('list'))
    .description('List chains and nodes, and the state of each')
    .addHelpText('after', examples('sluice chains list'))
    .action((options: ConnectionOptions) => listChains(options, terminal));
  addConnectionOptions(command.command('add <url>'))
    .description('Test a node from the service and, if it passes, read its chain from it')
    .option('--chain <id>', 'Chain of the node; default: the chain that it serves')
    .addHelpText(
      'after',
      examples(
        'sluice chains add https://node.example',
        'sluice chains add https://fullnode.example/v1 --chain aptos:devnet',
      ),
    )
    .action((url: string, options: ConnectionOptions & { chain?: string }) =>
      addNode(
        { url, ...(options.chain !== undefined && { chainId: options.chain }) },
        options,
        terminal,
      ),
    );
  addConnectionOptions(command.command('remove <node>'))
    .description('Stop reading from a node that was added')
    .addHelpText('after', examples('sluice chains remove 0f3c1a2b'))
    .action((id: string, options: ConnectionOptions) => removeNode(id, options, terminal));
  addConnectionOptions(command.command('test <url>'))
    .description('Check which methods an EVM node supports, or whether the service can use a node')
    .option(
      '--chain <id>',
      'Test from the service, as a node of this chain; default: from this machine',
    )
    .addHelpText(
      'after',
      examples(
        'sluice chains test https://node.example',
        'sluice chains test https://node.example --chain 0x1',
      ),
    )
    .action((url: string, options: ConnectionOptions & { chain?: string }) =>
      options.chain === undefined
        ? testMethods(url, options.json === true, terminal)
        : testNode({ chainId: options.chain, url }, options, terminal),
    );
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
    terminal.note(
      rewriteCommands(
        'No chains yet. Start the service with --chain <hexId>=<rpcUrl>, or add a node: sluice chains add <rpcUrl>',
      ),
    );
  }
  for (const line of chains.flatMap(describe))
    terminal.printText(rewriteCommands(line), { indent: 4 });
}

async function addNode(
  node: NewNode,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const added = await connect(options, terminal).sluice.addNode(node);
  if (options.json) terminal.printJson(added);
  else
    terminal.printText(`${added.chainId} is now read from ${added.host}  ${shortenId(added.id)}`);
}

async function removeNode(
  given: string,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const { sluice } = connect(options, terminal);
  const node = findAdded(given, await sluice.listNodes(), {
    one: 'node',
    many: 'nodes',
    list: 'sluice chains list',
  });
  await sluice.removeNode(node.id);
  if (options.json) terminal.printJson(node);
  else terminal.printText(`${node.chainId} is no longer read from ${node.host}`);
}

async function testNode(
  node: NewNode,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const verdict = await connect(options, terminal).sluice.testNode(node);
  printVerdict(node.url, verdict, { json: options.json, terminal });
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
  const isUsual = chain.trust === null || chain.trust === 'evidence';
  const trust = isUsual ? '' : `, trust ${chain.trust}`;
  return [
    `${chain.id}  ${chain.name}  ${chain.state}  ${at}, ${head}${finalized}, confirmations ${chain.confirmations}${trust}`,
    ...(chain.message === '' ? [] : [`  ${chain.message}`]),
    ...describeUnverified(chain.unverified),
    ...chain.providers.map(
      ({ name, state, message, addedId }) =>
        `  ${name}  ${state}  ${addedId === null ? 'configured' : `added ${addedId.slice(0, 8)}`}${message === '' || message === chain.message ? '' : `  ${message}`}`,
    ),
  ];
}

const describeUnverified = (unverified: ChainHealth['unverified']): string[] =>
  unverified === null
    ? []
    : [
        `  unverified blocks: ${unverified.blocks}, latest ${unverified.latest}`,
        ...Object.entries(unverified.byCode).map(
          ([code, blocks]) => `    ${code}  ${blocks}  ${describeUnverifiedCode(code).meaning}`,
        ),
      ];

/**
 * Node methods that the service calls to read a chain. It cannot read a chain without the `needed`
 * methods.
 */
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

async function testMethods(url: string, json: boolean, terminal: Terminal): Promise<void> {
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
    const line = cutText(`${figures}  ${problem ?? ''}`.trimEnd(), terminal.width - 2);
    terminal.print(`${mark} ${line}`);
  }
  if (json) terminal.printJson(findings);
  if (missing > 0) {
    throw new CommandError(
      'check_failed',
      `${formatQuantity(missing, 'required call')} failed`,
      'use another node',
    );
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
