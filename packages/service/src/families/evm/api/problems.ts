import { takesCalls } from '../match/callSelection.ts';
import { takesReads } from '../match/reads.ts';
import { unreadEvents } from '../match/selection.ts';
import type { EvmStreamRecord } from '../../../store/streams/contract.ts';
import { flagOf } from '../../../config/settings.ts';
import type { ProblemNeeds } from '../../../api/family.ts';

/** Maximum number of events that are named; the rest are counted. */
const NAMED = 3;

/** Returns the problems of a stream's options. */
export function problemsOf(
  { id, chainIds, confirmations, options, childCount }: EvmStreamRecord,
  {
    hasSource,
    lacks,
    whyUnread,
    maxChildren,
  }: Pick<ProblemNeeds, 'hasSource' | 'lacks' | 'whyUnread' | 'maxChildren'>,
): string[] {
  const problems: string[] = [];
  const { allAddresses, includeContractLogs, includeNativeTxs, includeInternalTxs } = options;
  const hasCalls = takesCalls(options);
  // At every address, only logs and calls are matched. Their transactions are added.
  if (
    !includeContractLogs &&
    !hasCalls &&
    !takesReads(options) &&
    (allAddresses || (!includeNativeTxs && !includeInternalTxs))
  ) {
    problems.push(
      allAddresses
        ? 'Matches nothing: allAddresses requires includeContractLogs or functions'
        : 'Matches nothing: set includeContractLogs, includeNativeTxs, includeInternalTxs, functions or reads',
    );
  }
  const unread = unreadEvents(options);
  if (unread.length > 0) {
    const more = unread.length > NAMED ? ` and ${unread.length - NAMED} more` : '';
    problems.push(
      `The filter of ${unread.slice(0, NAMED).join(', ')}${more} matches nothing: add the event to abi`,
    );
  }
  if (childCount >= maxChildren) {
    problems.push(
      `Adds no further children of its factories: it has ${childCount.toLocaleString('en')}, the maximum. Raise ${flagOf('maxChildren')} or remove factories, then resume its searches for children`,
    );
  }
  for (const chain of takesReads(options) ? chainIds : []) {
    const why = whyUnread(chain, id);
    if (why !== undefined) problems.push(`A value on ${chain} can't be read: ${why}`);
  }
  const lacking = (what: ReturnType<typeof lacks>[number]): string[] =>
    chainIds.filter((chain) => lacks(chain).includes(what));
  const traced = [
    ...(includeInternalTxs ? ['internal transactions'] : []),
    ...(hasCalls && options.includeInternalCalls ? ['internal calls'] : []),
  ];
  const untraced = traced.length > 0 ? lacking('traces') : [];
  if (untraced.length > 0 && chainIds.every(hasSource)) {
    problems.push(
      `No ${traced.join(' and ')} on ${untraced.join(', ')}: add a node that supports debug_traceBlockByHash or trace_block`,
    );
  }
  if (confirmations === 'safe' || confirmations === 'finalized') {
    const chains = lacking(confirmations);
    if (chains.length > 0) {
      problems.push(
        `Confirms nothing on ${chains.join(', ')}: no node reports a ${confirmations} block. Set confirmations to a number of blocks, or add a node that reports one`,
      );
    }
  }
  return problems;
}
