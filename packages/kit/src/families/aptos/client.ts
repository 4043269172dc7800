/** The stream calls of the compatible API for Aptos. */
import { type Fields, invalidArgument } from '../../client/compatible/arguments.ts';
import { fillDefaults } from '../../client/compatible/responses.ts';
import type { NetworkCalls } from '../../client/compatible/networkCalls.ts';
import type { Given } from '../../client/given.ts';
import type {
  AptosStream,
  AptosStreamStatus,
  CreateAptosStream,
} from '../../contract/shapes.generated.ts';
import { aptosStreamDefaults } from '../../contract/streamFields.generated.ts';
import { toAptosNetwork } from './chains.ts';
import { aptosAddress } from './addressCalls.ts';
import { ROUTES } from '../../contract/routes.generated.ts';

/** The fields of an Aptos stream; see {@link CreateAptosStream}. */
export type AptosStreamFields = Omit<Given<CreateAptosStream>, 'network'> & {
  /** At least one network: a name, or the chain id `1` (mainnet) or `2` (testnet). */
  readonly network: readonly (CreateAptosStream['network'][number] | '1' | '2')[];
};

/** Fields of an Aptos stream to change; absent fields stay unchanged. */
export type AptosStreamChanges = Partial<AptosStreamFields>;

/** The types of the stream calls for Aptos. */
export interface AptosNetworkTypes {
  fields: AptosStreamFields;
  stream: AptosStream;
  deleted: true;
  status: AptosStreamStatus;
}

export const APTOS_CALLS: NetworkCalls = {
  routes: {
    list: ROUTES.listAptosStreams,
    create: ROUTES.createAptosStream,
    get: ROUTES.getAptosStream,
    update: ROUTES.updateAptosStream,
    delete: ROUTES.deleteAptosStream,
    setStatus: ROUTES.setAptosStreamStatus,
    listAddresses: ROUTES.listAptosAddresses,
    addAddresses: ROUTES.addAptosAddresses,
    removeAddresses: ROUTES.removeAptosAddresses,
  },
  toBody: toAptosBody,
  toStream: (body) => fillDefaults(body, aptosStreamDefaults()),
  toDeleted: (body) => body,
  toStatus: (body) => body,
  added: aptosAddress,
  removed: aptosAddress,
};

/** Converts the fields of a new Aptos stream, or the changed fields of an existing one. */
function toAptosBody(fields: object): Fields {
  const body: Record<string, unknown> = { ...fields };
  const { network } = body;
  if (network === undefined) return body;
  if (!Array.isArray(network))
    throw invalidArgument('network should be an array, e.g. ["mainnet"]');
  body['network'] = network.map((value: unknown) => {
    const name = toAptosNetwork(value);
    if (name !== undefined) return name;
    throw invalidArgument(`Aptos network is not supported: ${String(value)}`);
  });
  return body;
}
