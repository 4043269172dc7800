import type { IncidentKind } from '@sluice/kit/contract';

export interface UpkeepTables {
  setting: { key: string; value: string };
  lease: LeaseTable;
  reader: ReaderTable;
  alert: AlertTable;
  incident: IncidentTable;
  added_url: AddedUrlTable;
}

/** A stored `AddedUrl`. */
interface AddedUrlTable {
  id: string;
  chain: string | null;
  sealed: string;
  created_at: number;
}

/** A lease on a task that only one process performs at a time. */
interface LeaseTable {
  /** Name of the lease: the id of the chain that is read, `housekeeping`, `incidents` or `alerts`. */
  name: string;
  /** The process that last took the lease. */
  holder: string;
  /** Increases each time the lease is taken, so that writes of former holders are rejected. */
  epoch: number;
  until: number;
  /** JSON of the last report about the chain; null if there is none. */
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

/** A stored `AlertRow`. */
interface AlertTable {
  receiver: string;
  subject: string;
  state: string;
  reported: string;
  id: string;
  body: string | null;
  attempts: number;
  run_at: number;
  sent_at: number | null;
}

/** A stored `Incident`. */
interface IncidentTable {
  id: string;
  /** The subject of an open incident is unique. */
  subject: string;
  kind: IncidentKind;
  cause: string;
  reason: string;
  chain: string | null;
  /** JSON of the ids of the first lanes. */
  lanes: string;
  lane_count: number;
  delivery_id: string | null;
  started_at: number;
  ended_at: number | null;
}
