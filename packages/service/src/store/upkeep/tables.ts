/** Tables of settings, leases and alerts. */

export interface UpkeepTables {
  setting: { key: string; value: string };
  lease: LeaseTable;
  reader: ReaderTable;
  alert: AlertTable;
}

/** A lease on a task that one process at a time performs. */
interface LeaseTable {
  /** Name of the lease: the id of the chain that is read. */
  name: string;
  /** The process that took it last. */
  holder: string;
  /** Raised each time the lease is taken, so that writes of an earlier holder are rejected. */
  epoch: number;
  until: number;
  /** JSON of the holder's last report about the chain. */
  report: string | null;
}

/** A process that reads chains. */
interface ReaderTable {
  id: string;
  /** JSON of the ids of the chains that it can read. */
  chains: string;
  joined_at: number;
  until: number;
}

/** Like `AlertRow`. */
interface AlertTable {
  subject: string;
  state: string;
  reported: string;
  id: string;
  body: string | null;
  attempts: number;
  run_at: number;
  sent_at: number | null;
}
