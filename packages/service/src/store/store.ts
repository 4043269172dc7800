/**
 * The ledger: streams, the checkpoint of each chain, matches, and deliveries with their attempts.
 * Nearly every write is one transaction. All engines run the same statements, except for the SQL in
 * `engine/`, and pass the same tests (`test/store`).
 */
import type { ServiceDetails } from '@sluice/kit/contract';
import type {
  StreamReads,
  StreamChangeReads,
  StreamWrites,
  DestinationWrites,
  HealthWrites,
} from './streams/contract.ts';
import type { AddressReads, AddressWrites } from './addresses/contract.ts';
import type { ChildReads, ChildWrites } from './children/contract.ts';
import type {
  BlockReads,
  ChainHistoryReads,
  ExplainReads,
  BlockWrites,
} from './blocks/contract.ts';
import type { EnrichReads, EnrichWrites } from './enrichment/contract.ts';
import type {
  DeliveryReads,
  HistoryReads,
  CountReads,
  ClaimWrites,
  DeliveryWrites,
  HistoryWrites,
} from './deliveries/contract.ts';
import type { ReplayReads, ReplayWrites } from './replays/contract.ts';
import type { JobReads, JobWrites } from './jobs/contract.ts';
import type { ActivityReads, TotalReads, StatWrites } from './stats/contract.ts';
import type { AccessReads, AccessWrites } from './access/contract.ts';
import type { InboxReads, InboxWrites } from './inbox/contract.ts';
import type { FeedReads, FeedUpkeep, FeedWrites } from './feeds/contract.ts';
import type { LeaseReads, LeaseWrites } from './leases/contract.ts';
import type {
  AddedUrlReads,
  SettingReads,
  AddedUrlWrites,
  SettingWrites,
} from './settings/contract.ts';
import type { AlertReads, AlertWrites } from './alerts/contract.ts';
import type { IncidentReads, IncidentWrites } from './incidents/contract.ts';
import type { InvariantReads } from './integrity/contract.ts';
import type { RetentionReads, RetentionWrites } from './retention/contract.ts';
import type { DayWrites, ServerReads } from './engine/engine.ts';
import type { EventFeed } from './live/eventFeed.ts';
import type { QueueChanges } from './live/queueChanges.ts';
import type { Signals } from './live/signals.ts';
import type { UncertainReads, UncertainWrites } from './uncertain/contract.ts';
import type { ValueReads, ValueWrites } from './values/contract.ts';

export interface Reads
  extends
    StreamReads,
    StreamChangeReads,
    AddressReads,
    ChildReads,
    BlockReads,
    ChainHistoryReads,
    ExplainReads,
    EnrichReads,
    DeliveryReads,
    HistoryReads,
    CountReads,
    ReplayReads,
    JobReads,
    ActivityReads,
    TotalReads,
    AccessReads,
    InboxReads,
    FeedReads,
    LeaseReads,
    AddedUrlReads,
    AlertReads,
    IncidentReads,
    InvariantReads,
    RetentionReads,
    SettingReads,
    ServerReads,
    UncertainReads,
    ValueReads {}

export interface Writes
  extends
    StreamWrites,
    DestinationWrites,
    HealthWrites,
    AddressWrites,
    ChildWrites,
    BlockWrites,
    EnrichWrites,
    ClaimWrites,
    DeliveryWrites,
    HistoryWrites,
    ReplayWrites,
    JobWrites,
    StatWrites,
    AccessWrites,
    InboxWrites,
    FeedWrites,
    FeedUpkeep,
    LeaseWrites,
    AddedUrlWrites,
    AlertWrites,
    IncidentWrites,
    RetentionWrites,
    DayWrites,
    SettingWrites,
    UncertainWrites,
    ValueWrites {}

/** The files of a ledger that is on this machine. */
export interface LedgerFiles {
  folder: string;
  readSizeBytes(): Promise<number>;
}

export interface Store extends Reads, Writes {
  /** Name of the database, as the API returns it. */
  readonly engine: ServiceDetails['database'];
  /** Whether several processes may use the ledger at a time. */
  readonly isShared: boolean;
  /** URL of the database, or path of its file. */
  readonly place: string;
  /** The files of the ledger; undefined if a server has it, which may be on another machine. */
  readonly files: LedgerFiles | undefined;
  /** Converts an error of a damaged ledger to a CallerError. Returns any other error unchanged. */
  explainError(error: unknown): unknown;
  /** Signals from writes in any process. */
  readonly signals: Signals;
  /** Live events from writes in any process. */
  readonly events: EventFeed;
  readonly queueChanges: QueueChanges;
  close(): Promise<void>;
}
