/** Converts between drafts of Aptos streams and the fields of the API. */
import type { AptosNetwork, AptosStream, AptosStreamFields } from '@sluice/kit';
import { linesOf, type StreamDraft } from '../../routes/streamForm/draft/draft.ts';
import type { AptosDraft } from './draft.ts';

export const toAptosFields = (draft: StreamDraft): Partial<AptosStreamFields> => ({
  network: draft.chains as AptosNetwork[],
  functions: linesOf(draft.functions),
  events: linesOf(draft.moveEvents),
});

export const toAptosDraft = (stream: AptosStream): AptosDraft & Pick<StreamDraft, 'chains'> => ({
  chains: stream.network,
  functions: (stream.functions ?? []).join('\n'),
  moveEvents: (stream.events ?? []).join('\n'),
});
