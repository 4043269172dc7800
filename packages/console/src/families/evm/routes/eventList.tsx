import { useMemo } from 'react';
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
              name={<RuleName signature={signature} unknown="unknown event" />}
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
                  inputs={inputsOfEvent(draft.abi, signature)}
                  known={known}
                  isChecked={problems.rules !== undefined}
                  onChange={change}
                />
              )}
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
