import type { StreamDraft } from './draft/draft.ts';
import type { DraftProblems } from './draft/draftField.ts';
import type { Refusals } from './draft/refusals.ts';

export interface PartProps {
  draft: StreamDraft;
  problems: DraftProblems;
  /** Validation errors from the service's last response. */
  refusals: Refusals;
  onChange: (draft: StreamDraft) => void;
}
