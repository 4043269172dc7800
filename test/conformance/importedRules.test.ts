/**
 * Compares imported monitors of OpenZeppelin Monitor with a plain evaluator of their expressions:
 * the stream matches whatever the monitor matches, and nothing else if the import reports no part
 * as unmapped.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  type AbiFunction,
  type Hex,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  parseAbi,
  toEventSignature,
  toFunctionSignature,
} from 'viem';
import { afterAll, expect, test } from 'vitest';
import { importMonitors } from '../../packages/cli/src/imports/openZeppelin.ts';
import { type ImportedRule, readRuleFile } from '../../packages/cli/src/imports/importedRule.ts';
import { createCallSelection } from '../../packages/service/src/families/evm/match/callSelection.ts';
import { checkRules } from '../../packages/service/src/families/evm/match/rules.ts';
import { createSelection } from '../../packages/service/src/families/evm/match/selection.ts';
import {
  DEFAULT_OPTIONS,
  type StreamOptions,
} from '../../packages/service/src/store/streams/contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

const CONTRACT: Hex = `0x${'aa'.repeat(20)}`;
const SENDERS: Hex[] = [`0x${'b1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];

const [FUNCTION, EVENT] = parseAbi([
  'function pay(uint256 amount, int64 change, address payee, bool isLast, bytes32 key, string note, uint8[] list)',
  'event Paid(uint256 amount, int64 change, address indexed payee, bool isLast, bytes32 key, string note, uint8[] list)',
]);

const anyArguments = fc.record({
  amount: fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })),
  change: fc.bigInt({ min: -3n, max: 3n }),
  payee: fc.constantFrom(...SENDERS),
  isLast: fc.boolean(),
  key: fc.constantFrom<Hex>(`0x${'0a'.repeat(32)}`, `0x${'0b'.repeat(32)}`),
  note: fc.constantFrom('', '12', 'Ab', 'AB'),
  list: fc.array(fc.nat(2), { maxLength: 2 }),
});
type Arguments = typeof anyArguments extends fc.Arbitrary<infer T> ? T : never;

/** A comparison as text, and whether it holds. */
interface Comparison {
  text: string;
  holds(args: Readonly<Record<string, unknown>>): boolean;
}

const ORDER: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
};
const anyOrder = fc.constantFrom(...Object.keys(ORDER));
const anyEquality = fc.constantFrom('==', '!=');
const quoted = (text: string): fc.Arbitrary<string> => fc.constantFrom(`'${text}'`, `"${text}"`);
const bare = (text: string): fc.Arbitrary<string> => fc.oneof(fc.constant(text), quoted(text));

const comparisonOf = (
  name: string,
  operator: fc.Arbitrary<string>,
  value: fc.Arbitrary<string>,
  holds: (actual: unknown, operator: string, value: string) => boolean,
): fc.Arbitrary<Comparison> =>
  fc
    .tuple(
      operator,
      value.chain((each) => fc.tuple(fc.constant(each), bare(each))),
      fc.boolean(),
    )
    .map(([sign, [plain, written], isTight]) => ({
      text:
        isTight && !/^\w/.test(sign) ? `${name}${sign}${written}` : `${name} ${sign} ${written}`,
      holds: (args) => holds(args[name], sign, plain),
    }));

const compareNumbers = (actual: unknown, sign: string, value: string): boolean =>
  ORDER[sign]!(actual as bigint, BigInt(value));
/** Addresses, bytes and text are equal whatever the case of their letters. */
const compareText = (actual: unknown, sign: string, value: string): boolean => {
  const [a, b] = [String(actual).toLowerCase(), value.toLowerCase()];
  switch (sign) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case 'contains':
      return a.includes(b);
    default:
      return a.startsWith(b);
  }
};

const anyInteger = fc.oneof(
  fc.integer({ min: -3, max: 3 }).map(String),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((value) => `0x${value.toString(16)}`),
);
const anyAddress = fc.constantFrom(...SENDERS, SENDERS[0]!.toUpperCase().replace('X', 'x'));
const anyHex = fc.constantFrom(`0x${'0A'.repeat(32)}`, `0x${'0b'.repeat(32)}`);

const ofArguments = fc.oneof(
  { weight: 3, arbitrary: comparisonOf('amount', anyOrder, anyInteger, compareNumbers) },
  { weight: 2, arbitrary: comparisonOf('change', anyOrder, anyInteger, compareNumbers) },
  { weight: 2, arbitrary: comparisonOf('payee', anyEquality, anyAddress, compareText) },
  comparisonOf('key', anyEquality, anyHex, compareText),
  comparisonOf('note', anyEquality, fc.constant('12'), compareText),
  fc.constantFrom('true', 'false').chain((value) =>
    anyEquality.map((sign) => ({
      text: `isLast ${sign} ${value}`,
      holds: ({ isLast }: Readonly<Record<string, unknown>>) => compareText(isLast, sign, value),
    })),
  ),
);
/** Filters cannot compare these. */
const ofArgumentsOnly = fc.oneof(
  comparisonOf(
    'note',
    fc.constantFrom('==', '!=', 'contains', 'STARTS_WITH'),
    fc.constantFrom('ab', 'Ab'),
    (actual, sign, value) => compareText(actual, sign.toLowerCase(), value),
  ),
  fc.nat(2).map((item) => ({
    text: `list contains ${item}`,
    holds: ({ list }: Readonly<Record<string, unknown>>) => (list as number[]).includes(item),
  })),
);
const ofTransaction = fc.oneof(
  comparisonOf('value', anyOrder, anyInteger, compareNumbers),
  comparisonOf('from', anyEquality, anyAddress, compareText),
  comparisonOf('to', anyEquality, fc.constantFrom(CONTRACT, SENDERS[0]!), compareText),
);
/** Filters cannot read this. */
const ofTransactionOnly = comparisonOf('nonce', anyOrder, anyInteger, compareNumbers);

/** Generates an expression: comparisons with AND, OR, and parentheses. */
function expressionOf(comparison: fc.Arbitrary<Comparison>): fc.Arbitrary<Comparison> {
  const joined = (
    word: 'AND' | 'OR',
    part: fc.Arbitrary<Comparison>,
    parts: { maxLength: number },
  ): fc.Arbitrary<Comparison> =>
    fc
      .tuple(fc.array(part, { minLength: 1, ...parts }), fc.constantFrom(word, word.toLowerCase()))
      .map(([all, written]) => ({
        text: all.map(({ text }) => text).join(` ${written} `),
        holds: (args) =>
          word === 'AND'
            ? all.every((each) => each.holds(args))
            : all.some((each) => each.holds(args)),
      }));
  const { either } = fc.letrec<{ either: Comparison; both: Comparison; part: Comparison }>(
    (tie) => ({
      either: joined('OR', tie('both'), { maxLength: 2 }),
      both: joined('AND', tie('part'), { maxLength: 3 }),
      part: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        comparison,
        tie('either').map(({ text, holds }) => ({ text: `(${text})`, holds })),
      ),
    }),
  );
  return either;
}
/** Generates no expression, one that maps to a filter, or one of which only a part may. */
const optional = (
  mapped: fc.Arbitrary<Comparison>,
  unmapped: fc.Arbitrary<Comparison>,
): fc.Arbitrary<Comparison | undefined> =>
  fc.oneof(
    fc.constant(undefined),
    { weight: 3, arbitrary: expressionOf(mapped) },
    { weight: 3, arbitrary: expressionOf(fc.oneof({ weight: 2, arbitrary: mapped }, unmapped)) },
  );

const anyTransactionCondition = fc.record({
  status: fc.constantFrom(...(['Any', 'Success', 'Failure'] as const)),
  expression: optional(ofTransaction, ofTransactionOnly),
});
type TransactionCondition =
  typeof anyTransactionCondition extends fc.Arbitrary<infer T> ? T : never;

const anyTransaction = fc.record({
  from: fc.constantFrom(...SENDERS),
  to: fc.constant(CONTRACT),
  value: fc.bigInt({ min: 0n, max: 3n }),
  nonce: fc.bigInt({ min: 0n, max: 3n }),
  isFailed: fc.boolean(),
});

function importMonitor(match: object): ImportedRule {
  const path = (name: string): string => join(folder, name);
  writeFileSync(
    path('monitor.json'),
    JSON.stringify({
      name: 'Paid',
      networks: ['main'],
      addresses: [{ address: CONTRACT, contract_spec: [FUNCTION, EVENT] }],
      match_conditions: match,
    }),
  );
  writeFileSync(path('main.json'), '{"network_type":"EVM","slug":"main","chain_id":1}');
  const files = ['monitor.json', 'main.json'].map((name) => readRuleFile(path(name)));
  return importMonitors(files, 'https://example.com')[0]!;
}

const optionsOf = ({ stream }: ImportedRule): StreamOptions => ({
  ...DEFAULT_OPTIONS,
  ...(stream?.fields as unknown as StreamOptions),
});
const CONTEXT = { chain: '0x1', possibleSpam: false };

function expectSame(rule: ImportedRule, isMatched: boolean, isExpected: boolean): void {
  const isExact = rule.unmapped.length === 0;
  if (isExact || isExpected) expect(isMatched, JSON.stringify(rule)).toBe(isExpected);
}

const isMet = (
  conditions: readonly TransactionCondition[],
  transaction: Readonly<Record<string, unknown>>,
): boolean =>
  conditions.length === 0 ||
  conditions.some(
    ({ status, expression }) =>
      (status === 'Any' || (status === 'Failure') === transaction['isFailed']) &&
      expression?.holds(transaction) !== false,
  );

const toConditions = (conditions: readonly TransactionCondition[]): object[] =>
  conditions.map(({ status, expression }) => ({ status, expression: expression?.text ?? null }));

const anyConditions = fc.array(anyTransactionCondition, { maxLength: 2 });

test('an imported stream matches the calls that the monitor matches', () => {
  let exact = 0;
  fc.assert(
    fc.property(
      optional(ofArguments, ofArgumentsOnly),
      anyConditions,
      anyArguments,
      anyTransaction,
      (expression, conditions, args, transaction) => {
        const rule = importMonitor({
          functions: [
            { signature: toFunctionSignature(FUNCTION), expression: expression?.text ?? null },
          ],
          transactions: toConditions(conditions),
        });
        if (rule.unmapped.length === 0) exact++;
        const isMatched = createCallSelection(optionsOf(rule))?.takes(
          {
            transactionHash: `0x${'0'.repeat(64)}`,
            transactionIndex: 0,
            traceAddress: [],
            type: 'call',
            from: transaction.from.toLowerCase(),
            to: CONTRACT,
            value: `0x${transaction.value.toString(16)}`,
            input: encodeFunctionData({ abi: [FUNCTION], args: toList(FUNCTION, args) as never }),
            isFailed: transaction.isFailed,
          },
          CONTEXT,
        );
        const isExpected = expression?.holds(args) !== false && isMet(conditions, transaction);
        expectSame(rule, isMatched ?? false, isExpected);
      },
    ),
    { numRuns: 2_000 },
  );
  expect(exact).toBeGreaterThan(500);
});

test('an imported stream matches the events that the monitor matches', () => {
  let exact = 0;
  fc.assert(
    fc.property(
      optional(ofArguments, ofArgumentsOnly),
      anyConditions,
      anyArguments,
      anyTransaction,
      fc.constantFrom(CONTRACT, SENDERS[0]!),
      (expression, conditions, args, transaction, emitter) => {
        const rule = importMonitor({
          events: [{ signature: toEventSignature(EVENT), expression: expression?.text ?? null }],
          transactions: toConditions(conditions),
        });
        if (rule.unmapped.length === 0) exact++;
        const data = EVENT.inputs.filter((input) => !('indexed' in input && input.indexed));
        const log = {
          address: emitter,
          topics: encodeEventTopics({ abi: [EVENT], args }),
          data: encodeAbiParameters(data, data.map(({ name }) => args[name]) as never),
          transactionHash: `0x${'0'.repeat(64)}`,
          transactionIndex: 0,
          logIndex: 0,
        };
        const taken =
          rule.stream !== undefined &&
          createSelection(optionsOf(rule)).take(log as never, CONTEXT) !== 'no';
        const isExpected =
          emitter === CONTRACT &&
          expression?.holds(args) !== false &&
          isMet(conditions, { ...transaction, isFailed: false });
        expectSame(rule, taken, isExpected);
      },
    ),
    { numRuns: 2_000 },
  );
  expect(exact).toBeGreaterThan(300);
});

test('the deepest expression that is imported becomes a filter that streams accept', () => {
  const nest = (depth: number): string =>
    depth === 0 ? 'amount > 1' : `amount > 1 OR amount > 2 AND (${nest(depth - 1)})`;
  const ruleOf = (depth: number): ImportedRule =>
    importMonitor({
      functions: [{ signature: toFunctionSignature(FUNCTION), expression: nest(depth) }],
      transactions: [{ status: 'Any', expression: 'value > 1' }],
    });
  expect(ruleOf(14).unmapped).toEqual([]);
  expect(checkRules(optionsOf(ruleOf(14)))).toEqual([]);
  expect(ruleOf(15).unmapped).toHaveLength(1);
});

const toList = ({ inputs }: AbiFunction, args: Arguments): unknown[] =>
  inputs.map(({ name }) => args[name as keyof Arguments]);
