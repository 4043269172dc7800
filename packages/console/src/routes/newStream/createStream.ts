/** Builds the first draft of the form, and creates the stream of a draft. */
import type { ChainHealth } from '@sluice/kit/sluice';
import { parseAddressList } from '@sluice/kit/contract';
import { client } from '../../data/client.ts';
import { sluice } from '../../data/queries/service.ts';
import { NEW_DRAFT, withEvents, withRule, type StreamDraft } from '../streamForm/draft/draft.ts';
import { toAptosFields, toEvmFields } from '../streamForm/draft/fields.ts';
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
    return { ...draft, family: one?.family ?? 'evm', addresses: one?.address ?? address };
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
  if (recognize(event)?.kind === 'move-path') {
    return { ...draft, family: 'aptos', allAddresses: true, functions: event };
  }
  const { parseEvents } = await import('../streamForm/draft/abiText.ts');
  const { items, signatures, problems } = parseEvents(event);
  // If any event in the link is invalid, all of them are ignored.
  if (problems.length > 0) return draft;
  return signatures.reduce(withRule, withEvents({ ...draft, allAddresses: true }, items));
}

/** Local chains, which the demo prefers because other chains have many transfers. */
const LOCAL_CHAINS = ['0x7a69', 'aptos:local'];

/**
 * Returns the draft of a stream that sends every token transfer to the inbox or, on Aptos, every
 * call to `aptos_account::transfer`; null if there are no chains.
 */
export function demoDraft(chains: readonly Pick<ChainHealth, 'id'>[]): StreamDraft | null {
  const chain = chains.find(({ id }) => LOCAL_CHAINS.includes(id)) ?? chains[0];
  if (chain === undefined) return null;
  const draft: StreamDraft = {
    ...NEW_DRAFT,
    allAddresses: true,
    webhookUrl: DEFAULT_INBOX_URL,
    tag: 'demo',
    description: 'All transfers, for a first look',
  };
  return chain.id.startsWith('aptos:')
    ? {
        ...draft,
        family: 'aptos',
        chains: [chain.id.slice('aptos:'.length)],
        functions: '0x1::aptos_account::transfer',
      }
    : withRule({ ...draft, chains: [chain.id] }, 'Transfer(address,address,uint256)');
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
 * @returns the id of the new stream.
 * @throws AddressesFailed if the stream was created, but its addresses could not be added.
 */
export async function createStream(draft: StreamDraft): Promise<string> {
  const { id } =
    draft.family === 'evm'
      ? await client.streams.create(toEvmFields(draft))
      : await client.streams.create({ ...toAptosFields(draft), networkType: 'aptos' });
  const { rows } = parseAddressList(draft.addresses, draft.family);
  if (rows.length > 0 && !draft.allAddresses) {
    try {
      await sluice.importAddresses({ streamId: id, family: draft.family, addresses: rows });
    } catch (error) {
      throw new AddressesFailed(id, error);
    }
  }
  return id;
}
