/** Builds the `sluice replay` command for a bulk replay. */
import type { CreateReplay } from '@sluice/kit/sluice';
import { listOf } from '../../words/filterWords.ts';
import { quoteShell } from '@sluice/kit/contract';

const toFlag = (name: string, values: readonly string[]): string[] =>
  values.length === 0 ? [] : [`--${name} ${values.map(quoteShell).join(' ')}`];

function toRangeFlag(name: string, from: number | undefined, to: number | undefined): string[] {
  if (from === undefined && to === undefined) return [];
  return [`--${name} ${from === to ? from : `${from ?? ''}..${to ?? ''}`}`];
}

const toTimeFlag = (name: string, ms: number | undefined): string[] =>
  ms === undefined ? [] : [`--${name} ${new Date(ms).toISOString()}`];

export function toSelectionCommand({ name, filter, perSecond }: CreateReplay): string {
  const { error, reorged, replayId, transactionHash, receiver } = filter;
  const flags = [
    ...toFlag('state', listOf(filter.state)),
    ...toFlag('stream', listOf(filter.streamId)),
    ...(filter.destination === undefined ? [] : [`--destination ${filter.destination}`]),
    ...(receiver === undefined ? [] : toFlag('receiver', [receiver])),
    ...toFlag('chain', listOf(filter.chainId)),
    ...toFlag('phase', listOf(filter.phase)),
    ...toFlag('status', listOf(filter.status)),
    ...(error === undefined ? [] : toFlag('error', [error])),
    ...toRangeFlag('attempts', filter.attemptsFrom, filter.attemptsTo),
    ...(reorged === undefined ? [] : [reorged ? '--reorged' : '--no-reorged']),
    ...(transactionHash === undefined ? [] : toFlag('transaction', [transactionHash])),
    ...toTimeFlag('since', filter.createdFrom),
    ...toTimeFlag('until', filter.createdTo),
    ...toRangeFlag('blocks', filter.blockFrom, filter.blockTo),
    ...(replayId === undefined ? [] : toFlag('replay', [replayId])),
  ];
  return [
    'sluice replay',
    ...listOf(filter.id),
    ...flags,
    // Deliveries that are selected only by id are sent directly, without a named replay.
    ...(flags.length === 0
      ? []
      : [...toFlag('name', [name]), ...(perSecond === undefined ? [] : [`--rate ${perSecond}/s`])]),
  ].join(' ');
}
