/** Incidents: what stopped or stops webhooks, from its start to its end. */
import type { IncidentKind } from '@sluice/kit/contract';

/** An incident in the ledger. */
export interface IncidentRow {
  id: string;
  /**
   * Subject with the problem: `receiver <name>`, or the subject of an alert. Only one incident of a
   * subject is open.
   */
  subject: string;
  kind: IncidentKind;
  /** Such as `503 from api.example`. */
  cause: string;
  /** The last error; empty if there is none. */
  reason: string;
  chain: string | null;
  /** Ids of the first lanes that the incident affects, in order of their ids. */
  lanes: readonly string[];
  laneCount: number;
  /** The newest delivery that failed; null if there is none. */
  deliveryId: string | null;
  startedAt: number;
  endedAt: number | null;
}

/** A lane whose last attempts failed, or that stopped. */
export interface FailingLane {
  id: string;
  webhookUrl: string;
  /** The first minute without a 2xx since the last one with a 2xx; null if none is on record. */
  since: number | null;
}

export interface IncidentReads {
  listFailingLanes(): Promise<FailingLane[]>;
  /**
   * Lists incidents, newest first.
   *
   * @param asked.before id of an incident; returns only older ones
   */
  listIncidents(asked: {
    isOpen?: boolean | undefined;
    subject?: string | undefined;
    before?: string | undefined;
    limit: number;
  }): Promise<IncidentRow[]>;
}

export interface IncidentWrites {
  /**
   * Adds or replaces an incident. Does nothing if another incident of its subject is open, which a
   * process that lost its lease may have added.
   */
  saveIncident(incident: IncidentRow): Promise<void>;
  /** Deletes the incidents that ended before this time. */
  deleteIncidents(before: number): Promise<void>;
}
