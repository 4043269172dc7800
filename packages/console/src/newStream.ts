/** A form's first state, from what a link gives, and the calls that make the stream of it. */
import { parseAddressList } from './addressList.ts';
import { client } from './api.ts';
import { NEW_DRAFT, toAptosFields, toEvmFields, withRule, type StreamDraft } from './draft.ts';
import { DEFAULT_INBOX_URL } from './inboxes.ts';
import { recognise } from './paste.ts';
import type { NewStreamSearch } from './search.ts';
import { uploadAddresses } from './upload.ts';

/** Into the built-in inbox at first, so that no stream waits for a receiver. */
export function draftFrom({ address, event }: NewStreamSearch): StreamDraft {
  const draft: StreamDraft = {
    ...NEW_DRAFT,
    webhookUrl: DEFAULT_INBOX_URL,
    tag: `stream-${Math.random().toString(36).slice(2, 6)}`,
  };
  if (address !== undefined) {
    const kind = recognise(address)?.kind;
    const isAptos = kind === 'aptos-address' || kind === 'hash';
    return { ...draft, family: isAptos ? 'aptos' : 'evm', addresses: address };
  }
  if (event === undefined) return draft;
  return recognise(event)?.kind === 'move-path'
    ? { ...draft, family: 'aptos', allAddresses: true, functions: event }
    : withRule({ ...draft, allAddresses: true }, event);
}

/** Where only the addresses failed: the stream is there, and can be given them again. */
export class AddressesFailed extends Error {
  readonly streamId: string;

  constructor(streamId: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.streamId = streamId;
  }
}

/** @returns the id of the new stream. */
export async function createStream(draft: StreamDraft): Promise<string> {
  const { id } =
    draft.family === 'evm'
      ? await client.streams.create(toEvmFields(draft))
      : await client.streams.create({ ...toAptosFields(draft), networkType: 'aptos' });
  const { rows } = parseAddressList(draft.addresses, draft.family);
  if (rows.length > 0 && !draft.allAddresses) {
    try {
      await uploadAddresses({ streamId: id, family: draft.family, rows }, () => {});
    } catch (error) {
      throw new AddressesFailed(id, error);
    }
  }
  return id;
}
