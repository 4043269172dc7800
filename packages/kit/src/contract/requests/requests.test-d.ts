/**
 * Compares the generated request types with the handwritten types that they replaced. Code that
 * uses the old types must still type-check. New optional fields need not be added here.
 */
import { expectTypeOf } from 'vitest';
import type { OneOrMany, Optional } from '../generic.ts';
import type * as generated from '../shapes.generated.ts';
import type {
  DeliveryPhase,
  DeliveryState,
  Region,
  Scope,
  ActivityStep,
  DeliverMode,
  DeliveryStatus,
} from '../shapes.generated.ts';

interface AbiParameter {
  name: string;
  type: string;
  indexed?: boolean | undefined;
  components?: readonly AbiParameter[] | undefined;
  internalType?: string | undefined;
}

interface AbiItem {
  type: string;
  name?: string | undefined;
  inputs?: readonly AbiParameter[] | undefined;
  outputs?: readonly AbiParameter[] | undefined;
  anonymous?: boolean | undefined;
  constant?: boolean | undefined;
  payable?: boolean | undefined;
  stateMutability?: string | undefined;
  gas?: number | undefined;
  signature?: string | undefined;
}

type RecordKind = 'tx' | 'log' | 'erc20transfer' | 'erc20approval' | 'nfttransfer' | 'internalTx';

interface AdvancedOption {
  topic0?: string | undefined;
  function?: string | undefined;
  filter?: Record<string, unknown> | undefined;
  includeNativeTxs?: boolean | undefined;
  transactionStatus?: 'success' | 'failed' | 'any' | undefined;
}

interface NativeBalanceSelection {
  selectors: string[];
  type: RecordKind;
}

interface StreamTrigger {
  type: Exclude<RecordKind, 'internalTx'>;
  contractAddress: string;
  functionAbi: AbiItem;
  inputs?: unknown[] | undefined;
  topic0?: string | undefined;
  callFrom?: string | undefined;
}

type Retries = 'standard' | 'short' | 'long' | 'none' | number[];

interface StreamLimits {
  maxInFlight: number | null;
  maxPerSecond: number | null;
  strictOrder: boolean;
  timeoutSeconds: number | null;
  retries: Retries;
}

interface OAuth2Credentials {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope?: string | undefined;
  audience?: string | undefined;
}

interface CreateEvmStream extends Optional<StreamLimits> {
  webhookUrl: string;
  description: string;
  tag?: string | undefined;
  chainIds: string[];
  topic0?: string[] | null | undefined;
  allAddresses?: boolean | undefined;
  includeNativeTxs?: boolean | undefined;
  includeContractLogs?: boolean | undefined;
  includeInternalTxs?: boolean | undefined;
  includeAllTxLogs?: boolean | undefined;
  getNativeBalances?: NativeBalanceSelection[] | null | undefined;
  abi?: AbiItem[] | null | undefined;
  advancedOptions?: AdvancedOption[] | null | undefined;
  demo?: boolean | undefined;
  triggers?: StreamTrigger[] | null | undefined;
  filterPossibleSpamAddresses?: boolean | undefined;
  deliver?: DeliverMode | undefined;
  notifyRemoved?: boolean | undefined;
  headers?: Record<string, string> | undefined;
  oauth2?: OAuth2Credentials | null | undefined;
  maxWebhookBytes?: number | null | undefined;
}

type UpdateEvmStream = Optional<CreateEvmStream>;

interface AddressQuery {
  find?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

interface AddressesBody {
  address: string | string[];
}

interface LabeledAddressesBody extends AddressesBody {
  labels?: Record<string, string> | undefined;
}

interface ErrorBody {
  message: string | string[];
  details?: Record<string, unknown>;
  fields?: Record<string, unknown>;
}

type AptosNetwork = 'mainnet' | 'testnet' | 'devnet' | 'local';

interface CreateAptosStream extends Optional<StreamLimits> {
  webhookUrl: string;
  description: string;
  tag: string;
  network: AptosNetwork[];
  functions?: string[] | null | undefined;
  events?: string[] | null | undefined;
  includePayload?: boolean | undefined;
  includeEvents?: boolean | undefined;
  includeChanges?: boolean | undefined;
  demo?: boolean | undefined;
  allAddresses?: boolean | undefined;
  headers?: Record<string, string> | undefined;
  oauth2?: OAuth2Credentials | null | undefined;
  maxWebhookBytes?: number | null | undefined;
}

type UpdateAptosStream = Optional<CreateAptosStream>;

interface CompatibleDryRun extends Pick<
  CreateEvmStream,
  | 'tag'
  | 'topic0'
  | 'allAddresses'
  | 'includeNativeTxs'
  | 'includeContractLogs'
  | 'includeInternalTxs'
  | 'includeAllTxLogs'
  | 'filterPossibleSpamAddresses'
  | 'abi'
  | 'advancedOptions'
> {
  addresses?: string[] | undefined;
}

interface EvmDryRun
  extends CompatibleDryRun, Pick<CreateEvmStream, 'triggers' | 'getNativeBalances'> {
  block: number;
  streamId?: string | undefined;
}

interface HistoricalJob {
  chainId: string;
  streamId: string;
  blockFrom: number;
  blockTo: number;
}

interface AptosBlockIdentifier {
  block?: number | undefined;
  version?: number | undefined;
}

interface AptosDryRun
  extends
    AptosBlockIdentifier,
    Optional<
      Pick<
        CreateAptosStream,
        | 'tag'
        | 'functions'
        | 'events'
        | 'includePayload'
        | 'includeEvents'
        | 'includeChanges'
        | 'allAddresses'
      >
    > {
  streamId?: string | undefined;
  addresses?: string[] | undefined;
}

interface AptosBackfill {
  streamId: string;
  blockFrom?: number | undefined;
  blockTo?: number | undefined;
  versionFrom?: number | undefined;
  versionTo?: number | undefined;
}

interface HistoryFilter {
  excludePayload?: boolean | undefined;
  streamId?: string | undefined;
  transactionHash?: string | undefined;
  chainId?: string[] | undefined;
  blockNumber?: number[] | undefined;
  fromTimestamp?: number | undefined;
  toTimestamp?: number | undefined;
}

interface LogFilter extends Omit<HistoryFilter, 'excludePayload'> {
  deliveryStatus?: DeliveryStatus[] | undefined;
}

interface DeliveryFilter {
  id?: OneOrMany<string> | undefined;
  streamId?: OneOrMany<string> | undefined;
  chainId?: OneOrMany<string> | undefined;
  state?: OneOrMany<DeliveryState> | undefined;
  phase?: OneOrMany<DeliveryPhase> | undefined;
  status?: OneOrMany<string> | undefined;
  error?: string | undefined;
  transactionHash?: string | undefined;
  blockFrom?: number | undefined;
  blockTo?: number | undefined;
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
  attemptsFrom?: number | undefined;
  attemptsTo?: number | undefined;
  reorged?: boolean | undefined;
  replayId?: string | undefined;
}

interface CreateReplay {
  name: string;
  filter: DeliveryFilter;
  perSecond?: number | undefined;
}

interface DeliveryOrder {
  order?: 'newest' | 'oldest' | undefined;
}

interface CreateApiKey {
  name: string;
  scopes?: Scope[] | undefined;
  cidrs?: string[] | undefined;
  expiresAt?: number | undefined;
}

interface RotateStreamSecret {
  overlapSeconds?: number | undefined;
}

interface Settings {
  region?: Region | undefined;
  secretKey?: string | undefined;
}

interface TimelineQuery {
  streamIds: readonly string[];
  limit?: number | undefined;
}

interface ActivityQuery {
  readonly streamId?: string | undefined;
  readonly step?: ActivityStep | undefined;
  readonly points?: number | undefined;
}

interface ListOptions {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

type ListDeliveriesOptions = ListOptions & Readonly<DeliveryFilter & DeliveryOrder>;

/** True if both types are assignable to each other, and `After` has all fields of `Before`. */
type Kept<After, Before> = [After, Before, keyof Before] extends [Before, After, keyof After]
  ? true
  : false;

expectTypeOf<Kept<generated.AbiParameter, AbiParameter>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.AbiItem, AbiItem>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.RecordKind, RecordKind>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.AdvancedOption, AdvancedOption>>().toEqualTypeOf<true>();
expectTypeOf<
  Kept<generated.NativeBalanceSelection, NativeBalanceSelection>
>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.StreamTrigger, StreamTrigger>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.StreamLimits, StreamLimits>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.CreateEvmStream, CreateEvmStream>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.UpdateEvmStream, UpdateEvmStream>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.AddressQuery, AddressQuery>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.AddressesBody, AddressesBody>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.LabeledAddressesBody, LabeledAddressesBody>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.ErrorBody, ErrorBody>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.AptosNetwork, AptosNetwork>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.CreateAptosStream, CreateAptosStream>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.UpdateAptosStream, UpdateAptosStream>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.CompatibleDryRun, CompatibleDryRun>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.EvmDryRun, EvmDryRun>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.HistoricalJob, HistoricalJob>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.AptosBlockIdentifier, AptosBlockIdentifier>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.AptosDryRun, AptosDryRun>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.AptosBackfill, AptosBackfill>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.HistoryFilter, HistoryFilter>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.LogFilter, LogFilter>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.DeliveryFilter, DeliveryFilter>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.CreateReplay, CreateReplay>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.DeliveryOrder, DeliveryOrder>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.CreateApiKey, CreateApiKey>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.RotateStreamSecret, RotateStreamSecret>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.Settings, Settings>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.TimelineQuery, TimelineQuery>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.ActivityQuery, ActivityQuery>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.ListOptions, ListOptions>>().toEqualTypeOf<true>();
expectTypeOf<Kept<generated.ListDeliveriesOptions, ListDeliveriesOptions>>().toEqualTypeOf<true>();
