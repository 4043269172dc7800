/** The fields of Aptos streams. */
import * as z from 'zod';
import { typed } from '../../../contract/named.ts';
import { aptosNetwork } from './values.ts';
import { givenOrNull, normalized } from '../../../contract/requests/fields.ts';
import { APTOS_NETWORKS, toAptosNetwork } from '../chains.ts';
import { type Fields, boolean } from '../../../contract/streams/field.ts';
import {
  amountOfAddresses,
  deliveryFields,
  demo,
  destinationFields,
  id,
  statusFields,
  tag,
} from '../../../contract/streams/sharedFields.ts';

const network = z
  .array(
    typed(
      'AptosNetwork',
      normalized(toAptosNetwork, `should be one of ${APTOS_NETWORKS.join(', ')}`),
    ).meta({ type: 'string', enum: [...APTOS_NETWORKS, '1', '2'] }),
    { error: 'should be an array of networks, e.g. ["mainnet"]' },
  )
  .min(1, { error: 'should name at least one network, e.g. ["mainnet"]' })
  .transform((names) => [...new Set(names)]);

const movePaths = z
  .array(
    z.string().refine((path) => /^0x[0-9a-fA-F]{1,64}(::\w+){2}(<.+>)?$/.test(path), {
      error: 'should be a Move path, e.g. 0x1::coin::WithdrawEvent',
    }),
  )
  .max(1000, { error: 'should list at most 1000 paths' });

export const aptosFields = {
  id,
  ...destinationFields,
  tag: { ...tag, isRequired: true },
  network: {
    kind: 'list',
    description: 'At least one.',
    accepts: network,
    isRequired: true,
    returns: z.array(aptosNetwork),
    flag: { syntax: '--network <name...>', help: 'Aptos networks; creates an Aptos stream' },
    label: 'Chains',
  },
  functions: {
    kind: 'list',
    description: 'Entry functions as Move paths, e.g. `0x1::aptos_account::transfer`.',
    accepts: givenOrNull(movePaths),
    returns: z.array(z.string()),
    default: [],
    isTried: true,
    flag: {
      syntax: '--function <signature...>',
      help: 'Entry functions by Move path',
    },
    label: 'Functions',
  },
  events: {
    kind: 'list',
    description: 'Event types as Move paths, e.g. `0x1::coin::WithdrawEvent`.',
    accepts: givenOrNull(movePaths),
    returns: z.array(z.string()),
    default: [],
    isTried: true,
    flag: { syntax: '--event <signature...>', help: 'Events by Move path' },
    label: 'Move events',
  },
  includeEvents: boolean({
    description: 'Events of the matched transactions.',
    isTried: true,
    label: 'Events',
    input: { part: 'match', hint: 'of each matched transaction' },
  }),
  includePayload: boolean({
    description: 'Payloads of the matched transactions.',
    isTried: true,
    label: 'Payloads',
    input: { part: 'match', hint: 'of each matched transaction' },
  }),
  includeChanges: boolean({
    description: 'State changes of the matched transactions.',
    isTried: true,
    label: 'State changes',
    input: { part: 'match', hint: 'of each matched transaction; can be large' },
  }),
  demo,
  allAddresses: boolean({
    description: 'Match every address; needs `functions` or `events`.',
    isTried: true,
    flag: {
      syntax: '--all-addresses',
      help: 'Match all addresses; requires --event or --function',
    },
    label: 'All addresses',
  }),
  ...deliveryFields,
  ...statusFields,
  amountOfAddresses,
} as const satisfies Fields;
