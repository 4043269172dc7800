/** Sums up the state of all streams and chains, and groups what fails by its cause. */
import type { DeliverySummary } from '@sluice/kit/sluice';
import type { FleetStream } from '../../data/fleet.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import type { Condition } from '../../ui/status.tsx';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { chainCondition, isChainDown } from '../../words/condition.ts';
import { receiverOf } from '../../words/destinations.ts';

const countOf = (part: number, all: number, what: string): string =>
  `${formatCount(part)} of ${formatQuantity(all, what)}`;

/**
 * Describes all streams and chains in one sentence, such as
 * `2 of 10 streams failing, 2,632 waiting, chains current`.
 */
export function describeHealth(
  fleet: readonly FleetStream[],
  chains: readonly WatchedChain[],
): Condition {
  const failing = fleet.filter(({ isFailing }) => isFailing).length;
  const noted = fleet.filter(({ condition }) => condition.tone === 'warn').length;
  const down = chains.filter(isChainDown).length;
  const late = chains.filter((chain) => chainCondition(chain).tone !== 'ok').length - down;
  const waiting = fleet.reduce((total, { stream }) => total + stream.queue, 0);
  const parts = [
    failing > 0 ? `${countOf(failing, fleet.length, 'stream')} failing` : 'no stream failing',
    noted > 0 && `${formatCount(noted)} to look at`,
    waiting > 0 ? `${formatCount(waiting)} waiting` : 'nothing waiting',
    down > 0 && `${countOf(down, chains.length, 'chain')} down`,
    late > 0 && `${countOf(late, chains.length, 'chain')} not current`,
    down + late === 0 && 'chains current',
  ].filter((part) => part !== false);
  const words = parts.join(', ');
  if (failing + down > 0) return { shape: 'triangle', tone: 'bad', word: capitalized(words) };
  if (noted + late > 0) return { shape: 'exclamation', tone: 'warn', word: capitalized(words) };
  return { shape: 'disc', tone: 'ok', word: `All is well: ${words}` };
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Streams that fail for the same cause. */
export interface Incident {
  /** Such as `503 from api.acme.io` or `Base is down`. */
  cause: string;
  /** Id of the chain that is down; undefined if a receiver fails. */
  chainId: string | undefined;
  streams: readonly FleetStream[];
  /** Unix milliseconds; null while unknown. */
  since: number | null;
  /** Number of deliveries that wait. */
  waiting: number;
  /** The newest failed delivery; undefined if none is loaded. */
  latest: DeliverySummary | undefined;
}

/** Groups failing streams by receiver and error, and streams of chains that are down by chain. */
export function toIncidents(
  fleet: readonly FleetStream[],
  chains: ReadonlyMap<string, WatchedChain>,
): Incident[] {
  const byCause = new Map<string, { chainId: string | undefined; streams: FleetStream[] }>();
  const add = (cause: string, row: FleetStream, chainId?: string): void => {
    const known = byCause.get(cause);
    if (known === undefined) byCause.set(cause, { chainId, streams: [row] });
    else known.streams.push(row);
  };
  for (const row of fleet) {
    for (const id of row.down) add(`${chains.get(id)?.name ?? id} is down`, row, id);
    if (row.isFailing) add(causeOf(row), row);
  }
  return [...byCause]
    .map(([cause, { chainId, streams }]) => ({
      cause,
      chainId,
      streams,
      since: chainId === undefined ? startOf(streams) : null,
      waiting: streams.reduce((total, { stream }) => total + stream.queue, 0),
      latest: streams
        .flatMap(({ latest }) => latest ?? [])
        .toSorted((a, b) => b.updatedAt - a.updatedAt)[0],
    }))
    .toSorted((a, b) => b.streams.length - a.streams.length || b.waiting - a.waiting);
}

function causeOf({ stream, latest }: FleetStream): string {
  const receiver = receiverOf(stream);
  if (latest === undefined || latest.error === null) return `${receiver} fails`;
  return latest.status === null
    ? `no response from ${receiver}`
    : `${latest.status} from ${receiver}`;
}

function startOf(streams: readonly FleetStream[]): number | null {
  const starts = streams.flatMap(({ stream }) => stream.failingSince ?? []);
  return starts.length === 0 ? null : Math.min(...starts);
}
