/** The EVM streams there are, and what of a block they need. */
import type { EvmStreamRecord, StreamOptions } from '../../store/streams/contract.ts';
import type { BlockNeeds } from './block.ts';
import { FilterError } from './filter.ts';
import { type Indexed, type RuleIndex, createRuleIndex } from '../ruleIndex.ts';
import { type Selection, createSelection } from './selection.ts';

/** A stream with its rules compiled once. */
export type CompiledStream = Indexed<'evm', Selection>;

export interface StreamIndex extends RuleIndex<'evm', Selection> {
  needs(chain: string): BlockNeeds;
}

export function createStreamIndex(): StreamIndex {
  const index = createRuleIndex<'evm', Selection>({
    family: 'evm',
    addressBytes: 20,
    compile,
  });
  return Object.assign(index, {
    needs(chain: string): BlockNeeds {
      const needs = { logs: false, transactions: false, traces: false };
      for (const { options } of index.matching(chain)) {
        if (options.includeContractLogs || options.includeAllTxLogs) needs.logs = true;
        if (takesTransactions(options)) needs.transactions = true;
        if (options.includeInternalTxs) needs.traces = true;
      }
      return needs;
    },
  });
}

const takesTransactions = ({ includeNativeTxs, advancedOptions }: StreamOptions): boolean =>
  includeNativeTxs || (advancedOptions ?? []).some((option) => option.includeNativeTxs);

/** Options are checked when they are saved; should some still not compile, only that stream is silent. */
function compile({ options }: Pick<EvmStreamRecord, 'options'>): Selection {
  try {
    return createSelection(options);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return {
      comparisons: 0,
      take: () => 'no',
      missOf: () => undefined,
      names: () => false,
      signatureOf: () => undefined,
      inputOf: () => undefined,
    };
  }
}
