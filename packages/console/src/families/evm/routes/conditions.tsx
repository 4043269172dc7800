import { wordOfFilterName } from '../../../words/names.ts';
import { Plus, X } from 'lucide-react';
import { useId, useState } from 'react';
import {
  EMITTER,
  OPERATOR_WORDS,
  OPERATORS,
  type Condition,
  type FilterRule,
  type Inputs,
  type Operator,
} from '../draft.ts';
import {
  tokenOf,
  withToken,
  type KnownTokens,
} from '../../../routes/streamForm/draft/knownTokens.ts';
import { conditionProblem, filterProblem } from '../problems.ts';
import {
  hasUnit,
  isAmount,
  readAmount,
  toAmount,
  toNumber,
  type Token,
} from '../../../routes/streamForm/draft/tokenAmount.ts';
import { formatCount, formatHash } from '../../../ui/text/format.ts';
import { Button } from '../../../ui/button.tsx';
import { Select } from '../../../ui/form/field.tsx';
import { LineArea } from '../../../ui/form/lineArea.tsx';

/**
 * Edits the conditions of an event or function, one per line. A filter that is more than a list of conditions
 * is edited as JSON.
 */
export function Conditions<Rule extends FilterRule>({
  rule,
  inputs,
  known,
  isChecked,
  onChange,
}: {
  rule: Rule;
  inputs: Inputs;
  known: KnownTokens;
  /** Whether empty values are shown as errors. */
  isChecked: boolean;
  onChange: (rule: Rule) => void;
}) {
  if (rule.filterJson !== null) {
    const problem = filterProblem(rule.filterJson);
    return (
      <div className="pl-6">
        <LineArea
          label="Filter"
          help="This filter is more than a list of conditions. Edit it as JSON."
          problems={problem === undefined ? [] : [problem]}
          value={rule.filterJson}
          onChange={(filterJson) => onChange({ ...rule, filterJson })}
        />
      </div>
    );
  }
  const { conditions } = rule;
  const names = inputs.map(({ name }) => name);
  const setAll = (next: Condition[]): void => onChange({ ...rule, conditions: next });
  const set = (index: number, condition: Condition): void =>
    setAll(conditions.with(index, condition));
  return (
    <div className="grid gap-1 pl-6">
      {conditions.map((condition, index) => (
        <div key={index} className="flex flex-wrap items-center gap-2">
          <span className="w-10 text-12 text-faint">{index === 0 ? 'where' : 'and'}</span>
          <Select
            aria-label="Parameter"
            className="w-24"
            value={condition.name}
            onChange={({ target: { value: name } }) => set(index, { ...condition, name })}
          >
            {[...new Set([...names, EMITTER, condition.name])].map((name) => (
              <option key={name} value={name}>
                {wordOfFilterName(name)}
              </option>
            ))}
          </Select>
          <Select
            aria-label="Operator"
            className="w-24"
            value={condition.operator}
            onChange={(event) =>
              set(index, { ...condition, operator: event.target.value as Operator })
            }
          >
            {OPERATORS.map((operator) => (
              <option key={operator} value={operator}>
                {OPERATOR_WORDS[operator]}
              </option>
            ))}
          </Select>
          <Value
            condition={condition}
            inputs={inputs}
            token={tokenOf(conditions, known)}
            tokens={known.tokens}
            isChecked={isChecked}
            onChange={(value) => set(index, { ...condition, value })}
            onToken={(token) => setAll(withToken(conditions, token, known))}
          />
          <Button
            variant="quiet"
            square
            aria-label={`Remove the condition on ${condition.name}`}
            onClick={() => setAll(conditions.toSpliced(index, 1))}
          >
            <X size={14} strokeWidth={1.5} aria-hidden="true" />
          </Button>
        </div>
      ))}
      {names.length > 0 && (
        <div>
          <Button
            variant="quiet"
            onClick={() =>
              setAll([...conditions, { name: names.at(-1) ?? '', operator: 'gte', value: '' }])
            }
          >
            <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
            Add condition
          </Button>
        </div>
      )}
    </div>
  );
}

/**
 * Unit without a symbol or decimals, with which `readAmount` accepts numbers in the smallest unit,
 * with or without thousands separators.
 */
const SMALLEST = { symbol: '', decimals: 0 };
/** Matches negative and hex numbers, which are always in the smallest unit. */
const RAW_ONLY = /^\s*(-|0x)/i;

/** Edits the value of a condition. Amounts of a known token can be entered in its unit. */
function Value({
  condition,
  inputs,
  token,
  tokens,
  isChecked,
  onChange,
  onToken,
}: {
  condition: Condition;
  inputs: Inputs;
  /** Token of the amount; null if it is not known. */
  token: Token | null;
  tokens: readonly Token[];
  isChecked: boolean;
  onChange: (value: string) => void;
  onToken: (token: Token) => void;
}) {
  const id = useId();
  const { name, value } = condition;
  const [typed, setTyped] = useState<string>();
  const [isRaw, setRaw] = useState(false);
  const isOfToken = inputs.some((input) => input.name === name && isAmount(input));
  const unit = isOfToken && !isRaw && !RAW_ONLY.test(value) ? token : null;

  // Shows an amount as the user typed it until the field loses the focus, then with thousands
  // separators.
  const isAsTyped =
    typed !== undefined && unit !== null && (readAmount(typed, unit) ?? typed) === value;
  const shown = unit === null ? value : isAsTyped ? typed : (toNumber(value, unit) ?? value);
  const type = (text: string): void => {
    setTyped(text);
    if (unit !== null) {
      onChange(readAmount(text, unit) ?? text);
      return;
    }
    const amount = isOfToken && token !== null && hasUnit(text) ? readAmount(text, token) : null;
    // A number that was typed in the smallest unit stays in that unit, even if the token becomes
    // known later.
    setRaw(amount === null && text !== '');
    onChange(amount ?? (isOfToken && !hasUnit(text) ? readAmount(text, SMALLEST) : null) ?? text);
  };

  const wrong = conditionProblem(condition, inputs);
  const empty = isChecked && value.trim() === '' ? 'Enter a value.' : undefined;
  const problem =
    wrong !== undefined && unit !== null
      ? `Enter an amount of ${unit.symbol}, such as 1,000.5, with at most ${unit.decimals} decimals.`
      : (wrong ?? empty);
  const meaning =
    !isOfToken || token === null || problem !== undefined
      ? null
      : unit === null
        ? toAmount(value, token)
        : toNumber(value, unit) && `${formatCount(BigInt(value))} in the smallest unit`;
  return (
    <>
      <input
        aria-label="Value"
        data-field="amount"
        aria-invalid={problem !== undefined}
        aria-describedby={meaning === null && problem === undefined ? undefined : id}
        spellCheck={false}
        autoComplete="off"
        placeholder={unit === null ? undefined : '1,000'}
        value={shown}
        onChange={(event) => type(event.target.value)}
        onBlur={() => setTyped(undefined)}
        className="data control min-w-20 flex-1 rounded-control border border-line-strong bg-surface px-2 placeholder:text-faint aria-invalid:border-bad"
      />
      {isOfToken && tokens.length > 0 && (
        <Select
          aria-label="Unit"
          className="w-28"
          value={unit?.address ?? ''}
          onChange={({ target: { value: address } }) => {
            const chosen = tokens.find((each) => each.address === address);
            setRaw(chosen === undefined);
            setTyped(undefined);
            if (chosen !== undefined && chosen !== token) onToken(chosen);
          }}
        >
          {tokens.map(({ address, symbol }) => (
            <option key={address} value={address}>
              {tokens.filter((each) => each.symbol === symbol).length === 1
                ? symbol
                : `${symbol} ${formatHash(address)}`}
            </option>
          ))}
          <option value="">smallest unit</option>
        </Select>
      )}
      {(meaning !== null || problem !== undefined) && (
        <span
          id={id}
          className={
            problem === undefined
              ? 'data order-last w-full pl-12 text-muted'
              : 'order-last w-full pl-12 text-12 text-bad'
          }
        >
          {problem ?? `= ${meaning}`}
        </span>
      )}
    </>
  );
}
