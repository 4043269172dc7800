/** Converts webhooks of thirdweb Insight to streams. */
import { basename } from 'node:path';
import {
  ANY_FUNCTION,
  type AbiItem,
  eventTopic,
  functionSelector,
  parseEventSignature,
  parseFunctionSignature,
  readAbi,
  toAddress,
  toChainId,
  writeFunction,
} from '@sluice/kit/contract';
import type { Fields } from '../streams/streamFields.ts';
import { CommandError } from '../terminal/errors.ts';
import { CONTRACT, type Filter, UnmappedError, allOf, compareInput, isOneOf } from './filters.ts';
import { type ImportedRule, type RuleFile, type Unmapped, isObject } from './importedRule.ts';

/**
 * Converts the webhooks of these files: bodies of requests that create webhooks, or responses that
 * list them.
 *
 * @param url replaces the URLs in the files
 * @throws CommandError `invalid_file`
 */
export const importInsightWebhooks = (
  files: readonly RuleFile[],
  url: string | undefined,
): ImportedRule[] =>
  files.flatMap((file) => {
    const isResponse = isObject(file.content) && 'data' in file.content;
    const content = isResponse ? file.content['data'] : file.content;
    if (!Array.isArray(content)) return convertWebhook({ file, content, path: [] }, url);
    return content.flatMap((each: unknown, n) =>
      convertWebhook({ file, content: each, path: [...(isResponse ? ['data'] : []), n] }, url),
    );
  });

interface Webhook {
  readonly file: RuleFile;
  readonly content: unknown;
  /** Position of the webhook in the file. */
  readonly path: readonly (string | number)[];
}

const TOPICS: Readonly<Record<string, (topic: Topic) => Converted | undefined>> = {
  'v1.events': convertEvents,
  'v1.transactions': convertTransactions,
};

function convertWebhook({ file, content, path }: Webhook, url: string | undefined): ImportedRule[] {
  const fieldOf = (...keys: string[]): string => [...path, ...keys].join('.');
  const webhook = file.object(content, fieldOf());
  const filters = file.object(webhook['filters'], fieldOf('filters'));
  const name =
    file.optionalText(webhook['name'], fieldOf('name')) ??
    [basename(file.path, '.json'), ...path].join(' ');
  const webhookUrl = url ?? file.optionalText(webhook['webhook_url'], fieldOf('webhook_url'));
  if (webhookUrl === undefined) {
    throw new CommandError(
      'invalid_file',
      `${file.path}: ${fieldOf('webhook_url')} is missing`,
      'pass the URL of your receiver with --url',
    );
  }
  const topics = Object.entries(filters);
  if (topics.length === 0) {
    throw new CommandError('invalid_file', `${file.path}: ${fieldOf('filters')} is empty`);
  }
  return topics.map(([key, value]) => {
    const tag = topics.length === 1 ? name : `${name} ${key}`;
    const unmapped: Unmapped[] = [];
    const field = fieldOf('filters', key);
    const rule: ImportedRule = { file: file.path, name: tag, unmapped, stream: undefined };
    const skip = (part: string, why: string): void => void unmapped.push({ field: part, why });
    const convert = TOPICS[key];
    if (convert === undefined) {
      skip(field, 'streams have no such topic');
      return rule;
    }
    if (webhook['disabled'] === true) {
      skip(fieldOf('disabled'), 'after apply, pause the stream with sluice streams pause');
    }
    const topic = createTopic({ file, content: file.object(value, field), field, skip });
    const chainIds = readChains(topic);
    const converted = convert(topic);
    if (chainIds.length === 0 || converted === undefined) return rule;
    const { addresses = [], fields } = converted;
    return {
      ...rule,
      stream: {
        tag,
        fields: {
          tag,
          description: `Imported from ${basename(file.path)}`,
          webhookUrl,
          chainIds,
          ...fields,
          ...(addresses.length === 0 && { allAddresses: true }),
        },
        addresses: addresses.length === 0 ? undefined : addresses.map((address) => ({ address })),
      },
    };
  });
}

/** The filters of one topic. */
interface Topic {
  readonly file: RuleFile;
  readonly content: Fields;
  readonly field: string;
  readonly signatures: readonly Signature[];
  skip(field: string, why: string): void;
}

interface Signature {
  readonly field: string;
  readonly hash: string;
  /** Items of all ABIs of the topic. */
  readonly abi: readonly AbiItem[];
  readonly params: readonly (readonly [name: string, value: unknown])[];
}

interface Converted {
  /** Empty for all addresses. */
  readonly addresses?: readonly string[];
  readonly fields: Fields;
}

function createTopic(given: Omit<Topic, 'signatures'>): Topic {
  const { file, content, field } = given;
  const abi: AbiItem[] = [];
  const signatures = file.list(content['signatures'], `${field}.signatures`).map((each, n) => {
    const at = `${field}.signatures.${n}`;
    const signature = file.object(each, at);
    const items = readAbi(file.optionalText(signature['abi'], `${at}.abi`))?.items ?? [];
    const known = new Set(abi.map((item) => JSON.stringify(item)));
    abi.push(...items.filter((item) => !known.has(JSON.stringify(item))));
    const { params } = signature;
    // The dashboard of thirdweb writes [] if there are none.
    const isEmpty = params === undefined || params === null || Array.isArray(params);
    return {
      field: at,
      hash: file.text(signature['sig_hash'], `${at}.sig_hash`),
      abi,
      params: isEmpty ? [] : Object.entries(file.object(params, `${at}.params`)),
    };
  });
  return { ...given, signatures };
}

function readChains({ file, content, field, skip }: Topic): string[] {
  const at = `${field}.chain_ids`;
  const chains = file.list(content['chain_ids'], at).flatMap((each, n) => {
    const chainId = toChainId(each);
    if (chainId === undefined) skip(`${at}.${n}`, 'this is not a chain ID');
    return chainId ?? [];
  });
  if (chains.length === 0) skip(at, 'a stream needs at least one chain');
  return [...new Set(chains)];
}

function readAddresses({ file, content, field }: Topic, key: string): string[] {
  const at = `${field}.${key}`;
  const addresses = file.list(content[key], at).map((each, n) => {
    const address = toAddress(each);
    if (address !== undefined) return address;
    throw new CommandError('invalid_file', `${file.path}: ${at}.${n} should be an address`);
  });
  return [...new Set(addresses)];
}

/** Returns the filter for `params`. */
const convertParams = (
  { skip }: Topic,
  { field, params }: Signature,
  items: readonly AbiItem[],
): Filter | undefined =>
  allOf(
    params.map(([name, value]) => {
      try {
        if (items.length === 0) throw new UnmappedError('abi does not declare the signature');
        if (typeof value === 'number' && !Number.isSafeInteger(value)) {
          throw new UnmappedError('write a large number as text, so that it is exact');
        }
        return compareInput(items, name, 'eq', String(value));
      } catch (error) {
        if (!(error instanceof UnmappedError)) throw error;
        skip(`${field}.params.${name}`, error.message);
        return undefined;
      }
    }),
  );

function convertEvents(topic: Topic): Converted | undefined {
  const { field, signatures, skip } = topic;
  const addresses = readAddresses(topic, 'addresses');
  const others = 'logs of other contracts that name an address in a topic match, too';
  if (signatures.length === 0 && addresses.length > 0) {
    skip(field, `without signatures, ${others}`);
    return { addresses, fields: { includeContractLogs: true } };
  }
  const abi = new Set<AbiItem>();
  const options = signatures.flatMap((signature) => {
    const event = parseEventSignature(signature.hash);
    if (event === undefined) {
      skip(`${signature.field}.sig_hash`, 'this is not the hash of an event');
      return [];
    }
    const items = signature.abi.filter(
      (item) => item.type === 'event' && eventTopic(item) === event.topic0,
    );
    for (const item of items) abi.add(item);
    const params = convertParams(topic, signature, items);
    const needsEmitters = addresses.length > 0;
    if (needsEmitters && items.length === 0)
      skip(`${signature.field}.abi`, `without it, ${others}`);
    const emitters = needsEmitters && items.length > 0 ? isOneOf(CONTRACT, addresses) : undefined;
    const filter = allOf([emitters, params]);
    return { topic0: event.topic0, ...(filter !== undefined && { filter }) };
  });
  if (options.length === 0) {
    skip(field, 'a stream needs an event or an address');
    return undefined;
  }
  return {
    addresses,
    fields: {
      includeContractLogs: true,
      ...(abi.size > 0 && { abi: [...abi] }),
      advancedOptions: options,
    },
  };
}

function convertTransactions(topic: Topic): Converted | undefined {
  const { field, signatures, skip } = topic;
  const senders = readAddresses(topic, 'from_addresses');
  // The documentation lists `to_addresses`, and has `addresses` in an example.
  const addresses = [
    ...new Set(['to_addresses', 'addresses'].flatMap((key) => readAddresses(topic, key))),
  ];
  if (senders.length > 0 && addresses.length > 0) {
    skip(
      `${field}.from_addresses`,
      'only transactions from these to to_addresses match; thirdweb does not document whether one of both would be enough',
    );
  }
  const sender = senders.length > 0 ? isOneOf('sluice_sender', senders) : undefined;
  const toCall = (called: string, params?: Filter): Fields => {
    const filter = allOf([sender, params]);
    return {
      function: called,
      ...(filter !== undefined && { filter }),
      transactionStatus: 'any',
    };
  };
  if (signatures.length === 0) {
    if (addresses.length > 0)
      return { addresses, fields: { advancedOptions: [toCall(ANY_FUNCTION)] } };
    if (senders.length === 0) {
      skip(field, 'a stream needs a function or an address');
      return undefined;
    }
    skip(`${field}.from_addresses`, 'transactions to these addresses match, too');
    return { addresses: senders, fields: { includeNativeTxs: true } };
  }
  const options = signatures.flatMap((signature) => {
    const selector = parseFunctionSignature(signature.hash)?.selector;
    if (selector === undefined) {
      skip(`${signature.field}.sig_hash`, 'this is not the selector of a function');
      return [];
    }
    const item = signature.abi.find(
      (each) => each.type === 'function' && functionSelector(each) === selector,
    );
    const named = item && parseFunctionSignature(writeFunction(item))?.item;
    const params = convertParams(topic, signature, named === undefined ? [] : [named]);
    return toCall(named === undefined ? selector : writeFunction(named), params);
  });
  return options.length === 0 ? undefined : { addresses, fields: { advancedOptions: options } };
}
