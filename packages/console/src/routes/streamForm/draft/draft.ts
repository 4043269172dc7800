/** Defines the draft of a stream: the contents of the stream's form. */
import { type FamilyDraft, NEW_FAMILY_DRAFT } from '../../../families/draft.ts';
import type { OAuth2Draft } from '../oauth2/oauth2Draft.ts';
import { NEW_PLAIN, type PlainDraft } from './plainFields.ts';

export interface StreamDraft extends PlainDraft, FamilyDraft {
  /** Chains, as fields of streams name them. */
  chains: string[];
  /** Text of the address field; only used for new streams. */
  addresses: string;
  webhookUrl: string;
  tag: string;
  description: string;
  /** Headers as `name: value`, one per line. */
  headers: string;
  oauth2: OAuth2Draft | null;
  /** Retries as typed, such as `short` or `30s, 5m`. */
  retries: string;
}

export const NEW_DRAFT: StreamDraft = {
  ...NEW_PLAIN,
  ...NEW_FAMILY_DRAFT,
  chains: [],
  addresses: '',
  includeContractLogs: true,
  includeEvents: true,
  webhookUrl: '',
  tag: '',
  description: '',
  headers: '',
  oauth2: null,
  retries: 'standard',
};

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
