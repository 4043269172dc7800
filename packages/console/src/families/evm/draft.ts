/** The part of the draft of a stream that only EVM streams have. */
import type { AbiItem, AdvancedOption, RecordKind, StreamTrigger } from '@sluice/kit';
import { itemSignature } from '@sluice/kit/contract';

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

export interface EvmDraft {
  abi: AbiItem[];
  rules: EventRule[];
  /** Functions as signatures or selectors, one per line. */
  calledFunctions: string;
  /** Filters on functions, which the form keeps but does not show. */
  functionOptions: readonly AdvancedOption[];
  triggers: TriggerDraft[];
  balances: BalanceDraft[];
  /** Confirmations as typed, such as `safe` or `20`; empty for those of the chain. */
  confirmations: string;
}

export const NEW_EVM_DRAFT: EvmDraft = {
  abi: [],
  rules: [],
  calledFunctions: '',
  functionOptions: [],
  triggers: [],
  balances: [],
  confirmations: '',
};

/** Returns whether a draft selects functions. */
export const selectsFunctions = ({
  calledFunctions,
  functionOptions,
}: Pick<EvmDraft, 'calledFunctions' | 'functionOptions'>): boolean =>
  calledFunctions.trim() !== '' || functionOptions.length > 0;

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
  abi.find((item) => item.type === 'event' && itemSignature(item) === signature);

/** Adds events to the ABI of a draft, and selects all of them. */
export function withEvents<Draft extends EvmDraft>(draft: Draft, items: readonly AbiItem[]): Draft {
  const known = new Set(draft.abi.filter(isEvent).map(itemSignature));
  const fresh = items.filter((item) => isEvent(item) && !known.has(itemSignature(item)));
  return items.filter(isEvent).reduce<Draft>((next, item) => withRule(next, itemSignature(item)), {
    ...draft,
    abi: [...draft.abi, ...fresh],
  });
}

export function withRule<Draft extends EvmDraft>(draft: Draft, signature: string): Draft {
  if (draft.rules.some((rule) => rule.signature === signature)) return draft;
  return { ...draft, rules: [...draft.rules, { signature, conditions: [], filterJson: null }] };
}

export const withoutRule = <Draft extends EvmDraft>(draft: Draft, signature: string): Draft => ({
  ...draft,
  rules: draft.rules.filter((rule) => rule.signature !== signature),
});

export const isEvent = (item: AbiItem): boolean => item.type === 'event';
