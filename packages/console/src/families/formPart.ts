import type { AddressList } from '@sluice/kit/operator';
import type { ComponentType } from 'react';
import type { WatchedChain } from '../chains/timeline.ts';
import type { StreamDraft } from '../routes/streamForm/draft/draft.ts';
import type { PartProps } from '../routes/streamForm/partProps.ts';

export interface AddressHintsProps {
  draft: StreamDraft;
  chains: readonly WatchedChain[];
  /** The list in the address field. */
  list: AddressList;
  onChange: (draft: StreamDraft) => void;
}

/** The parts of the form that one chain family has. */
export interface FormParts {
  /** Edits which events or functions are sent. */
  readonly Selection: ComponentType<PartProps>;
  /** Edits which data is added to the records. */
  readonly Additions: ComponentType<PartProps>;
  /** Explains the entered addresses, and offers what fits them. */
  readonly AddressHints: ComponentType<AddressHintsProps>;
}
