/** Lists the watched addresses of a match, and the rules that selected their records, for `matched`. */
import type { WebhookMatched, WebhookRule } from '@sluice/kit/contract';
import type { EvmInternalTransaction, EvmLog, EvmTransaction } from './block.ts';
import { type Match, involves } from './match.ts';
import { type WatchedAddresses, triggersOfLog, watchedParties } from './triggeredBy.ts';

const NATIVE_TXS: WebhookRule = { field: 'includeNativeTxs', index: null };
const INTERNAL_TXS: WebhookRule = { field: 'includeInternalTxs', index: null };
const ALL_TX_LOGS: WebhookRule = { field: 'includeAllTxLogs', index: null };

/**
 * Returns an entry for each watched address, without its label. Null stands for the address of
 * records without a watched address, so that each record has at least one entry.
 *
 * @param spam contracts whose records are possible spam
 */
export function toMatched(
  chain: string,
  { stream, logs, transactions, internalTransactions, calls, watched }: Match,
  spam: ReadonlySet<string>,
): WebhookMatched[] {
  const { selection } = stream;
  const { options } = stream.record;
  const found = new Map<string | null, Set<WebhookRule>>();
  const add = (addresses: readonly string[] | null, rules: readonly WebhookRule[]): void => {
    for (const address of addresses ?? [null]) {
      const known = found.get(address) ?? new Set();
      for (const rule of rules) known.add(rule);
      found.set(address, known);
    }
  };
  const partiesOf = (record: EvmTransaction | EvmInternalTransaction): string[] | null =>
    watchedParties(record, watched);

  const rulesOfLog = (log: EvmLog): readonly WebhookRule[] =>
    selection.rulesOf(log, { chain, possibleSpam: spam.has(log.address) });
  const isIncluding = ({ index }: WebhookRule): boolean =>
    options.advancedOptions?.[index ?? -1]?.includeNativeTxs === true;

  for (const log of logs) {
    add(
      triggersOfLog(chain, log, watched),
      watched.selected.has(log) ? rulesOfLog(log) : [ALL_TX_LOGS],
    );
  }
  for (const transaction of transactions) {
    const parties = partiesOf(transaction);
    // The other logs that include the transaction are records of the match, too.
    const [log] = watched.includingLogs.get(transaction.transactionIndex) ?? [];
    const rules = log === undefined ? [] : rulesOfLog(log).filter(isIncluding);
    if (options.includeNativeTxs && (parties !== null || options.allAddresses)) {
      add(parties, [NATIVE_TXS]);
    } else if (parties !== null) {
      add(parties, rules);
    }
    if (log !== undefined) add(triggersOfLog(chain, log, watched), rules);
  }
  for (const internal of internalTransactions) add(partiesOf(internal), [INTERNAL_TXS]);
  for (const call of calls) {
    const context = { chain, possibleSpam: involves(spam, call) };
    add(options.allAddresses ? null : [call.to], selection.calls?.rulesOf(call, context) ?? []);
  }

  return [...found].map(([address, rules]) => ({
    address,
    label: null,
    factory: factoryOf(address, stream, watched),
    rules: [...rules],
  }));
}

/** Returns the position of the factory that created the address; null if none did. */
function factoryOf(
  address: string | null,
  { selection: { factories } }: Match['stream'],
  { creators }: WatchedAddresses,
): number | null {
  const key = address === null ? undefined : creators.get(address);
  return key === undefined ? null : factories.findIndex((factory) => factory.key === key);
}
