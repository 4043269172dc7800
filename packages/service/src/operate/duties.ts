/**
 * Creates the tasks for housekeeping, incidents and alerts, each of which runs in one process at a
 * time.
 */
import type { Log } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import type { ClientCertificate } from '../deliver/destinations/http/clientCertificate.ts';
import type { Senders } from '../deliver/send/senders.ts';
import type { AddedUrls } from '../secrets/addedUrls.ts';
import type { Store } from '../store/store.ts';
import type { ChainReport } from '../store/leases/contract.ts';
import { listReceivers, startAddedAlerts } from './alerts/addedAlerts.ts';
import { startNotifier } from './alerts/alerts.ts';
import type { DiskWatch } from './disk.ts';
import { type Duty, createDuty } from './duty.ts';
import type { LeaseHolder } from './holder.ts';
import { startHousekeeping } from './housekeeping.ts';
import { startIncidents } from './incidents.ts';
import type { InvariantCheck } from './invariants.ts';

export function createDuties(
  { notifyUrl, terminateAfter }: Pick<Config, 'notifyUrl' | 'terminateAfter'>,
  {
    store,
    holder,
    senders,
    addedUrls,
    reports,
    invariants,
    disk,
    clientCertificate,
    kept,
    log,
  }: {
    store: Store;
    holder: LeaseHolder;
    senders: Senders;
    addedUrls: AddedUrls;
    reports: { list(): ChainReport[] };
    invariants: InvariantCheck;
    disk: DiskWatch | undefined;
    clientCertificate: ClientCertificate | undefined;
    /** Retention of deliveries. */
    kept: { deliveredMs: number; undeliveredMs: number };
    log: Log;
  },
): Duty[] {
  const options = { ...kept, terminateAfterHours: terminateAfter };
  const sources = {
    store,
    chains: reports.list,
    deliveredMs: kept.deliveredMs,
    diskFilling: () => disk?.filling,
    certificateExpiring: () => clientCertificate?.expiring(),
  };
  const notify = (receiver: string, url: string) =>
    startNotifier({
      ...sources,
      receiver,
      url,
      log,
      sender: senders.createAlertSender(receiver !== ''),
    });

  const housekeeping = createDuty({
    name: 'housekeeping',
    holder,
    store,
    log,
    begin: () => startHousekeeping({ store, log, invariants, options }),
  });
  const incidents = createDuty({
    name: 'incidents',
    holder,
    store,
    log,
    begin: () => startIncidents({ sources, log }),
  });
  const addedAlerts = createDuty({
    name: 'added alerts',
    holder,
    store,
    log,
    isOwn: () => listReceivers(addedUrls).length > 0,
    begin: () =>
      startAddedAlerts({ addedUrls, store, log, notify: ({ id, url }) => notify(id, url) }),
  });
  addedUrls.onChange(addedAlerts.check);
  if (notifyUrl === undefined) return [housekeeping, incidents, addedAlerts];
  const alerts = createDuty({
    name: 'alerts',
    holder,
    store,
    log,
    begin: () => notify('', notifyUrl),
  });
  return [housekeeping, incidents, addedAlerts, alerts];
}
