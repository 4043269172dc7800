/** Defines the draft of a stream: the contents of the stream's form. */
import type { AbiItem, NetworkType, RecordKind, StreamTrigger } from '@sluice/kit';
import { eventSignature } from '@sluice/kit/contract';
import { NEW_PLAIN, type PlainDraft } from './plainFields.ts';
import type { OAuth2Draft } from '../oauth2/oauth2Draft.ts';

export const OPERATORS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const;

export type Operator = (typeof OPERATORS)[number];

export const OPERATOR_WORDS: Record<Operator, string> = {
  eq: 'is',
  ne: 'is not',
  gt: 'more than',
  gte: 'at least',
  lt: 'less than',
  lte: 'at most',
};

/** Name by which filters refer to the contract that emits an event, as if it were a parameter. */
export const EMITTER = 'moralis_streams_contract_address';

/**
 * A condition on a parameter of an event or on the emitting contract, such as `value gte 1000000`.
 */
export interface Condition {
  name: string;
  operator: Operator;
  value: string;
}

export interface EventRule {
  /** Canonical signature, or the hash if the signature is unknown. */
  signature: string;
  conditions: Condition[];
  /**
   * JSON of a filter that cannot be shown as conditions joined by `and`; null for other filters.
   */
  filterJson: string | null;
}

/** A trigger as typed in the form: a read-only contract call for each record of a kind. */
export interface TriggerDraft {
  type: StreamTrigger['type'];
  contractAddress: string;
  /**
   * Function in Solidity syntax, such as
   * `function balanceOf(address owner) view returns (uint256)`, or as JSON.
   */
  function: string;
  /** Arguments or selectors, one for each parameter. Arrays and structs are JSON arrays. */
  inputs: string[];
  /** Event of a log trigger; empty for all events. */
  topic0: string;
  /** Sender of the call; empty for none. */
  callFrom: string;
}

/**
 * Selectors of addresses in records of a kind. The native balances of these addresses are added to
 * the body.
 */
export interface BalanceDraft {
  type: RecordKind;
  selectors: string[];
}

export interface StreamDraft extends PlainDraft {
  family: NetworkType;
  /** Ids of EVM chains, or names of Aptos networks. */
  chains: string[];
  /** Text of the address field; only used for new streams. */
  addresses: string;
  abi: AbiItem[];
  rules: EventRule[];
  triggers: TriggerDraft[];
  balances: BalanceDraft[];
  /** Move paths of functions, one per line. */
  functions: string;
  /** Move paths of event types, one per line. */
  moveEvents: string;
  webhookUrl: string;
  tag: string;
  description: string;
  /** Headers as `name: value`, one per line. */
  headers: string;
  oauth2: OAuth2Draft | null;
  /** Retries as typed, such as `short` or `30s, 5m`. */
  retries: string;
}

export const NEW_DRAFT: StreamDraft = {
  ...NEW_PLAIN,
  family: 'evm',
  chains: [],
  addresses: '',
  abi: [],
  rules: [],
  includeContractLogs: true,
  triggers: [],
  balances: [],
  functions: '',
  moveEvents: '',
  includeEvents: true,
  webhookUrl: '',
  tag: '',
  description: '',
  headers: '',
  oauth2: null,
  retries: 'standard',
};

/**
 * Transfer event of an ERC-20 token. Without an ABI, its signature also matches ERC-721 transfers.
 */
export const ERC20_TRANSFER =
  'event Transfer(address indexed from, address indexed to, uint256 value)';

/** Common events, with the ABI that decodes them. */
export const TEMPLATES: readonly { name: string; abi: string }[] = [
  {
    name: 'ERC-20 transfer',
    abi: ERC20_TRANSFER,
  },
  {
    name: 'ERC-20 approval',
    abi: 'event Approval(address indexed owner, address indexed spender, uint256 value)',
  },
  {
    name: 'ERC-1155 transfer',
    abi: 'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  },
  {
    name: 'Uniswap v3 swap',
    abi: 'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  },
];

/**
 * Returns the ABI item of an event. Unlike the signature, it contains the names of the parameters.
 */
export const itemOf = (abi: readonly AbiItem[], signature: string): AbiItem | undefined =>
  abi.find((item) => item.type === 'event' && eventSignature(item) === signature);

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Adds events to the ABI of a draft, and selects all of them. */
export function withEvents(draft: StreamDraft, items: readonly AbiItem[]): StreamDraft {
  const known = new Set(draft.abi.filter(isEvent).map(eventSignature));
  const fresh = items.filter((item) => isEvent(item) && !known.has(eventSignature(item)));
  return items.filter(isEvent).reduce((next, item) => withRule(next, eventSignature(item)), {
    ...draft,
    abi: [...draft.abi, ...fresh],
  });
}

export function withRule(draft: StreamDraft, signature: string): StreamDraft {
  if (draft.rules.some((rule) => rule.signature === signature)) return draft;
  return { ...draft, rules: [...draft.rules, { signature, conditions: [], filterJson: null }] };
}

export const withoutRule = (draft: StreamDraft, signature: string): StreamDraft => ({
  ...draft,
  rules: draft.rules.filter((rule) => rule.signature !== signature),
});

export const isEvent = (item: AbiItem): boolean => item.type === 'event';
