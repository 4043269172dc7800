/** Rows of settings, leases and operator notices. */

export interface UpkeepTables {
  setting: { key: string; value: string };
  lease: LeaseTable;
  operator_notice: OperatorNoticeTable;
}

/** What one process at a time does. */
interface LeaseTable {
  /** A chain's id: to read it. */
  name: string;
  /** The process that took it last, for people. */
  holder: string;
  /** Raised whenever it is taken: what an earlier holder writes is then refused. */
  epoch: number;
  until: number;
  /** JSON of what its holder last said of the chain. */
  report: string | null;
}

/** As `OperatorNoticeRow`. */
interface OperatorNoticeTable {
  subject: string;
  state: string;
  told: string;
  id: string;
  body: string | null;
  attempts: number;
  run_at: number;
  sent_at: number | null;
}
