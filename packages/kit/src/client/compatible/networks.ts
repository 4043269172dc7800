/** The stream calls of each chain family. */
import { toAptosStream, toStream } from './responses.ts';
import type { Stream } from './responses.ts';
import { aptosAddress, lowerAddress, toAptosBody, toEvmBody } from './arguments.ts';
import { checksumAddress } from '../../contract/rules/checksum.ts';
import type { AptosStream } from '../../contract/shapes.generated.ts';
import { ROUTES } from '../../contract/routes.generated.ts';
import type { Route } from '../../contract/route.ts';
import { SluiceError } from '../../errors.ts';

export interface NetworkCalls {
  readonly routes: Readonly<
    Record<
      | 'list'
      | 'create'
      | 'get'
      | 'update'
      | 'delete'
      | 'setStatus'
      | 'listAddresses'
      | 'addAddresses'
      | 'removeAddresses',
      Route
    >
  >;
  toBody(fields: object): unknown;
  toStream(body: unknown): Stream | AptosStream;
  /** `added` and `removed` convert an address to the form that is sent to add or remove it. */
  readonly added: (address: unknown) => string;
  readonly removed: (address: unknown) => string;
}

export const checksummedAddress = (value: unknown): string => checksumAddress(lowerAddress(value));

const EVM: NetworkCalls = {
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
  added: checksummedAddress,
  removed: lowerAddress,
};

const APTOS: NetworkCalls = {
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
  toStream: toAptosStream,
  added: aptosAddress,
  removed: aptosAddress,
};

/**
 * Returns the calls of a chain family, by default EVM. Throws `invalid_network` for other values,
 * which callers without TypeScript may pass.
 */
export function networkOf(networkType: unknown): NetworkCalls {
  if (networkType === undefined || networkType === 'evm') return EVM;
  if (networkType === 'aptos') return APTOS;
  throw new SluiceError(
    'invalid_network',
    `Incorrect network provided. Got "${networkType as string}", Valid values are: "aptos", "evm"`,
  );
}
