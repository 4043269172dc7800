/** The part of the draft of a stream that only EVM streams have. */
import type { AbiItem, RecordKind, StreamTrigger } from '@sluice/kit';
import {
  itemSignature,
  parseFunctionSignature,
  type TransactionStatus,
} from '@sluice/kit/contract';

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

/**
 * Name by which filters refer to the contract that emits an event or is called, as if it were a
 * parameter.
 */
export const EMITTER = 'moralis_streams_contract_address';

/**
 * A condition on a parameter of an event or function, or on a special name, such as
 * `value gte 1000000`.
 */
export interface Condition {
  name: string;
  operator: Operator;
  value: string;
}

/** Conditions on the logs of an event or the calls of a function. */
export interface FilterRule {
  /** The event or function. */
  signature: string;
  conditions: Condition[];
  /**
   * JSON of a filter that cannot be shown as conditions joined by `and`; null for other filters.
   */
  filterJson: string | null;
}

/**
 * A rule for an event: its canonical signature, or the hash if the signature is unknown. An event can
 * have several rules, of which one must hold.
 */
export type EventRule = FilterRule;

/** A rule for a function: its signature, selector or `*`. */
export interface CallRule extends FilterRule {
  /** Outcome of the calls; empty for that of the stream. */
  transactionStatus: TransactionStatus | '';
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

/** A factory as typed in the form: a contract whose logs name the contracts that it creates. */
export interface FactoryDraft {
  /** Address of the factory; unused with `childrenOf`. */
  address: string;
  /** Position of the earlier factory whose children are factories; null for `address`. */
  childrenOf: number | null;
  /** Signature with the names of its parameters, or a name or signature in the ABI. */
  event: string;
  /** Name of the parameter with the child's address; `pool.token` for one inside a tuple. */
  parameter: string;
  /** First block whose children are watched; empty for new children only. */
  from: string;
}

export type ConditionKind = 'changes' | 'blocks' | 'seconds' | 'below' | 'above' | 'crosses';

/** A value on chain as typed in the form. */
export interface ReadDraft {
  source: 'function' | 'native' | 'token';
  /** The contract of the function, or the token. */
  contract: string;
  /** Signature with outputs, or a name or signature in the ABI. */
  function: string;
  /** Arguments, one for each parameter. Arrays and structs are JSON arrays. */
  arguments: string[];
  /** Name or position of an output; empty for the only one, or all of them. */
  output: string;
  /** Accounts of the balance, one per line; empty for the addresses of the stream. */
  of: string;
  /** Decimals of the threshold's unit; empty for those of the value. */
  decimals: string;
  /** `limit` is the interval or the threshold; unused with `changes`. */
  when: { kind: ConditionKind; limit: string };
}

export interface EvmDraft {
  factories: FactoryDraft[];
  reads: ReadDraft[];
  abi: AbiItem[];
  rules: EventRule[];
  /** Functions as signatures or selectors, one per line. */
  calledFunctions: string;
  callRules: CallRule[];
  triggers: TriggerDraft[];
  balances: BalanceDraft[];
  /** Confirmations as typed, such as `safe` or `20`; empty for those of the chain. */
  confirmations: string;
}

export const NEW_EVM_DRAFT: EvmDraft = {
  factories: [],
  reads: [],
  abi: [],
  rules: [],
  calledFunctions: '',
  callRules: [],
  triggers: [],
  balances: [],
  confirmations: '',
};

/** Returns whether a draft selects functions. */
export const selectsFunctions = ({
  calledFunctions,
  callRules,
}: Pick<EvmDraft, 'calledFunctions' | 'callRules'>): boolean =>
  calledFunctions.trim() !== '' || callRules.length > 0;

/**
 * Transfer event of an ERC-20 token. Without an ABI, its signature also matches ERC-721 transfers.
 */
export const ERC20_TRANSFER =
  'event Transfer(address indexed from, address indexed to, uint256 value)';

/** Swap event of a Uniswap v3 pool. */
export const UNISWAP_V3_SWAP =
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)';

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
    abi: UNISWAP_V3_SWAP,
  },
];

/** Values that the conditions of a rule can compare. */
export type Inputs = readonly { name: string; type: string }[];

/** Returns the parameters of an event, whose names are in the ABI only. */
export const inputsOfEvent = (abi: readonly AbiItem[], signature: string): Inputs =>
  abi.find((item) => item.type === 'event' && itemSignature(item) === signature)?.inputs ?? [];

/** Values of a call that conditions can compare, besides the arguments. */
const INPUTS_OF_CALLS: Inputs = [
  { name: 'sluice_sender', type: 'address' },
  { name: 'sluice_value', type: 'uint256' },
];

/**
 * Returns the sender, the value and the arguments of a call. Arguments have the names in the
 * signature or, without names, those in the ABI.
 */
export function inputsOfCall(abi: readonly AbiItem[], signature: string): Inputs {
  const { selector, item } = parseFunctionSignature(signature) ?? {};
  const isNamed = item?.inputs?.some(({ name }) => name !== '') ?? false;
  const known = abi.find(
    (each) =>
      each.type === 'function' &&
      parseFunctionSignature(itemSignature(each))?.selector === selector,
  );
  const { inputs = [] } = (isNamed ? item : known) ?? {};
  return [...INPUTS_OF_CALLS, ...inputs.filter(({ name }) => name !== '')];
}

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

/**
 * Events that tell of the token and NFT transfers of an account. Without an ABI, `Transfer` matches
 * both ERC-20 and ERC-721 transfers.
 */
const WALLET_EVENTS: readonly string[] = [
  'Transfer(address,address,uint256)',
  'TransferSingle(address,address,address,uint256,uint256)',
  'TransferBatch(address,address,address,uint256[],uint256[])',
];

/** Selects the token and NFT transfers of an account in a draft without rules. */
export const withWalletEvents = <Draft extends EvmDraft>(draft: Draft): Draft =>
  draft.rules.length > 0 ? draft : WALLET_EVENTS.reduce(withRule<Draft>, draft);

export const withoutRule = <Draft extends EvmDraft>(draft: Draft, signature: string): Draft => ({
  ...draft,
  rules: draft.rules.filter((rule) => rule.signature !== signature),
});

export const isEvent = (item: AbiItem): boolean => item.type === 'event';
