/**
 * The URLs of nodes and alert receivers that were added while the service ran. They may contain API
 * keys, so the ledger stores them encrypted.
 */
import { randomUUID } from 'node:crypto';
import type { Log } from '../base/log.ts';
import { describeError } from '../base/log.ts';
import type { AddedUrl } from '../store/settings/contract.ts';
import type { Store } from '../store/store.ts';
import { watchSettings } from './settingsWatch.ts';
import type { Vault } from './vault.ts';

/** An added URL in plain text. */
export interface OpenUrl extends Omit<AddedUrl, 'sealed'> {
  url: string;
}

export interface AddedUrls {
  /** Returns all added URLs, oldest first. */
  read(): readonly OpenUrl[];
  /**
   * Stores and applies a URL. Returns `duplicate` if it was already added for this chain or as an
   * alert receiver, and `full` if there are too many added URLs.
   *
   * @param chain null for an alert receiver
   */
  add(chain: string | null, url: string): Promise<OpenUrl | 'duplicate' | 'full'>;
  /** Removes a URL, stops using it, and returns it; undefined if no URL of this kind has the id. */
  remove(kind: 'node' | 'alert', id: string): Promise<OpenUrl | undefined>;
  /**
   * Calls `listener` after URLs were added or removed in any process. Returns a function that
   * removes the listener.
   */
  onChange(listener: () => void): () => void;
  stop(): void;
}

/** Maximum number of added nodes of one chain, and of added alert receivers. */
const MAX_ADDED_URLS = 10;
/**
 * Maximum number of added URLs in total. It also limits the number of chains, each of which is
 * followed separately.
 */
const MAX_ALL_ADDED_URLS = 200;

const purposeOf = (id: string): string => `added url ${id}`;

/** Re-encrypts URLs that an older master key encrypted, and returns their number. */
export async function resealAddedUrls(
  store: Pick<Store, 'listAddedUrls' | 'resealUrl'>,
  vault: Vault,
): Promise<number> {
  const old = (await store.listAddedUrls()).filter(({ sealed }) => vault.isOld(sealed));
  for (const { id, sealed } of old) {
    const purpose = purposeOf(id);
    await store.resealUrl({ id, sealed: vault.seal(vault.open(sealed, purpose), purpose) });
  }
  return old.length;
}

export async function openAddedUrls(
  store: Pick<Store, 'listAddedUrls' | 'addUrl' | 'removeUrl' | 'signals'>,
  vault: Vault,
  log: Log,
): Promise<AddedUrls> {
  const listeners = new Set<() => void>();
  const open = ({ sealed, ...added }: AddedUrl): OpenUrl => ({
    ...added,
    url: vault.open(sealed, purposeOf(added.id)),
  });
  const readAll = async () => (await store.listAddedUrls()).map(open);

  let current: readonly OpenUrl[] = await readAll();
  let reads = 0;
  let latest = 0;
  const look = async (): Promise<void> => {
    const read = ++reads;
    const next = await readAll();
    // A read that began later was already applied.
    if (read < latest) return;
    latest = read;
    const isSame = next.map(({ id }) => id).join() === current.map(({ id }) => id).join();
    current = next;
    if (!isSame) for (const listener of listeners) listener();
  };
  // The last known URLs remain in use while the ledger is unreachable.
  const stop = watchSettings(store, look, (error) => {
    log.warn('failed to read the added URLs, retrying', { error: describeError(error) });
  });

  return {
    read: () => current,
    async add(chain, url) {
      const id = randomUUID();
      const sealed = vault.seal(url, purposeOf(id));
      for (;;) {
        const existing = await store.listAddedUrls();
        const own = existing.filter((each) => each.chain === chain);
        if (own.some((each) => open(each).url === url)) return 'duplicate';
        if (own.length >= MAX_ADDED_URLS || existing.length >= MAX_ALL_ADDED_URLS) return 'full';
        const ids = existing.map((each) => each.id);
        // Returns undefined after a concurrent change; the loop then checks again.
        const added = await store.addUrl({ id, chain, sealed }, ids);
        if (added === undefined) continue;
        await look();
        return open(added);
      }
    },
    async remove(kind, id) {
      await look();
      const found = current.find((each) => each.id === id);
      if (found === undefined || (found.chain === null) !== (kind === 'alert')) return undefined;
      const isRemoved = await store.removeUrl(id);
      await look();
      return isRemoved ? found : undefined;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop,
  };
}
