import {
  APTOS_CHAINS,
  APTOS_NETWORKS,
  TEST_APTOS_WEBHOOK,
  padAptosAddress,
  toAptosChain,
} from '@sluice/kit/contract';
import { aptosAddressesSchema, aptosLabeledAddressesSchema } from '@sluice/kit/calls';
import { readBodyBlock } from '../../../api/bodyBlock.ts';
import type { ApiFamily } from '../../../api/family.ts';
import { type AptosStreamRecord, STREAM_FAMILIES } from '../../../store/streams/contract.ts';
import { flagOf } from '../../../config/settings.ts';

export const APTOS_API: ApiFamily<AptosStreamRecord> = {
  name: 'aptos',
  flag: flagOf('aptos'),
  addresses: {
    width: STREAM_FAMILIES.aptos.addressBytes,
    schema: aptosAddressesSchema,
    labeledSchema: aptosLabeledAddressesSchema,
    should: 'an Aptos address: 0x and up to 64 hex digits',
    toAddress: (text) => padAptosAddress(text)?.toLowerCase(),
  },
  testWebhook: TEST_APTOS_WEBHOOK,
  findsByHash: false,
  numbers: 'version',
  // Hex ids, because the official client reads only hex.
  listedIds: Object.fromEntries(
    APTOS_NETWORKS.map((network) => [toAptosChain(network), APTOS_CHAINS[network]]),
  ),
  // Shorter than a hash.
  readAddress: (query) => (/^0x[0-9a-f]{1,63}$/i.test(query) ? padAptosAddress(query) : undefined),
  toBodyAddress: (hex) => hex.toLowerCase(),
  readBlockTime: (body) =>
    Math.floor(Number(readBodyBlock(body, /"block":(?=\{)/).timestamp) / 1_000),
  scopeOf: () => ({ topic0: [], amountOfFactories: 0, amountOfReads: 0 }),
  signaturesOf: () => new Map(),
  problemsOf: () => [],
};
