/** The fields of EVM streams. */
import * as z from 'zod';
import { typed } from '../../../contract/named.ts';
import { abiItemSchema, abiSchema, functionSchema } from '../../../contract/requests/abi.ts';
import {
  confirmations,
  deliverMode,
  transactionStatus,
  unverifiedMode,
} from '../../../contract/requests/enums.ts';
import { bounded, chainId, given, givenOrNull } from '../../../contract/requests/fields.ts';
import {
  advancedOptionSchema,
  nativeBalanceSelectionSchema,
  triggerSchema,
} from '../../../contract/requests/triggers.ts';
import { factoriesSchema, factorySchema } from './factories.ts';
import { readsSchema } from './reads.ts';
import { parseEventSignature } from '../../../contract/rules/events.ts';
import {
  ANY_FUNCTION,
  parseFunctionSignature,
  writeFunction,
} from '../../../contract/rules/functions.ts';
import type { AdvancedOption } from '../../../contract/shapes.generated.ts';
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

const chainIds = z
  .array(chainId, { error: 'should be an array of hex chain IDs, e.g. ["0x1"]' })
  .min(1, { error: 'should name at least one chain, e.g. ["0x1"]' })
  .max(100, { error: 'should name at most 100 chains' })
  .transform((ids) => [...new Set(ids)]);

/** Maximum total length of the signatures in one field, in characters. */
const MAX_SIGNATURE_CHARACTERS = 100_000;
const tooLong = (what: string): string =>
  `should name ${what} of at most ${MAX_SIGNATURE_CHARACTERS} characters in total`;

/**
 * Returns whether the strings that `read` returns for the elements of a list have at most
 * {@link MAX_SIGNATURE_CHARACTERS} characters in total.
 */
const areShort = (given: unknown, read: (each: unknown) => unknown): boolean => {
  let left = MAX_SIGNATURE_CHARACTERS;
  for (const each of Array.isArray(given) ? given : []) {
    const text = read(each);
    if (typeof text === 'string') left -= text.length;
  }
  return left >= 0;
};

const topic0 = bounded(
  z
    .array(
      z.string().refine((text) => parseEventSignature(text) !== undefined, {
        error:
          'should be an event signature, e.g. Transfer(address,address,uint256), or its 32-byte hash',
      }),
    )
    .max(1000, { error: 'should list at most 1000 events' }),
  (given) => areShort(given, (each) => each),
  tooLong('events'),
);

const FUNCTION_EXPECTED =
  'should be a function signature, e.g. transfer(address,uint256), its 4-byte selector, an ABI item of a function, or *';

/** Reads a function from text, or from an ABI item, which becomes text with the names of its inputs. */
const functionName = z
  .unknown()
  .transform((given, context): string => {
    const text = typeof given === 'object' ? textOf(given) : given;
    const isNamed =
      typeof text === 'string' &&
      (text === ANY_FUNCTION || parseFunctionSignature(text) !== undefined);
    if (isNamed) return text;
    context.addIssue({ code: 'custom', message: FUNCTION_EXPECTED, input: given });
    return z.NEVER;
  })
  .meta({ anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/AbiItem' }] });

function textOf(item: unknown): string | undefined {
  const read = functionSchema.safeParse(item).data;
  return read?.type === 'function' ? writeFunction(read) : undefined;
}

const functions = bounded(
  typed(
    '(string | AbiItem)[]',
    z.array(functionName).max(1000, { error: 'should list at most 1000 functions' }),
  ),
  (given) => areShort(given, (each) => each),
  tooLong('functions'),
);

const advancedOptions = bounded(
  z.array(advancedOptionSchema).max(1000, { error: 'should have at most 1000 entries' }),
  (options) =>
    areShort(options, (each) => {
      const { topic0, function: called } = (each ?? {}) as Partial<AdvancedOption>;
      return topic0 ?? called;
    }),
  tooLong('events and functions'),
);

export const evmFields = {
  id,
  ...destinationFields,
  tag: { ...tag, accepts: given(tag.accepts) },
  chainIds: {
    kind: 'list',
    description: 'Hex chain IDs, e.g. `["0x1", "0x89"]`; at least one.',
    accepts: chainIds,
    isRequired: true,
    returns: z.array(z.string().meta({ description: 'Chain ID in hex', examples: ['0x1'] })),
    flag: { syntax: '--chain <id...>', help: 'EVM chains, e.g. 0x1 137' },
    label: 'Chains',
  },
  topic0: {
    kind: 'list',
    description:
      'Event signatures, as text (`Transfer(address,address,uint256)`) or as a 32-byte hash.',
    accepts: givenOrNull(topic0),
    returns: z.array(z.string()).nullable(),
    default: null,
    isTried: true,
    flag: {
      syntax: '--event <signature...>',
      help: "Events, e.g. 'Transfer(address,address,uint256)'; on Aptos by Move path",
    },
    label: 'Events',
  },
  allAddresses: boolean({
    description: 'Match every address; needs `topic0`, `functions` or `advancedOptions`.',
    isTried: true,
    flag: {
      syntax: '--all-addresses',
      help: 'Match all addresses; requires --event or --function',
    },
    label: 'All addresses',
  }),
  includeContractLogs: boolean({
    description: 'Logs that a watched address emitted or that contain it in a topic.',
    isTried: true,
    flag: { syntax: '--logs', help: 'Include contract logs' },
    label: 'Logs',
    input: { part: 'match', hint: 'with a watched address' },
  }),
  includeNativeTxs: boolean({
    description: 'Transactions from or to a watched address.',
    isTried: true,
    flag: { syntax: '--native', help: 'Include native transactions' },
    label: 'Transactions',
    input: { part: 'match', hint: 'from or to a watched address' },
  }),
  includeInternalTxs: boolean({
    description: 'Calls inside transactions that move value.',
    isTried: true,
    flag: { syntax: '--internal', help: 'Include internal transactions' },
    label: 'Internal transactions',
    input: { part: 'match', hint: 'calls that transfer value; requires a tracing node' },
  }),
  includeAllTxLogs: boolean({
    description: 'Every log of each matched transaction.',
    isTried: true,
    label: 'All logs of each matched transaction',
    input: { part: 'match', hint: '' },
  }),
  functions: {
    kind: 'list',
    description:
      'Functions whose calls to a watched address match: signatures (`transfer(address to, uint256 amount)`), 4-byte selectors, ABI items, or `*` for every call. Requests may contain ABI items, which are stored as signatures.',
    isSluiceOnly: true,
    accepts: givenOrNull(functions),
    returns: z.array(z.string()).nullable(),
    default: null,
    isTried: true,
    flag: {
      syntax: '--function <signature...>',
      help: "Functions, e.g. 'transfer(address to, uint256 amount)'; on Aptos by Move path",
    },
    label: 'Functions',
  },
  transactionStatus: {
    kind: 'choice',
    description:
      '`failed`: only calls that were undone; `any`: all calls of `functions`. Default: `success`.',
    isSluiceOnly: true,
    accepts: given(transactionStatus),
    returns: transactionStatus,
    default: 'success',
    isTried: true,
    flag: {
      syntax: '--transaction-status <which>',
      help: 'Calls of --function to match: success, failed or any',
    },
    label: 'Transaction status',
  },
  includeInternalCalls: boolean({
    description: 'Calls of `functions` inside transactions, too, with or without value.',
    isSluiceOnly: true,
    isTried: true,
    flag: { syntax: '--internal-calls', help: 'Match calls inside transactions, too' },
    label: 'Internal calls',
  }),
  includeCaller: boolean({
    description: 'Adds the sender and the decoded call of its transaction to each log.',
    isSluiceOnly: true,
    isTried: true,
    flag: { syntax: '--caller', help: "Add the sender and the call of each log's transaction" },
    label: 'Caller of each log',
    input: { part: 'match', hint: 'sender and call of its transaction' },
  }),
  includeMatched: boolean({
    description:
      'Adds the watched addresses that matched to webhooks, with their labels and the rules that selected their records.',
    isSluiceOnly: true,
    isTried: true,
    flag: { syntax: '--matched', help: 'Add the addresses, labels and rules that matched' },
    label: 'Matched addresses',
    input: { part: 'match', hint: 'with their labels and rules' },
  }),
  factories: {
    kind: 'list',
    description:
      'Factories whose children the stream watches, like its addresses: from the block of the log that has their address, on its chain.',
    isSluiceOnly: true,
    accepts: givenOrNull(factoriesSchema),
    returns: z.array(factorySchema).nullable(),
    default: null,
    isTried: true,
    label: 'Factories',
  },
  reads: {
    kind: 'list',
    description:
      'Values on chain that are read in the state of each block, and sent when their condition holds. A stream may have nothing else.',
    isSluiceOnly: true,
    accepts: givenOrNull(readsSchema),
    returns: readsSchema.nullable(),
    default: null,
    isTried: true,
    label: 'Reads',
  },
  getNativeBalances: {
    kind: 'list',
    description: 'Native balances to include.',
    accepts: givenOrNull(
      z.array(nativeBalanceSelectionSchema).max(32, { error: 'should have at most 32 entries' }),
    ),
    returns: z.array(nativeBalanceSelectionSchema),
    default: [],
    isTried: true,
    label: 'Native balances',
  },
  abi: {
    kind: 'list',
    description:
      'Event items for decoding; included in each webhook. Requests may instead contain an artifact that has them in `abi`, or JSON text.',
    accepts: typed('AbiItem[] | null', givenOrNull(abiSchema)),
    returns: z.array(abiItemSchema).nullable(),
    default: null,
    isTried: true,
    flag: { syntax: '--abi <file>', help: 'JSON file with the ABI for decoding events' },
    label: 'ABI',
  },
  advancedOptions: {
    kind: 'list',
    description: 'Filters on events and functions.',
    accepts: givenOrNull(advancedOptions),
    returns: z.array(advancedOptionSchema).nullable(),
    default: null,
    isTried: true,
    label: 'Filters',
  },
  demo,
  triggers: {
    kind: 'list',
    description: 'Read-only calls made for each record of a kind.',
    accepts: givenOrNull(
      z.array(triggerSchema).max(32, { error: 'should have at most 32 triggers' }),
    ),
    returns: z.array(triggerSchema).nullable(),
    default: null,
    isTried: true,
    label: 'Triggers',
  },
  filterPossibleSpamAddresses: boolean({
    description: 'Leaves out records of contracts on the spam list of their chain.',
    isTried: true,
    label: 'Exclude possible spam',
    input: { part: 'match', hint: 'based on a list per chain' },
  }),
  deliver: {
    kind: 'choice',
    description: '`confirmed`: nothing is sent when the block appears. Default: `both`.',
    isSluiceOnly: true,
    accepts: given(deliverMode),
    returns: deliverMode,
    default: 'both',
    flag: { syntax: '--deliver <which>', help: 'Phases to deliver: both or confirmed' },
    label: 'Deliver',
    input: {
      part: 'deliver',
      label: 'Confirmed only',
      hint: 'otherwise each match is sent twice: at once and when confirmed',
      checked: 'confirmed',
    },
  },
  confirmations: {
    kind: 'text',
    description:
      "When matches are confirmed: `latest` at once, so that only the confirmed webhook is sent; `safe` or `finalized` with that block of the chain; or after a number of blocks, 0 to 8,192. Null, the default, means the chain's own.",
    isSluiceOnly: true,
    accepts: confirmations.nullish(),
    returns: confirmations.nullable(),
    default: null,
    flag: {
      syntax: '--confirmations <when>',
      help: "When matches are confirmed: latest, safe, finalized, or a number of blocks; default: the chain's own",
    },
    label: 'Confirmations',
  },
  notifyRemoved: boolean({
    description:
      'Sends a removal webhook (`removed: true`) for each sent delivery whose block left the chain.',
    isSluiceOnly: true,
    flag: { syntax: '--notify-removed', help: 'Send a removal webhook after a reorg' },
    label: 'Removal webhooks',
    input: { part: 'deliver', hint: 'one for each sent webhook whose block leaves the chain' },
  }),
  unverified: {
    kind: 'choice',
    description:
      '`hold`: webhooks of unverified blocks are held until another node confirms the block, or until they are released. Default: `send`, with the header `x-sluice-unverified`.',
    isSluiceOnly: true,
    accepts: given(unverifiedMode),
    returns: unverifiedMode,
    default: 'send',
    flag: {
      syntax: '--unverified <how>',
      help: 'Webhooks of unverified blocks: send, or hold until confirmed',
    },
    label: 'Unverified blocks',
    input: {
      part: 'deliver',
      label: 'Hold unverified blocks',
      hint: 'until another node confirms the block, or you release it; otherwise sent at once, marked',
      checked: 'hold',
    },
  },
  includeProofs: boolean({
    description: "Adds a proof of each transaction's receipt to webhooks, on proven chains.",
    isSluiceOnly: true,
    flag: { syntax: '--proofs', help: 'Add proofs of receipts to webhooks, on proven chains' },
  }),
  ...deliveryFields,
  ...statusFields,
  createdAt: {
    kind: 'text',
    description: 'ISO 8601.',
    isReadOnly: true,
    returns: z.iso.datetime(),
  },
  updatedAt: {
    kind: 'text',
    description: 'ISO 8601.',
    isReadOnly: true,
    returns: z.iso.datetime(),
  },
  amountOfAddresses,
} as const satisfies Fields;
