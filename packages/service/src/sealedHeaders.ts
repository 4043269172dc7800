/**
 * A stream's own headers carry tokens of its receiver: in the ledger their values are sealed. Whoever
 * holds the store that is made here writes and reads them as they are.
 */
import { randomUUID } from 'node:crypto';
import type { Store, StreamDraft, StreamRecord } from './store/store.ts';
import type { Vault } from './vault.ts';

type Headers = Record<string, string>;

/** Opened ones that are held, so that a delivery costs no decryption. */
const MOST_OPENED = 10_000;
const STREAMS_PER_PAGE = 100;

const purposeOf = (streamId: string): string => `headers of stream ${streamId}`;

const mapValues = (headers: Headers, change: (value: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]));

export function sealHeaders(store: Store, vault: Vault): Store {
  const opened = new Map<string, string>();
  const seal = (streamId: string, headers: Headers): Headers =>
    mapValues(headers, (value) => vault.seal(value, purposeOf(streamId)));
  const open = (streamId: string, headers: Headers): Headers =>
    mapValues(headers, (sealed) => {
      const place = `${streamId} ${sealed}`;
      let value = opened.get(place);
      if (value === undefined) {
        value = vault.open(sealed, purposeOf(streamId));
        if (opened.size >= MOST_OPENED) opened.clear();
        opened.set(place, value);
      }
      return value;
    });
  const openStream = <Stream extends StreamRecord>(stream: Stream): Stream => ({
    ...stream,
    headers: open(stream.id, stream.headers),
  });
  const openFound = async (found: Promise<StreamRecord | undefined>) => {
    const stream = await found;
    return stream && openStream(stream);
  };

  return {
    ...store,
    readStream: (id) => openFound(store.readStream(id)),
    async listStreams(listing) {
      const page = await store.listStreams(listing);
      return { ...page, rows: page.rows.map(openStream) };
    },
    async createStream<Draft extends StreamDraft>(
      draft: Draft,
      { id = randomUUID(), ...given }: Parameters<Store['createStream']>[1] = {},
    ) {
      const sealed = { ...draft, headers: seal(id, draft.headers) };
      return openStream(await store.createStream<Draft>(sealed, { ...given, id }));
    },
    updateStream: (id, patch) =>
      openFound(
        store.updateStream(
          id,
          patch.headers === undefined ? patch : { ...patch, headers: seal(id, patch.headers) },
        ),
      ),
    setStreamStatus: (...change) => openFound(store.setStreamStatus(...change)),
    deleteStream: (id) => openFound(store.deleteStream(id)),
    failStream: (...change) => openFound(store.failStream(...change)),
    recoverStream: (id) => openFound(store.recoverStream(id)),
    terminateStreams: async (afterMs) => (await store.terminateStreams(afterMs)).map(openStream),
    async claimDeliveries(claim) {
      const claimed = await store.claimDeliveries(claim);
      return claimed.map((each) => ({ ...each, headers: open(each.streamId, each.headers) }));
    },
    async claimSuspect(claim) {
      const claimed = await store.claimSuspect(claim);
      return claimed && { ...claimed, headers: open(claimed.streamId, claimed.headers) };
    },
  };
}

/**
 * Seals anew what an older master key sealed, and answers with how many streams that were.
 * @param store with the headers as they lie there.
 * @throws VaultError when something was sealed with a key that is not here.
 */
export async function resealHeaders(store: Store, vault: Vault): Promise<number> {
  let count = 0;
  let after: { at: number; id: string } | undefined;
  do {
    const page = await store.listStreams({ limit: STREAMS_PER_PAGE, after });
    for (const { id, headers } of page.rows) {
      if (!Object.values(headers).some((sealed) => vault.isOld(sealed))) continue;
      const again = mapValues(headers, (sealed) =>
        vault.seal(vault.open(sealed, purposeOf(id)), purposeOf(id)),
      );
      await store.updateStream(id, { headers: again });
      count++;
    }
    after = page.next;
  } while (after !== undefined);
  return count;
}
