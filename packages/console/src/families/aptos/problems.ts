/** Validates the part of a draft that only Aptos streams have. */
import type { DraftProblems } from '../../routes/streamForm/draft/draftField.ts';
import { problemsOfLines } from '../../routes/streamForm/draft/lineProblems.ts';
import type { LineProblem } from '../../ui/form/lineProblem.ts';
import { formatQuantity } from '../../ui/text/format.ts';
import type { StreamDraft } from '../../routes/streamForm/draft/draft.ts';

const MOVE_PATH = /^0x[0-9a-fA-F]{1,64}(::\w+){2}(<.+>)?$/;

export const movePathProblems = (text: string): LineProblem[] =>
  problemsOfLines(text, (path) => (MOVE_PATH.test(path) ? undefined : wordsForPath(path)));

function wordsForPath(path: string): string {
  const parts = path.split('<', 1)[0]!.split('::');
  if (!/^0x[0-9a-f]{1,64}$/i.test(parts[0] ?? '')) {
    return `“${path}” does not start with an address such as 0x1. Use address::module::name.`;
  }
  if (parts.length !== 3) {
    return `“${path}” has ${formatQuantity(parts.length, 'part')} instead of three: address::module::name.`;
  }
  return `“${path}” is not a Move path such as 0x1::coin::WithdrawEvent.`;
}

export function findAptosProblems(draft: StreamDraft): DraftProblems {
  const problems: DraftProblems = {};
  for (const field of ['functions', 'moveEvents'] as const) {
    const [bad] = movePathProblems(draft[field]);
    if (bad !== undefined) problems[field] = bad.message;
  }
  if (draft.allAddresses && draft.functions.trim() === '' && draft.moveEvents.trim() === '') {
    problems.functions =
      'Add a function or an event. Otherwise, the stream would match the entire chain.';
  }
  return problems;
}
