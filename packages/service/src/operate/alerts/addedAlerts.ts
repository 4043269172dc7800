/** Sends alerts to the receivers that were added while the service ran, each on its own schedule. */
import { type Log, describeError } from '../../base/log.ts';
import type { AddedUrls, OpenUrl } from '../../secrets/addedUrls.ts';
import type { Store } from '../../store/store.ts';
import type { LeaseTerm } from '../duty.ts';

/** Returns the added alert receivers, oldest first. */
export const listReceivers = (addedUrls: Pick<AddedUrls, 'read'>): OpenUrl[] =>
  addedUrls.read().filter(({ chain }) => chain === null);

export function startAddedAlerts({
  addedUrls,
  store,
  log,
  notify,
}: {
  addedUrls: Pick<AddedUrls, 'read' | 'onChange'>;
  store: Pick<Store, 'listAlerts' | 'deleteAlert'>;
  log: Log;
  /** Starts sending alerts to this receiver. */
  notify(receiver: OpenUrl): LeaseTerm;
}): LeaseTerm {
  const notifiers = new Map<string, LeaseTerm>();
  let following = Promise.resolve();

  const end = async (receiver: string, notifier: LeaseTerm): Promise<void> => {
    await notifier.stop();
    // The notifier may have saved an alert after its receiver was removed.
    for (const alert of await store.listAlerts(receiver)) await store.deleteAlert(alert);
  };
  const follow = async (): Promise<void> => {
    const receivers = new Map(listReceivers(addedUrls).map((each) => [each.id, each]));
    const ended = [...notifiers].filter(([id]) => !receivers.has(id));
    for (const [id] of ended) notifiers.delete(id);
    for (const [id, receiver] of receivers) {
      if (!notifiers.has(id)) notifiers.set(id, notify(receiver));
    }
    await Promise.all(ended.map(([id, notifier]) => end(id, notifier)));
  };
  const look = (): void => {
    following = following.then(follow).catch((error: unknown) => {
      log.warn('failed to clean up after an alert receiver', { error: describeError(error) });
    });
  };
  const forget = addedUrls.onChange(look);
  look();

  return {
    report: () => null,
    async stop() {
      forget();
      await following;
      await Promise.all([...notifiers.values()].map((notifier) => notifier.stop()));
    },
  };
}
