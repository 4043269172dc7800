/**
 * Reads recent blocks of live nodes, and prints what Sluice does not understand in them:
 * `npm run -s watch-forks -- --chain 0xaa36a7=URL --chain 0x2105=URL --blocks 20`. The exit code is
 * 1 if something is not understood, otherwise 2 if a node can't be read, otherwise 0.
 */
import { parseArgs } from 'node:util';
import { type Watched, watchForks } from './forks.ts';

const { values } = parseArgs({
  options: {
    chain: { type: 'string', multiple: true, default: [] },
    blocks: { type: 'string', default: '20' },
  },
});
const blocks = Number(values.blocks);
const chains = values.chain.map((text): Watched => {
  const [, chain, url] = /^(0x[0-9a-f]+)=(https?:\/\/.+)$/.exec(text) ?? [];
  if (chain === undefined || url === undefined) {
    console.error(`--chain ${text} is not a chain ID and a URL, such as 0x1=https://node.example`);
    process.exit(2);
  }
  return { chain, url };
});
if (chains.length === 0 || !Number.isSafeInteger(blocks) || blocks < 1) {
  console.error('Pass --chain CHAIN=URL at least once, and --blocks with a positive number.');
  process.exit(2);
}
const { text, exitCode } = await watchForks(chains, blocks);
console.log(text);
process.exitCode = exitCode;
