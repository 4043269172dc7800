import { Plus, X } from 'lucide-react';
import { useId, useMemo } from 'react';
import { conditionProblem, filterProblem } from './draft/problems.ts';
import {
  OPERATOR_SIGNS,
  isEvent,
  itemOf,
  OPERATORS,
  withoutRule,
  withRule,
  type Condition,
  type EventRule,
  type Operator,
  type StreamDraft,
} from './draft/draft.ts';
import { formatHash } from '../../ui/text/format.ts';
import { countEach, countObserved, offeredOf, withObservedEvent } from './dryRun/observedEvents.ts';
import { fromAmount, isAmount, toAmount, type TokenUnit } from './draft/tokenAmount.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/form/field.tsx';
import { LineArea } from '../../ui/form/lineArea.tsx';
import { ObservedList, ObservedRow } from './dryRun/observedList.tsx';
import { useSharedDryRun } from './dryRun/sharedDryRun.tsx';
import type { PartProps } from './watchPart.tsx';

/** Lists the events of the form, then the other observed events. */
export function EventList({ draft, onChange }: Pick<PartProps, 'draft' | 'onChange'>) {
  const { observed, unit } = useSharedDryRun();
  const totals = useMemo(() => countObserved(observed), [observed]);
  const listed = useMemo(() => signaturesOf(draft), [draft]);
  const counts = useMemo(() => countEach(totals, draft.abi, listed), [totals, draft, listed]);
  const offered = offeredOf(totals, listed);
  const asked = observed.blocks.size;
  const change = (rule: EventRule): void =>
    onChange({
      ...draft,
      rules: draft.rules.map((each) => (each.signature === rule.signature ? rule : each)),
    });

  return (
    <>
      <ObservedList
        chosen={listed.map((signature) => {
          const rule = draft.rules.find((each) => each.signature === signature);
          const count = counts.get(signature) ?? 0;
          return (
            <ObservedRow
              key={signature}
              name={<EventName signature={signature} />}
              // A count of 0 is useful only for selected events.
              count={rule === undefined && count === 0 ? null : count}
              asked={asked}
              checked={rule !== undefined}
              onChange={(isChecked) =>
                onChange(isChecked ? withRule(draft, signature) : withoutRule(draft, signature))
              }
            >
              {rule !== undefined && (
                <Conditions
                  rule={rule}
                  inputs={itemOf(draft.abi, signature)?.inputs ?? []}
                  unit={unit}
                  onChange={change}
                />
              )}
            </ObservedRow>
          );
        })}
        offered={offered.map((event) => (
          <ObservedRow
            key={event.signature ?? event.topic0}
            name={<EventName signature={event.signature ?? event.topic0} />}
            count={event.count}
            asked={asked}
            checked={false}
            onChange={() => onChange(withObservedEvent(draft, event))}
          />
        ))}
      />
      {offered.length > 0 && takesAll(draft) && (
        <p className="text-12 text-faint">If none is selected, all are sent.</p>
      )}
    </>
  );
}

/** Without rules, a stream that watches addresses takes every event. */
const takesAll = ({ rules, includeContractLogs, allAddresses }: StreamDraft): boolean =>
  rules.length === 0 && includeContractLogs && !allAddresses;

/** Shows a signature, or the hash of an unknown event. */
function EventName({ signature }: { signature: string }) {
  const [name = signature] = signature.split('(');
  if (name.startsWith('0x')) {
    return (
      <span className="inline-flex flex-wrap items-baseline gap-x-2">
        <span className="data" title={signature}>
          {formatHash(signature, 6)}
        </span>
        <span className="text-faint">unknown event</span>
      </span>
    );
  }
  return (
    <span className="inline-flex max-w-full flex-wrap gap-x-2">
      <span>{name}</span>
      <span className="data min-w-0 break-all text-faint">{signature.slice(name.length)}</span>
    </span>
  );
}

/** Returns the selected events in their order, then the other events of the ABI. */
const signaturesOf = (draft: StreamDraft): string[] => [
  ...new Set([
    ...draft.rules.map(({ signature }) => signature),
    ...draft.abi
      .filter(isEvent)
      .map((item) => `${item.name ?? ''}(${(item.inputs ?? []).map(typeOf).join(',')})`),
  ]),
];

function typeOf({ type, components }: { type: string; components?: unknown }): string {
  if (!type.startsWith('tuple') || !Array.isArray(components)) return type;
  const inner = (components as { type: string; components?: unknown }[]).map(typeOf).join(',');
  return `(${inner})${type.slice('tuple'.length)}`;
}

function Conditions({
  rule,
  inputs,
  unit,
  onChange,
}: {
  rule: EventRule;
  inputs: readonly { name: string; type: string }[];
  /**
   * Returns the unit of the emitting contract; null if it has none, or if there are several
   * contracts.
   */
  unit: TokenUnit | null;
  onChange: (rule: EventRule) => void;
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
  const names = inputs.map(({ name }) => name);
  const unitFor = (wanted: string): TokenUnit | null =>
    inputs.some((input) => input.name === wanted && isAmount(input)) ? unit : null;
  const set = (index: number, condition: Condition | undefined): void =>
    onChange({
      ...rule,
      conditions:
        condition === undefined
          ? rule.conditions.toSpliced(index, 1)
          : rule.conditions.toSpliced(index, 1, condition),
    });
  return (
    <div className="grid gap-1 pl-6">
      {rule.conditions.map((condition, index) => (
        <div key={index} className="flex flex-wrap items-center gap-2">
          <span className="w-10 text-12 text-faint">{index === 0 ? 'where' : 'and'}</span>
          <Select
            aria-label="Parameter"
            className="w-28"
            value={condition.name}
            onChange={(event) => set(index, { ...condition, name: event.target.value })}
          >
            {[...new Set([...names, condition.name])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <Select
            aria-label="Operator"
            className="w-14"
            value={condition.operator}
            onChange={(event) =>
              set(index, { ...condition, operator: event.target.value as Operator })
            }
          >
            {OPERATORS.map((operator) => (
              <option key={operator} value={operator}>
                {OPERATOR_SIGNS[operator]}
              </option>
            ))}
          </Select>
          <Value
            value={condition.value}
            unit={unitFor(condition.name)}
            problem={conditionProblem(condition, inputs)}
            onChange={(value) => set(index, { ...condition, value })}
          />
          <Button
            variant="quiet"
            square
            aria-label={`Remove the condition on ${condition.name}`}
            onClick={() => set(index, undefined)}
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
              set(rule.conditions.length, {
                name: names.at(-1) ?? '',
                operator: 'gte',
                value: '',
              })
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
 * Edits the value of a condition. Token amounts may have a unit, and are shown next to the field.
 */
function Value({
  value,
  unit,
  problem,
  onChange,
}: {
  value: string;
  unit: TokenUnit | null;
  problem: string | undefined;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const amount = unit && toAmount(value, unit);
  return (
    <>
      <input
        aria-label="Value"
        aria-invalid={problem !== undefined}
        aria-describedby={amount === null && problem === undefined ? undefined : id}
        spellCheck={false}
        autoComplete="off"
        placeholder={unit === null ? undefined : `1,000 ${unit.symbol}`}
        value={value}
        onChange={({ target: { value: typed } }) =>
          onChange((unit && fromAmount(typed, unit)) ?? typed)
        }
        className="data control min-w-24 flex-1 rounded-control border border-line-strong bg-surface px-2 placeholder:text-faint aria-invalid:border-bad"
      />
      {amount !== null && (
        <span id={id} className="data truncate text-muted">
          = {amount}
        </span>
      )}
      {problem !== undefined && (
        <span id={id} className="order-last w-full pl-12 text-12 text-bad">
          {problem}
        </span>
      )}
    </>
  );
}
