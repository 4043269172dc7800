/** The stream calls of the compatible API for EVM chains. */
import type { CallOptions, CallResult } from '../../client/request.ts';
import type { Calls } from '../../client/calls.ts';
import { fillDefaults } from '../../client/compatible/responses.ts';
import {
  type Fields,
  type LabelOptions,
  mapAddresses,
  toBlockNumber,
  toChainIdStrictly,
  toChainIds,
  toLabels,
} from '../../client/compatible/arguments.ts';
import type { NetworkCalls } from '../../client/compatible/networkCalls.ts';
import type { Given } from '../../client/given.ts';
import { ROUTES } from '../../contract/routes.generated.ts';
import type {
  AddressesResponse,
  CreateEvmStream,
  CompatibleDryRun,
  DryRunResult,
  EvmStream,
  HistoricalJob,
  HistoricalJobResponse,
} from '../../contract/shapes.generated.ts';
import { evmStreamDefaults } from '../../contract/streamFields.generated.ts';
import { SluiceError } from '../../errors.ts';
import { lowerAddress } from './addressCalls.ts';
import { checksumAddress } from './checksum.ts';

/** A stream as a service returns it. Fields that the hosted service may omit are optional. */
export interface Stream extends Omit<EvmStream, 'createdAt' | 'updatedAt' | 'amountOfAddresses'> {
  /** ISO 8601 time. */
  createdAt?: string;
  /** ISO 8601 time. */
  updatedAt?: string;
  amountOfAddresses?: number;
}

/** The fields of an EVM stream; see {@link CreateEvmStream}. */
export type StreamFields = Given<CreateEvmStream>;

/** Fields of an EVM stream to change; absent fields stay unchanged. */
export type StreamChanges = Partial<StreamFields>;

/** The types of the stream calls for EVM chains. */
export interface EvmNetworkTypes {
  fields: StreamFields;
  stream: Stream;
  deleted: Stream;
  status: Stream;
}

/** A block of a chain. */
export interface BlockIdentifier {
  /** Hex, a decimal string or a number. */
  readonly chainId: string | number;
  readonly blockNumber: number;
}

/** A block, and the fields of the stream to preview for it. */
export type DryRunOptions = BlockIdentifier & Given<CompatibleDryRun>;

/** A stream and the inclusive range of past blocks to match. */
export type HistoricalJobOptions = Given<HistoricalJob> & Pick<BlockIdentifier, 'chainId'>;

/**
 * The calls that only EVM streams have. They are newer than the official client; a service without
 * them rejects with `not_found`.
 */
export interface EvmStreamsClient {
  /** Creates a stream with the fields and addresses of the stream `id`. */
  duplicate(id: string, options?: CallOptions): CallResult<Stream>;
  /** Replaces all addresses. Addresses without a label in the call lose their labels. */
  replaceAddresses(
    id: string,
    addresses: readonly string[],
    options?: CallOptions & LabelOptions,
  ): CallResult<AddressesResponse>;
  /** Previews the webhook that a stream would send for a block. Nothing is sent or stored. */
  dryRunBlock(dryRun: DryRunOptions, options?: CallOptions): CallResult<DryRunResult>;
  /**
   * Matches a block against the stream as it is now, and sends the webhook. Sluice returns the
   * number of records; if it is 0, no webhook is sent.
   */
  sendBlock(
    block: BlockIdentifier & { readonly streamId: string },
    options?: CallOptions,
  ): CallResult<number | null | undefined>;
  /** Starts a backfill: matches an inclusive range of past blocks, and sends the webhooks. */
  createHistoricalJob(
    job: HistoricalJobOptions,
    options?: CallOptions,
  ): CallResult<HistoricalJobResponse>;
}

const toStream = (body: unknown): Stream => fillDefaults(body, evmStreamDefaults()) as Stream;

const checksummedAddress = (value: unknown): string => checksumAddress(lowerAddress(value));

export const EVM_CALLS: NetworkCalls = {
  routes: {
    list: ROUTES.listEvmStreams,
    create: ROUTES.createEvmStream,
    get: ROUTES.getEvmStream,
    update: ROUTES.updateEvmStream,
    delete: ROUTES.deleteEvmStream,
    setStatus: ROUTES.setEvmStreamStatus,
    listAddresses: ROUTES.listEvmAddresses,
    addAddresses: ROUTES.addEvmAddresses,
    removeAddresses: ROUTES.removeEvmAddresses,
  },
  toBody: toEvmBody,
  toStream,
  toDeleted: toStream,
  toStatus: toStream,
  added: checksummedAddress,
  removed: lowerAddress,
};

export const createEvmStreams = ({ one }: Calls): EvmStreamsClient => ({
  duplicate: (id, options) =>
    one(() => ({ route: ROUTES.duplicateEvmStream, path: { id } }), options, toStream),

  replaceAddresses: (id, addresses, { labels, ...options } = {}) =>
    one(() => {
      const body = {
        address: mapAddresses(addresses, checksummedAddress),
        ...toLabels(labels, checksummedAddress),
      };
      return { route: ROUTES.replaceEvmAddresses, path: { id }, body, repeatable: true };
    }, options),

  dryRunBlock: ({ chainId, blockNumber, addresses, ...fields }, options) =>
    one(() => {
      const body = {
        ...toEvmBody(fields),
        addresses: addresses && mapAddresses(addresses, lowerAddress),
      };
      const path = toBlockPath({ chainId, blockNumber });
      return { route: ROUTES.dryRunEvmBlock, path, body, repeatable: true };
    }, options),

  sendBlock: ({ streamId, ...block }, options) =>
    one(() => ({ route: ROUTES.sendEvmBlock, path: { ...toBlockPath(block), streamId } }), options),

  createHistoricalJob: ({ chainId, streamId, blockFrom, blockTo, destination }, options) =>
    one(
      () => ({
        route: ROUTES.createHistoricalJob,
        body: {
          chainId: toChainIdStrictly('chainId', chainId),
          streamId,
          blockFrom: toBlockNumber('blockFrom', blockFrom),
          blockTo: toBlockNumber('blockTo', blockTo),
          ...(destination !== undefined && { destination }),
        },
      }),
      options,
    ),
});

const toBlockPath = ({ chainId, blockNumber }: BlockIdentifier) => ({
  chainId: toChainIdStrictly('chainId', chainId),
  blockNumber: String(toBlockNumber('blockNumber', blockNumber)),
});

/** Converts the fields of a new EVM stream, or the changed fields of an existing one. */
function toEvmBody(fields: object): Fields {
  const body: Record<string, unknown> = { ...fields };
  if (body['chainIds'] !== undefined) body['chainIds'] = toChainIds(body['chainIds']);
  for (const { selectors } of listOf(body['getNativeBalances'])) {
    for (const selector of Array.isArray(selectors) ? selectors : []) checkSelector(selector);
  }
  if (Array.isArray(body['triggers'])) body['triggers'] = body['triggers'].map(toTrigger);
  return body;
}

/** Returns the objects in a list, and drops any other values. */
const listOf = (value: unknown): Fields[] =>
  Array.isArray(value)
    ? value.filter((it): it is Fields => typeof it === 'object' && it !== null)
    : [];

function toTrigger(trigger: unknown): unknown {
  if (typeof trigger !== 'object' || trigger === null) return trigger;
  const body: Record<string, unknown> = { ...trigger };
  for (const name of ['contractAddress', 'callFrom']) {
    const value = body[name];
    const isSelector = typeof value === 'string' && value.startsWith('$');
    if (value !== undefined && !isSelector) body[name] = lowerAddress(value);
  }
  return body;
}

function checkSelector(value: unknown): void {
  if (typeof value === 'string' && value.startsWith('$')) return;
  throw new SluiceError('invalid_selector', 'Invalid selector string provided');
}
