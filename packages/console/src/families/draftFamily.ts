import type { AnyStream } from '../data/queries/streams.ts';
import type { DraftProblems } from '../routes/streamForm/draft/draftField.ts';
import type { StreamDraft } from '../routes/streamForm/draft/draft.ts';
import type { Example } from '../routes/streamForm/draft/example.ts';

/** How the drafts of one chain family are read, checked and sent. */
export interface DraftFamily {
  /** Returns the API fields that only this family has. */
  toFields(draft: StreamDraft): object;
  /** Returns the part of the draft of an existing stream that only this family has. */
  toDraft(stream: AnyStream): Partial<StreamDraft>;
  findProblems(draft: StreamDraft): DraftProblems;
  /** Returns whether a draft selects anything, as required for all addresses. */
  selects(draft: StreamDraft): boolean;
  /** Returns whether a draft that does not watch all addresses needs some. */
  needsAddresses(draft: StreamDraft): boolean;
  /**
   * Returns the draft without incomplete or invalid conditions, factories and values on chain.
   */
  withoutBroken(draft: StreamDraft): StreamDraft;
  /** Returns what affects how observed events are counted, other than addresses. */
  countsApart(draft: StreamDraft): readonly string[];
  /** Number of times that each match is sent. */
  timesSent(draft: StreamDraft): 1 | 2;
  /** Whether streams watch contracts, which the service can describe. */
  readonly hasContracts: boolean;
  /** Whether the API can duplicate streams with their addresses. */
  readonly canDuplicate: boolean;
  /** Returns the draft with what the text of a link selects: events, an ABI or a path. */
  withEvents(draft: StreamDraft, text: string): Promise<StreamDraft>;
  /** Returns the draft with what a stream of an account sends, unless it already has rules. */
  withAccount(draft: StreamDraft): StreamDraft;
  /** Returns the draft of the demo stream on a chain. */
  withDemo(draft: StreamDraft): StreamDraft;
  /** Returns an example of what to watch on a chain; null if there is none. */
  findExample(chain: string): Example | null;
}
