import { Fragment, useMemo } from 'react';
import { inputsOfEvent, isEvent, withoutRule, withRule, type EventRule } from '../draft.ts';
import { type StreamDraft } from '../../../routes/streamForm/draft/draft.ts';
import { countEach, countObserved, listOffered, withObservedEvent } from './observedEvents.ts';
import { Conditions } from './conditions.tsx';
import { RuleName } from './ruleName.tsx';
import { ObservedList, ObservedRow } from '../../../routes/streamForm/dryRun/observedList.tsx';
import { useSharedDryRun } from '../../../routes/streamForm/dryRun/sharedDryRun.tsx';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';

/** Lists the events of the form, then the other observed events. */
export function EventList({
  draft,
  problems,
  onChange,
}: Pick<PartProps, 'draft' | 'problems' | 'onChange'>) {
  const { observed, known } = useSharedDryRun();
  const totals = useMemo(() => countObserved(observed), [observed]);
  const listed = useMemo(() => signaturesOf(draft), [draft]);
  const counts = useMemo(() => countEach(totals, draft.abi, listed), [totals, draft, listed]);
  const offered = listOffered(totals, listed);
  const asked = observed.blocks.size;
  const change = (before: EventRule, rule: EventRule): void =>
    onChange({ ...draft, rules: draft.rules.map((each) => (each === before ? rule : each)) });

  return (
    <>
      <ObservedList
        chosen={listed.map((signature) => {
          const rules = draft.rules.filter((each) => each.signature === signature);
          const count = counts.get(signature) ?? 0;
          return (
            <ObservedRow
              key={signature}
              name={<RuleName signature={signature} unknown="unknown event" />}
              // A count of 0 is useful only for selected events.
              count={rules.length === 0 && count === 0 ? null : count}
              asked={asked}
              checked={rules.length > 0}
              onChange={(isChecked) =>
                onChange(isChecked ? withRule(draft, signature) : withoutRule(draft, signature))
              }
            >
              {rules.map((rule, index) => (
                <Fragment key={index}>
                  {index > 0 && <p className="pl-6 text-12 text-faint">or</p>}
                  <Conditions
                    rule={rule}
                    inputs={inputsOfEvent(draft.abi, signature)}
                    known={known}
                    isChecked={problems.rules !== undefined}
                    onChange={(next) => change(rule, next)}
                  />
                </Fragment>
              ))}
            </ObservedRow>
          );
        })}
        offered={offered.map((event) => (
          <ObservedRow
            key={event.signature ?? event.topic0}
            name={<RuleName signature={event.signature ?? event.topic0} unknown="unknown event" />}
            count={event.count}
            asked={asked}
            checked={false}
            onChange={() => onChange(withObservedEvent(draft, event))}
          />
        ))}
      />
      {offered.length > 0 && takesAll(draft) && (
        <p className="text-12 text-faint">If you select no events, all events are sent.</p>
      )}
    </>
  );
}

/**
 * Returns whether the stream takes every event of its addresses: it has no rules, but includes
 * logs.
 */
const takesAll = ({ rules, includeContractLogs, allAddresses }: StreamDraft): boolean =>
  rules.length === 0 && includeContractLogs && !allAddresses;

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
