import type { Stream } from '@sluice/kit';
import { isConfirmedAtOnce, parseConfirmations } from '@sluice/kit/contract';
import type { DraftFamily } from '../draftFamily.ts';
import {
  inputsOfCall,
  inputsOfEvent,
  selectsFunctions,
  withEvents,
  withRule,
  withWalletEvents,
} from './draft.ts';
import { readProblems } from './routes/reads.ts';
import { validFactories } from './routes/factories.ts';
import { findEvmExample } from './examples.ts';
import { toEvmDraft, toEvmFields } from './fields.ts';
import { findEvmProblems, validConditions } from './problems.ts';

export const EVM_DRAFTS: DraftFamily = {
  toFields: toEvmFields,
  toDraft: (stream) => toEvmDraft(stream as Stream),
  findProblems: findEvmProblems,
  selects: (draft) => draft.rules.length > 0 || selectsFunctions(draft),
  needsAddresses: ({ factories, reads }) =>
    factories.length === 0 &&
    (reads.length === 0 || reads.some(({ source, of }) => source !== 'function' && of === '')),
  withoutBroken: (draft) => ({
    ...draft,
    factories: validFactories(draft),
    reads: draft.reads.filter((read) => Object.keys(readProblems(read, draft.abi)).length === 0),
    rules: draft.rules.map((rule) => ({
      ...rule,
      conditions: validConditions(rule, inputsOfEvent(draft.abi, rule.signature)),
    })),
    callRules: draft.callRules.map((rule) => ({
      ...rule,
      conditions: validConditions(rule, inputsOfCall(draft.abi, rule.signature)),
    })),
  }),
  countsApart: () => [],
  timesSent: ({ deliver, confirmations }) =>
    deliver === 'both' && !isConfirmedAtOnce(parseConfirmations(confirmations) ?? null) ? 2 : 1,
  hasContracts: true,
  canDuplicate: true,
  async withEvents(draft, text) {
    const { parseEvents } = await import('./routes/abiText.ts');
    const { items, signatures, problems } = parseEvents(text);
    // If any event in the link is invalid, all of them are ignored.
    return problems.length > 0
      ? draft
      : signatures.reduce(withRule, withEvents({ ...draft, allAddresses: true }, items));
  },
  withAccount: (draft) =>
    withWalletEvents(draft.includeNativeTxs ? draft : { ...draft, includeNativeTxs: true }),
  withDemo: (draft) => withRule(draft, 'Transfer(address,address,uint256)'),
  findExample: findEvmExample,
};
