/** A replay of many as it is asked for elsewhere: in a terminal, in a script. Pure. */
import type { CreateReplay } from '@sluice/kit/sluice';
import { listOf } from './filterWords.ts';

const quote = (text: string): string =>
  /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Fields that the command line has a flag for. */
const FLAGGED: ReadonlySet<string> = new Set([
  'state',
  'streamId',
  'chainId',
  'phase',
  'status',
  'createdFrom',
  'createdTo',
  'blockFrom',
  'blockTo',
]);

const toFlag = (name: string, values: readonly string[]): string[] =>
  values.length === 0 ? [] : [`--${name} ${values.map(quote).join(' ')}`];

/** As typed in a terminal; null where its flags cannot say the selection. */
export function toSelectionCommand({ name, filter, perSecond }: CreateReplay): string | null {
  const { blockFrom, blockTo, createdFrom, createdTo } = filter;
  const [streams, chains] = [listOf(filter.streamId), listOf(filter.chainId)];
  const isSayable =
    Object.keys(filter).every((field) => FLAGGED.has(field)) &&
    streams.length < 2 &&
    chains.length < 2 &&
    (blockFrom === undefined) === (blockTo === undefined);
  if (!isSayable) return null;
  const time = (ms: number | undefined) => (ms === undefined ? [] : [new Date(ms).toISOString()]);
  return [
    'sluice replay',
    ...toFlag('state', listOf(filter.state)),
    ...toFlag('stream', streams),
    ...toFlag('chain', chains),
    ...toFlag('phase', listOf(filter.phase)),
    ...toFlag('status', listOf(filter.status)),
    ...toFlag('since', time(createdFrom)),
    ...toFlag('until', time(createdTo)),
    ...(blockFrom === undefined ? [] : [`--blocks ${blockFrom}..${blockTo}`]),
    ...toFlag('name', [name]),
    ...(perSecond === undefined ? [] : [`--rate ${perSecond}/s`]),
  ].join(' ');
}

/** The call itself, for what the command line has no flag for. */
export const toReplayCall = (replay: CreateReplay, origin: string): string =>
  [
    `curl ${origin}/sluice/replays`,
    `-H "x-api-key: $SLUICE_API_KEY"`,
    `-H 'content-type: application/json'`,
    `-d '${JSON.stringify(replay).replaceAll("'", `'\\''`)}'`,
  ].join(' \\\n  ');
