import { type ChainHealth, createSluiceClient } from '@sluice/kit/sluice';
import { say } from '../output.ts';

export interface RemoteOptions {
  url: string;
  apiKey?: string;
  json?: boolean;
}

const clientOf = ({ url, apiKey }: RemoteOptions) => createSluiceClient({ baseUrl: url, apiKey });

/** The chains a service reads, and how each is. */
export async function listChains(options: RemoteOptions): Promise<void> {
  const chains = await clientOf(options).listChains();
  if (options.json) {
    say(JSON.stringify(chains.map((chain) => ({ ...chain, blocks: undefined }))));
    return;
  }
  if (chains.length === 0) say('No chains: start the service with --chain <hexId>=<rpcUrl>');
  for (const chain of chains) for (const line of describe(chain)) say(line);
}

/** The way out of a halt: goes on from a block, or from the head. */
export async function resumeChain(
  id: string,
  options: RemoteOptions & { from?: string },
): Promise<void> {
  const from = options.from === undefined ? {} : { from: Number(options.from) };
  const resumed = await clientOf(options).resumeChain(id, from);
  say(
    options.json
      ? JSON.stringify(resumed)
      : `${resumed.chainId} goes on from block ${resumed.from}; what was left out is a hole in the coverage of its streams`,
  );
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
