import { TEST_WEBHOOK, itemSignature, eventTopic, toAddress } from '@sluice/kit/contract';
import { evmAddressesSchema, evmLabeledAddressesSchema } from '@sluice/kit/calls';
import { readBodyBlock } from '../../../api/bodyBlock.ts';
import type { ApiFamily } from '../../../api/family.ts';
import { type EvmStreamRecord, STREAM_FAMILIES } from '../../../store/streams/contract.ts';
import { describeOrigin } from '../match/factories.ts';
import { compileRules } from '../match/rules.ts';
import { problemsOf } from './problems.ts';
import { flagOf } from '../../../config/settings.ts';

export const EVM_API: ApiFamily<EvmStreamRecord> = {
  name: 'evm',
  flag: flagOf('chains'),
  addresses: {
    width: STREAM_FAMILIES.evm.addressBytes,
    schema: evmAddressesSchema,
    labeledSchema: evmLabeledAddressesSchema,
    should: 'an EVM address: 0x and 40 hex digits',
    toAddress,
  },
  testWebhook: TEST_WEBHOOK,
  findsByHash: true,
  numbers: 'block',
  listedIds: {},
  readAddress: (query) => (/^0x[0-9a-f]{40}$/i.test(query) ? toAddress(query) : undefined),
  // Addresses in topics have leading zeros.
  toBodyAddress: (hex) => hex.toLowerCase().replace(/^0x0{24}(?=.{40}$)/, '0x'),
  // `retries` comes before the block. An ABI before it has no such pair of keys.
  readBlockTime: (body) =>
    Number(readBodyBlock(body, /"retries":\d{1,10},"block":(?=\{)/).timestamp) * 1_000,
  scopeOf: ({ options: { topic0, factories, reads } }) => ({
    topic0: topic0 ?? [],
    amountOfFactories: factories?.length ?? 0,
    amountOfReads: reads?.length ?? 0,
  }),
  signaturesOf: ({ options }) =>
    new Map(
      (options.abi ?? [])
        .filter(({ type }) => type === 'event')
        .map((item) => [eventTopic(item), itemSignature(item)]),
    ),
  describeOrigin: ({ options }, origin) => describeOrigin(compileRules(options).factories, origin),
  problemsOf,
};
