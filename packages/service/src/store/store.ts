/**
 * The ledger: what is watched, how far each chain is committed, what matched, and every delivery
 * with its attempts. Each method is one transaction. SQLite and PostgreSQL run the same statements
 * and pass the same suite (`suite/`); what they spell differently is in `engine/`. Each subject has a
 * folder: its contract, its reads and its writes.
 */
import type { StreamReads, StreamWrites, HealthWrites } from './streams/contract.ts';
import type { AddressReads, AddressWrites } from './addresses/contract.ts';
import type { BlockReads, ExplainReads, BlockWrites } from './blocks/contract.ts';
import type { EnrichReads, EnrichWrites } from './enrichment/contract.ts';
import type {
  DeliveryReads,
  HistoryReads,
  FacetReads,
  DeliveryWrites,
  HistoryWrites,
} from './deliveries/contract.ts';
import type { ReplayReads, ReplayWrites } from './replays/contract.ts';
import type { JobReads, JobWrites } from './jobs/contract.ts';
import type { ActivityReads, TotalReads, StatWrites } from './stats/contract.ts';
import type { AccessReads, AccessWrites } from './access/contract.ts';
import type { InboxReads, InboxWrites } from './inbox/contract.ts';
import type {
  LeaseReads,
  OperatorNoticeReads,
  InvariantReads,
  RetentionReads,
  SettingReads,
  ServerReads,
  LeaseWrites,
  OperatorNoticeWrites,
  RetentionWrites,
  SettingWrites,
} from './upkeep/contract.ts';
import type { FeedWrites } from './live/contract.ts';
import type { EventFeed } from './live/eventFeed.ts';
import type { Notices } from './live/notices.ts';

export interface Reads
  extends
    StreamReads,
    AddressReads,
    BlockReads,
    ExplainReads,
    EnrichReads,
    DeliveryReads,
    HistoryReads,
    FacetReads,
    ReplayReads,
    JobReads,
    ActivityReads,
    TotalReads,
    AccessReads,
    InboxReads,
    LeaseReads,
    OperatorNoticeReads,
    InvariantReads,
    RetentionReads,
    SettingReads,
    ServerReads {}

export interface Writes
  extends
    StreamWrites,
    HealthWrites,
    AddressWrites,
    BlockWrites,
    EnrichWrites,
    DeliveryWrites,
    HistoryWrites,
    ReplayWrites,
    JobWrites,
    StatWrites,
    AccessWrites,
    InboxWrites,
    LeaseWrites,
    OperatorNoticeWrites,
    RetentionWrites,
    SettingWrites,
    FeedWrites {}

export interface Store extends Reads, Writes {
  readonly engine: 'sqlite' | 'postgres';
  /** Told by each write that others may wait for, whichever process made it. */
  readonly notices: Notices;
  /** What the writes that others may watch for changed, whichever process made them. */
  readonly events: EventFeed;
  close(): Promise<void>;
}
