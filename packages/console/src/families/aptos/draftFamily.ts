import type { AptosStream } from '@sluice/kit';
import type { DraftFamily } from '../draftFamily.ts';
import { toAptosDraft, toAptosFields } from './fields.ts';
import { findAptosProblems } from './problems.ts';
import { separatelyCountedPaths } from './routes/observedPaths.ts';

const TRANSFER = '0x1::aptos_account::transfer';

export const APTOS_DRAFTS: DraftFamily = {
  toFields: toAptosFields,
  toDraft: (stream) => toAptosDraft(stream as AptosStream),
  findProblems: findAptosProblems,
  selects: ({ functions, moveEvents }) => `${functions}${moveEvents}`.trim() !== '',
  needsAddresses: () => true,
  withoutBroken: (draft) => draft,
  countsApart: ({ moveEvents }) => separatelyCountedPaths(moveEvents),
  // Blocks are always final.
  timesSent: () => 1,
  hasContracts: false,
  canDuplicate: false,
  withEvents: async (draft, functions) => ({ ...draft, allAddresses: true, functions }),
  withAccount: (draft) => draft,
  withDemo: (draft) => ({ ...draft, functions: TRANSFER }),
  findExample: () => ({
    name: 'Payments',
    address: null,
    add: (draft) => ({ ...draft, allAddresses: true, functions: TRANSFER }),
  }),
};
