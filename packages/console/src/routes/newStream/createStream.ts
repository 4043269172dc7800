/** Builds the first draft of the form, and creates the stream of a draft. */
import type { ChainHealth } from '@sluice/kit/sluice';
import { familyOf, nameOfChain } from '@sluice/kit/contract';
import type { ListedAddress } from '@sluice/kit/operator';
import { CHAIN_PAGES } from '../../families/chains.ts';
import { DRAFT_FAMILIES } from '../../families/draftFamilies.ts';
import { client } from '../../data/client.ts';
import { sluice } from '../../data/queries/service.ts';
import { NEW_DRAFT, type StreamDraft } from '../streamForm/draft/draft.ts';
import { toFields } from '../streamForm/draft/fields.ts';
import { DEFAULT_INBOX_URL } from '../../data/inboxes.ts';
import { recognize, toAddress } from '../../words/paste.ts';
import type { NewStreamSearch } from '../../data/search.ts';

/**
 * Returns a draft with the addresses of a link. The draft sends to the built-in inbox, so that the
 * user needs no receiver.
 */
export function draftFrom({ address }: Pick<NewStreamSearch, 'address'>): StreamDraft {
  const draft: StreamDraft = {
    ...NEW_DRAFT,
    webhookUrl: DEFAULT_INBOX_URL,
    tag: `stream-${Math.random().toString(36).slice(2, 6)}`,
  };
  if (address !== undefined) {
    const one = toAddress(recognize(address));
    return { ...draft, family: one?.family ?? draft.family, addresses: one?.address ?? address };
  }
  return draft;
}

/**
 * Returns a draft with the addresses in a link or, if the link has none, with its events
 * (signatures or an ABI) or its function (a Move path).
 */
export async function draftOfLink({ event, ...search }: NewStreamSearch): Promise<StreamDraft> {
  const draft = draftFrom(search);
  if (event === undefined || search.address !== undefined) return draft;
  const pasted = recognize(event);
  const family = pasted?.kind === 'event' ? pasted.family : draft.family;
  return DRAFT_FAMILIES[family].withEvents({ ...draft, family }, event);
}

/** Local chains, which the demo prefers because other chains have many transfers. */
const LOCAL_CHAINS: readonly string[] = Object.values(CHAIN_PAGES).map(({ local }) => local);

/**
 * Returns the draft of a stream that sends every transfer to the inbox; null if there are no chains.
 */
export function demoDraft(chains: readonly Pick<ChainHealth, 'id'>[]): StreamDraft | null {
  const chain = chains.find(({ id }) => LOCAL_CHAINS.includes(id)) ?? chains[0];
  if (chain === undefined) return null;
  const family = familyOf(chain.id);
  return DRAFT_FAMILIES[family].withDemo({
    ...NEW_DRAFT,
    family,
    chains: [nameOfChain(chain.id)],
    allAddresses: true,
    webhookUrl: DEFAULT_INBOX_URL,
    tag: 'demo',
    description: 'All transfers, for a first look',
  });
}

/** Error for a stream that was created without its addresses, because adding them failed. */
export class AddressesFailed extends Error {
  readonly streamId: string;

  constructor(streamId: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.streamId = streamId;
  }
}

/**
 * @param rows addresses that the stream watches
 * @param onProgress called with the number of addresses that were added
 * @returns the id of the new stream.
 * @throws AddressesFailed if the stream was created, but its addresses could not be added.
 */
export async function createStream(
  draft: StreamDraft,
  rows: readonly ListedAddress[] = [],
  onProgress: (done: number) => void = () => {},
): Promise<string> {
  const { id } = await client.streams.create({ ...toFields(draft), networkType: draft.family });
  if (rows.length > 0 && !draft.allAddresses) {
    try {
      const { family } = draft;
      await sluice.importAddresses({ streamId: id, family, addresses: rows, onProgress });
    } catch (error) {
      throw new AddressesFailed(id, error);
    }
  }
  return id;
}
