import type { ChainHealth } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection.ts';
import { toCount } from '../durations.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareChains(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('list'))
    .description('how each chain is, and each of its nodes')
    .action((options: ConnectionOptions) => listChains(options, terminal));
  addConnectionOptions(command.command('resume <id>'))
    .description('take a halted chain on from a block, and record what was left out')
    .option('--from <block>', 'the first block to read; default: the head of the node')
    .action((id: string, options: ResumeOptions) => resumeChain(id, options, terminal));
}

async function listChains(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const chains = await connect(options, terminal).sluice.listChains();
  if (options.json) {
    terminal.sayJson(chains.map((chain) => ({ ...chain, blocks: undefined })));
    return;
  }
  if (chains.length === 0) {
    terminal.note('No chains: start the service with --chain <hexId>=<rpcUrl>');
  }
  for (const chain of chains) for (const line of describe(chain)) terminal.say(line);
}

interface ResumeOptions extends ConnectionOptions {
  from?: string;
}

/** The way out of a halt: goes on from a block, or from the head. */
async function resumeChain(id: string, options: ResumeOptions, terminal: Terminal): Promise<void> {
  const from = options.from === undefined ? {} : { from: toCount('--from', options.from) };
  const resumed = await connect(options, terminal).sluice.resumeChain(id, from);
  if (options.json) terminal.sayJson(resumed);
  else {
    terminal.say(
      `${resumed.chainId} goes on from block ${resumed.from}; what was left out is a hole in the coverage of its streams`,
    );
  }
}

function describe(chain: ChainHealth): string[] {
  const head = chain.head === null ? 'head unknown' : `head ${chain.head}`;
  const at = chain.checkpoint === null ? 'not begun' : `at ${chain.checkpoint}`;
  return [
    `${chain.id}  ${chain.name}  ${chain.state}  ${at}, ${head}, confirmations ${chain.confirmations}`,
    ...(chain.message === '' ? [] : [`  ${chain.message}`]),
    ...chain.providers.map(
      ({ name, state, message }) => `  ${name}  ${state}${message === '' ? '' : `  ${message}`}`,
    ),
  ];
}
