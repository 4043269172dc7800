/** Converts monitors of OpenZeppelin Monitor to streams. */
import { basename } from 'node:path';
import {
  ANY_FUNCTION,
  type AbiItem,
  itemSignature,
  parseFunctionSignature,
  readAbi,
  toAddress,
  toChainId,
  writeFunction,
} from '@sluice/kit/contract';
import type { Fields } from '../streams/streamFields.ts';
import { CommandError } from '../terminal/errors.ts';
import { type Comparison, convertExpression } from './expression.ts';
import {
  CONTRACT,
  type Filter,
  type Operator,
  UnmappedError,
  allOf,
  compareInput,
  isOneOf,
} from './filters.ts';
import type { ImportedRule, RuleFile, Unmapped } from './importedRule.ts';

/**
 * Converts the monitors of these files, with the chain IDs of the networks in the other files.
 *
 * @throws CommandError `invalid_file`
 */
export function importMonitors(files: readonly RuleFile[], webhookUrl: string): ImportedRule[] {
  const networks = new Map<string, Fields>();
  const monitors: Monitor[] = [];
  for (const file of files) {
    const content = file.object(file.content, '');
    if ('network_type' in content) networks.set(file.text(content['slug'], 'slug'), content);
    else if ('match_conditions' in content) monitors.push(createMonitor(file, content));
    else {
      throw new CommandError(
        'invalid_file',
        `${file.path}: the content is neither a monitor, with match_conditions, nor a network, with network_type`,
        'pass the files of config/monitors and config/networks',
      );
    }
  }
  return monitors.map((monitor) => convertMonitor(monitor, networks, webhookUrl));
}

/** A monitor, and the parts of it that streams lack. */
interface Monitor {
  readonly file: RuleFile;
  readonly content: Fields;
  readonly unmapped: Unmapped[];
  skip(field: string, why: string): void;
  /** Returns the entries of a list in `match_conditions`. */
  conditionsOf(kind: 'functions' | 'events' | 'transactions'): readonly Condition[];
}

interface Condition {
  readonly field: string;
  readonly content: Fields;
  readonly expression: string | undefined;
}

function createMonitor(file: RuleFile, content: Fields): Monitor {
  const unmapped: Unmapped[] = [];
  const match = file.object(content['match_conditions'], 'match_conditions');
  return {
    file,
    content,
    unmapped,
    skip: (field, why) => void unmapped.push({ field, why }),
    conditionsOf: (kind) =>
      file.list(match[kind], `match_conditions.${kind}`).map((each, n) => {
        const field = `match_conditions.${kind}.${n}`;
        const condition = file.object(each, field);
        const expression = file.optionalText(condition['expression'], `${field}.expression`);
        return { field, content: condition, expression };
      }),
  };
}

/** Fields of a monitor that are imported. */
const IMPORTED = ['name', 'networks', 'addresses', 'match_conditions', 'triggers'];

/** Advice about other fields that are set. */
const ADVICE: Readonly<Record<string, string>> = {
  paused: 'after apply, pause the stream with sluice streams pause',
  trigger_conditions: 'run these scripts in your webhook handler',
};

function convertMonitor(
  monitor: Monitor,
  networks: ReadonlyMap<string, Fields>,
  webhookUrl: string,
): ImportedRule {
  const { file, content, unmapped, skip } = monitor;
  const name = file.text(content['name'], 'name');
  const rule = { file: file.path, name, unmapped, stream: undefined };
  const chainIds = readChains(monitor, networks);
  if (chainIds.length === 0) return rule;

  const contracts = readContracts(monitor);
  const transactions = readTransactions(monitor);
  const calls = convertFunctions(monitor, contracts, transactions);
  const logs = convertEvents(monitor, contracts, transactions);
  const options = [...calls, ...logs.options];
  if (monitor.conditionsOf('functions').length + monitor.conditionsOf('events').length === 0) {
    options.push(...transactions.map((each) => toCall(ANY_FUNCTION, undefined, each)));
    skip(
      'match_conditions',
      'only transactions to the addresses match. For those that they send, add includeNativeTxs; for those in which they emit logs, add includeContractLogs',
    );
  }
  const triggers = file.list(content['triggers'], 'triggers').length;
  if (triggers > 1) {
    skip(
      'triggers',
      `the ${triggers} receivers become the one at --url. After apply, add the others with sluice destinations add`,
    );
  }
  for (const [field, value] of Object.entries(content)) {
    const isSet = Array.isArray(value) ? value.length > 0 : value !== null && value !== false;
    if (isSet && !IMPORTED.includes(field))
      skip(field, ADVICE[field] ?? 'streams have no such field');
  }
  if (contracts.addresses.length === 0 || options.length === 0) return rule;
  return {
    ...rule,
    stream: {
      tag: name,
      fields: {
        tag: name,
        description: `Imported from ${basename(file.path)}`,
        webhookUrl,
        chainIds,
        ...(logs.options.length > 0 && { includeContractLogs: true, abi: logs.abi }),
        advancedOptions: options,
      },
      addresses: contracts.addresses.map((address) => ({ address })),
    },
  };
}

function readChains(
  { file, content, skip }: Monitor,
  networks: ReadonlyMap<string, Fields>,
): string[] {
  const chains = file.list(content['networks'], 'networks').flatMap((each, n) => {
    const field = `networks.${n}`;
    const slug = file.text(each, field);
    const network = networks.get(slug);
    const isEvm = network?.['network_type'] === 'EVM';
    const chainId = isEvm ? toChainId(network['chain_id']) : undefined;
    if (chainId !== undefined) return chainId;
    if (network === undefined)
      skip(field, `${slug} is unknown: also pass the file of this network`);
    else
      skip(field, isEvm ? `the file of ${slug} has no chain_id` : `${slug} is not an EVM network`);
    return [];
  });
  return [...new Set(chains)];
}

/** An item of ABIs, and the contracts that have it. */
interface Declared {
  readonly item: AbiItem;
  readonly addresses: string[];
}

interface Contracts {
  /** In lowercase. */
  readonly addresses: readonly string[];
  readonly declared: readonly Declared[];
}

function readContracts({ file, content, skip }: Monitor): Contracts {
  const addresses = new Set<string>();
  const declared = new Map<string, Declared>();
  for (const [n, each] of file.list(content['addresses'], 'addresses').entries()) {
    const contract = file.object(each, `addresses.${n}`);
    const given = file.text(contract['address'], `addresses.${n}.address`);
    const address = toAddress(/^0x/i.test(given) ? given : `0x${given}`);
    if (address === undefined) skip(`addresses.${n}.address`, 'this is not an EVM address');
    if (address === undefined || addresses.has(address)) continue;
    addresses.add(address);
    const spec = file.list(contract['contract_spec'], `addresses.${n}.contract_spec`);
    const items = new Map((readAbi(spec)?.items ?? []).map((item) => [JSON.stringify(item), item]));
    for (const [key, item] of items) {
      const known = declared.get(key) ?? { item, addresses: [] };
      known.addresses.push(address);
      declared.set(key, known);
    }
  }
  if (addresses.size === 0) skip('addresses', 'monitors without addresses match nothing');
  return { addresses: [...addresses], declared: [...declared.values()] };
}

/** Status and filter of a transaction. */
interface TransactionCondition {
  readonly status: string;
  readonly filter: Filter | undefined;
}

const STATUSES = new Map([
  ['Any', 'any'],
  ['Success', 'success'],
  ['Failure', 'failed'],
]);

/** The values of a transaction that filters of calls read. */
const TRANSACTION: AbiItem = {
  type: 'function',
  name: 'transaction',
  inputs: [
    { name: 'sluice_sender', type: 'address' },
    { name: CONTRACT, type: 'address' },
    { name: 'sluice_value', type: 'uint256' },
  ],
};

/** Their names in expressions. */
const TRANSACTION_NAMES = new Map([
  ['from', 'sluice_sender'],
  ['to', CONTRACT],
  ['value', 'sluice_value'],
]);

function readTransactions(monitor: Monitor): readonly TransactionCondition[] {
  const conditions = monitor.conditionsOf('transactions');
  if (conditions.length === 0) return [{ status: 'any', filter: undefined }];
  return conditions.flatMap((condition) => {
    const { field, content } = condition;
    const text = monitor.file.optionalText(content['status'], `${field}.status`) ?? 'Any';
    const status = STATUSES.get(text);
    const filter = toFilter(monitor, condition, (each) => {
      const name = TRANSACTION_NAMES.get(each.name);
      if (name === undefined) throw new UnmappedError(`filters cannot read ${each.name}`);
      return compare({ ...each, name }, [TRANSACTION]);
    });
    if (status !== undefined) return { status, filter };
    monitor.skip(`${field}.status`, `${text} is not a status`);
    return [];
  });
}

const toCall = (
  called: string,
  filter: Filter | undefined,
  { status, filter: outer }: TransactionCondition,
): Fields => {
  const both = allOf([filter, outer]);
  return {
    function: called,
    ...(both !== undefined && { filter: both }),
    transactionStatus: status,
  };
};

function convertFunctions(
  monitor: Monitor,
  contracts: Contracts,
  transactions: readonly TransactionCondition[],
): Fields[] {
  return monitor.conditionsOf('functions').flatMap((condition) =>
    findItems(monitor, contracts, condition, 'function').flatMap(({ item, addresses }) => {
      const named = parseFunctionSignature(writeFunction(item))?.item ?? item;
      const filter = toFilter(monitor, condition, (each) => compare(each, [named]));
      const isShared = addresses.length === contracts.addresses.length;
      const both = allOf([isShared ? undefined : isOneOf(CONTRACT, addresses), filter]);
      return transactions.map((each) => toCall(writeFunction(named), both, each));
    }),
  );
}

function convertEvents(
  monitor: Monitor,
  contracts: Contracts,
  transactions: readonly TransactionCondition[],
): { options: Fields[]; abi: AbiItem[] } {
  const successful = transactions.filter(({ status }) => status !== 'failed');
  const abi = new Set<AbiItem>();
  const options = monitor.conditionsOf('events').flatMap((condition) => {
    const found = findItems(monitor, contracts, condition, 'event');
    const [first] = found;
    if (first === undefined) return [];
    if (successful.length === 0) {
      monitor.skip(condition.field, 'failed transactions have no events');
      return [];
    }
    if (successful.every(({ filter }) => filter !== undefined)) {
      monitor.skip(condition.field, 'filters of events cannot check match_conditions.transactions');
    }
    const items = found.map(({ item }) => item);
    const filter = toFilter(monitor, condition, (each) => compare(each, items));
    for (const item of items) abi.add(item);
    // Logs of other contracts that name an address in a topic would match, too.
    const emitters = isOneOf(
      CONTRACT,
      found.flatMap(({ addresses }) => addresses),
    );
    return { topic0: itemSignature(first.item), filter: allOf([emitters, filter]) };
  });
  return { options, abi: [...abi] };
}

/** Returns the items with the signature of the condition. Monitors ignore case and spaces in it. */
function findItems(
  { file, skip }: Monitor,
  { declared }: Contracts,
  { field, content }: Condition,
  type: 'function' | 'event',
): Declared[] {
  const signature = file.text(content['signature'], `${field}.signature`);
  const wanted = signature.replaceAll(/\s/g, '').toLowerCase();
  const found = declared.filter(
    ({ item }) => item.type === type && itemSignature(item).toLowerCase() === wanted,
  );
  if (found.length === 0) skip(`${field}.signature`, `no contract_spec declares ${signature}`);
  return found;
}

/** Returns the filter of the condition's expression; undefined if it always passes. */
function toFilter(
  { skip }: Monitor,
  { field, expression }: Condition,
  convert: (comparison: Comparison) => Filter | undefined,
): Filter | undefined {
  if (expression === undefined) return undefined;
  try {
    return convertExpression(expression, convert, (part, why) =>
      skip(`${field}.expression`, `${part}: ${why}`),
    );
  } catch (error) {
    if (!(error instanceof UnmappedError)) throw error;
    skip(`${field}.expression`, error.message);
    return undefined;
  }
}

const OPERATORS = new Map<string, Operator>([
  ['==', 'eq'],
  ['!=', 'ne'],
  ['>', 'gt'],
  ['>=', 'gte'],
  ['<', 'lt'],
  ['<=', 'lte'],
]);

/** @throws UnmappedError */
function compare(
  { name, path, operator, value }: Comparison,
  items: readonly AbiItem[],
): Filter | undefined {
  if (path !== '') throw new UnmappedError('filters cannot read parts of arrays and tuples');
  const own = OPERATORS.get(operator);
  if (own === undefined) throw new UnmappedError(`filters have no ${operator}`);
  const isText = items.some(({ inputs }) =>
    inputs?.some((input) => input.name === name && input.type === 'string'),
  );
  if (isText && value.toLowerCase() !== value.toUpperCase()) {
    throw new UnmappedError('monitors ignore the case of text, filters do not');
  }
  return compareInput(items, name, own, value);
}
