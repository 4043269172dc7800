/** Describes what an EVM stream sends. */
import { ANY_FUNCTION } from '@sluice/kit/contract';
import type { SentWords } from '../sentWords.ts';
import { linesOf } from '../../routes/streamForm/draft/draft.ts';
import { describeRule, nameOfRule } from '../../routes/streamForm/draft/ruleWords.ts';
import { formatQuantity } from '../../ui/text/format.ts';
import { formatList } from '../../ui/text/list.ts';
import {
  type EvmDraft,
  type FilterRule,
  type Inputs,
  inputsOfCall,
  inputsOfEvent,
  selectsFunctions,
} from './draft.ts';
import { describeRead } from './readWords.ts';
import { toRead } from './routes/reads.ts';

export const describeEvmSent: SentWords = (draft, known) => {
  const describeFilters = (rules: readonly FilterRule[], inputsOf: (text: string) => Inputs) =>
    rules.flatMap((rule) =>
      rule.conditions.length === 0 && rule.filterJson === null
        ? []
        : [`${nameOfRule(rule.signature)} ${describeRule(rule, inputsOf(rule.signature), known)}`],
    );
  const events = describeFilters(draft.rules, (text) => inputsOfEvent(draft.abi, text));
  const calls = describeFilters(draft.callRules, (text) => inputsOfCall(draft.abi, text));
  const filters = [...events, ...calls];
  return {
    records: [
      ...namesOfEvents(draft),
      ...namesOfCalls(draft),
      ...(draft.includeNativeTxs ? ['transactions'] : []),
      ...(draft.includeInternalTxs ? ['internal transactions'] : []),
    ],
    filters,
    values: draft.reads.map((read) => `the ${describeRead(toRead(read, draft.abi))}`),
    additionally:
      draft.factories.length === 0
        ? []
        : [`the children of ${formatQuantity(draft.factories.length, 'factory', 'factories')}`],
  };
};

function namesOfEvents({
  rules,
  includeContractLogs,
}: Pick<EvmDraft, 'rules'> & { includeContractLogs: boolean }): string[] {
  if (!includeContractLogs) return [];
  if (rules.length === 0) return ['all events'];
  const names = new Set(rules.map(({ signature }) => nameOfRule(signature)));
  return [`${formatList([...names])} events`];
}

function namesOfCalls(
  draft: Pick<EvmDraft, 'calledFunctions' | 'callRules'> & { transactionStatus: string },
): string[] {
  if (!selectsFunctions(draft)) return [];
  const listed = [
    ...linesOf(draft.calledFunctions),
    ...draft.callRules.map(({ signature }) => signature),
  ];
  const which = draft.transactionStatus === 'failed' ? 'failed calls' : 'calls';
  if (listed.includes(ANY_FUNCTION))
    return [draft.transactionStatus === 'failed' ? which : 'all calls'];
  return [`${which} of ${formatList([...new Set(listed.map(nameOfRule))])}`];
}
