/** Alerts that are to be sent, or were sent, and the problems that cause them. */
import type { StreamStatus } from '@sluice/kit/contract';

/** The alert to a receiver about a subject: the next one to send, or the last one that was sent. */
export interface AlertRow {
  /** Id of the added URL; empty for the configured URL. */
  receiver: string;
  /** Subject of the alert: `stream <id>`, `quarantine <streamId>`, `feed <streamId> <consumer>`, `chain <id>` or `disk`. */
  subject: string;
  /** The current state of the subject; empty if it has no problem. */
  state: string;
  /**
   * The state in the last alert that was delivered; empty before the first one and after a
   * recovery.
   */
  reported: string;
  id: string;
  /** The body to send; null if no alert is waiting to be sent. */
  body: string | null;
  attempts: number;
  runAt: number;
  /** Time at which the last alert was sent or dropped; null before the first one. */
  sentAt: number | null;
}

export interface AlertReads {
  /** Returns the current problems of streams and deliveries, and the time by the ledger's clock. */
  readProblems(): Promise<{
    now: number;
    streams: { id: string; tag: string; status: StreamStatus; reason: string }[];
    /**
     * For each stream with quarantined deliveries: their number, and the id and the reason of the
     * newest one.
     */
    quarantined: {
      streamId: string;
      tag: string;
      count: number;
      deliveryId: string;
      reason: string;
    }[];
  }>;
  /** Lists the alerts to a receiver, ordered by `runAt`. */
  listAlerts(receiver: string): Promise<AlertRow[]>;
}

export interface AlertWrites {
  saveAlert(alert: AlertRow): Promise<void>;
  deleteAlert(alert: Pick<AlertRow, 'receiver' | 'subject'>): Promise<void>;
}
