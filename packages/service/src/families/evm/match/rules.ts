/** Compiles and validates what a stream selects: logs by their events, and calls by their functions. */
import type { StreamOptions } from '../../../store/streams/contract.ts';
import { type CallOptions, type CallSelection, createCallSelection } from './callSelection.ts';
import { type Factory, compileFactories } from './factories.ts';
import { FilterError } from './filter.ts';
import { type Selection, createSelection } from './selection.ts';

export interface Rules extends Selection {
  /** Undefined if the stream does not need calls. */
  readonly calls: CallSelection | undefined;
  readonly factories: readonly Factory[];
}

type RuleOptions = CallOptions & Pick<StreamOptions, 'topic0' | 'factories'>;

const createRules = (options: RuleOptions): Rules => ({
  ...createSelection(options),
  calls: createCallSelection(options),
  factories: compileFactories(options),
});

/**
 * Compiles a stream's options, which are validated on save. If they fail to compile, no record
 * matches the stream, and other streams are not affected.
 */
export function compileRules(options: RuleOptions): Rules {
  try {
    return createRules(options);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return {
      comparisons: 0,
      topics: [],
      mostIndexed: 0,
      take: () => 'no',
      rulesOf: () => [],
      missOf: () => undefined,
      names: () => false,
      signatureOf: () => undefined,
      inputOf: () => undefined,
      calls: undefined,
      factories: [],
    };
  }
}

/**
 * Maximum number of comparisons in all filters of a stream, which may be evaluated for every log
 * and call of its addresses.
 */
const MAX_COMPARISONS = 1_000;

/** Validates a stream's filters. Returns the problems with their paths; empty if there are none. */
export function checkRules(options: RuleOptions): Pick<FilterError, 'path' | 'message'>[] {
  try {
    const { comparisons, calls } = createRules(options);
    if (comparisons + (calls?.comparisons ?? 0) <= MAX_COMPARISONS) return [];
    const message = `should have at most ${MAX_COMPARISONS} comparisons in all: put values into one in or nin`;
    return [{ path: ['advancedOptions'], message }];
  } catch (error) {
    if (error instanceof FilterError) return [error];
    throw error;
  }
}
