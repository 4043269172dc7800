/** Sums up the state of all streams and chains, and chooses the incidents to show. */
import type { Incident } from '@sluice/kit/sluice';
import type { FleetStream } from '../../data/fleet.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import type { Condition } from '../../ui/status.tsx';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { chainCondition, isChainDown } from '../../words/condition.ts';

const DAY_MS = 24 * 3_600_000;

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

/** The incidents to show: open ones first, then those that ended in the last 24 hours. */
export function recentIncidents(incidents: readonly Incident[], now: number): Incident[] {
  return incidents
    .filter(({ endedAt }) => endedAt === null || endedAt > now - DAY_MS)
    .toSorted((a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null));
}

/** Describes how many incidents there are, such as `2 incidents` or `1 incident, 3 ended`. */
export function describeIncidents(shown: readonly Incident[]): string {
  const open = shown.filter(({ endedAt }) => endedAt === null).length;
  const ended = shown.length - open;
  if (open === 0) return `${formatQuantity(ended, 'incident')} ended`;
  return `${formatQuantity(open, 'incident')}${ended > 0 ? `, ${formatCount(ended)} ended` : ''}`;
}
