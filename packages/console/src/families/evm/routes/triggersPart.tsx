import type { AbiItem, RecordKind } from '@sluice/kit';
import { itemSignature, selectableOf } from '@sluice/kit/contract';
import { useId } from 'react';
import { isEvent, type BalanceDraft, type TriggerDraft } from '../draft.ts';
import { refusalOf, type Refusals } from '../../../routes/streamForm/draft/refusals.ts';
import {
  BALANCE_KINDS,
  NEW_BALANCE,
  NEW_TRIGGER,
  parseFunction,
  selectorsOf,
  TRIGGER_KINDS,
  toTriggerSentence,
  triggerProblems,
  type TriggerField,
} from './triggers.ts';
import { EntryList, RemoveEntry, useRemoval } from '../../../ui/form/entryList.tsx';
import { Check, Select, TextField } from '../../../ui/form/field.tsx';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';

/** Edits the triggers and native balances whose results are added to the body. */
export function TriggersPart({ draft, problems, refusals, onChange }: PartProps) {
  const { triggers, balances } = draft;
  const change = (next: TriggerDraft[]): void => onChange({ ...draft, triggers: next });
  const changeBalances = (next: BalanceDraft[]): void => onChange({ ...draft, balances: next });
  const ofTriggers = useRemoval(triggers, change);
  const ofBalances = useRemoval(balances, changeBalances);
  return (
    <>
      <EntryList
        legend="Triggers"
        help="Read-only calls at the block of the webhook. A value that starts with $ is a field of the record."
        addLabel="Add trigger"
        onAdd={() => change([...triggers, NEW_TRIGGER])}
        onUndo={ofTriggers.undo}
      >
        {triggers.map((trigger, index) => (
          <Trigger
            key={index}
            trigger={trigger}
            abi={draft.abi}
            number={index + 1}
            refusals={refusals}
            onChange={(next) => change(triggers.with(index, next))}
            onRemove={() => ofTriggers.remove(triggers.toSpliced(index, 1))}
          />
        ))}
      </EntryList>
      <EntryList
        legend="Native balances"
        error={problems.balances}
        addLabel="Add balances"
        onAdd={() => changeBalances([...balances, NEW_BALANCE])}
        onUndo={ofBalances.undo}
      >
        {balances.map((balance, index) => (
          <div key={index} className="flex items-start gap-3">
            <Balance
              balance={balance}
              onChange={(next) => changeBalances(balances.with(index, next))}
            />
            <RemoveEntry
              label={`Remove balance entry ${index + 1}`}
              onClick={() => ofBalances.remove(balances.toSpliced(index, 1))}
            />
          </div>
        ))}
      </EntryList>
    </>
  );
}

/** Name of each field in the triggers of a request body. */
const PATHS: Record<TriggerField, string> = {
  contractAddress: 'contractAddress',
  function: 'functionAbi',
  inputs: 'inputs',
  topic0: 'topic0',
  callFrom: 'callFrom',
};

function Trigger({
  trigger,
  abi,
  number,
  refusals,
  onChange,
  onRemove,
}: {
  trigger: TriggerDraft;
  abi: readonly AbiItem[];
  number: number;
  refusals: Refusals;
  onChange: (trigger: TriggerDraft) => void;
  onRemove: () => void;
}) {
  const ids = useId();
  const problems = triggerProblems(trigger, abi);
  const problemOf = (field: TriggerField): string | undefined => {
    const problem =
      problems[field] ?? refusalOf(refusals, `triggers.${number - 1}.${PATHS[field]}`);
    return problem && toTriggerSentence(field, problem);
  };
  const selectable = selectorsOf(trigger, abi);
  const parameters = parseFunction(trigger.function)?.inputs ?? [];
  const inputsProblem = problemOf('inputs');
  return (
    <fieldset aria-label={`Trigger ${number}`} className="grid gap-3">
      <datalist id={`${ids}a`}>
        {selectable.addresses.map((name) => (
          <option key={name}>{`$${name}`}</option>
        ))}
      </datalist>
      <datalist id={`${ids}b`}>
        {selectable.all.map((name) => (
          <option key={name}>{`$${name}`}</option>
        ))}
      </datalist>
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-12 text-muted">For each</span>
        <Select
          aria-label="Record"
          value={trigger.type}
          onChange={({ target }) => {
            const kind = TRIGGER_KINDS.find(({ value }) => value === target.value);
            if (kind !== undefined) onChange({ ...trigger, type: kind.value });
          }}
        >
          {TRIGGER_KINDS.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
        {trigger.type === 'log' && (
          <Select
            aria-label="Event"
            value={trigger.topic0}
            onChange={(event) => onChange({ ...trigger, topic0: event.target.value })}
          >
            <option value="">any event</option>
            {abi.filter(isEvent).map((item) => (
              <option key={itemSignature(item)} value={itemSignature(item)}>
                {itemSignature(item)}
              </option>
            ))}
          </Select>
        )}
        <RemoveEntry label={`Remove trigger ${number}`} onClick={onRemove} />
      </div>
      {problemOf('topic0') !== undefined && (
        <p className="text-12 text-bad">{problemOf('topic0')}</p>
      )}
      <TextField
        label="Call"
        mono
        placeholder={NEW_TRIGGER.function}
        error={problemOf('function')}
        value={trigger.function}
        onChange={(event) => onChange({ ...trigger, function: event.target.value })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Contract"
          mono
          list={`${ids}a`}
          error={problemOf('contractAddress')}
          value={trigger.contractAddress}
          onChange={(event) => onChange({ ...trigger, contractAddress: event.target.value })}
        />
        <TextField
          label="msg.sender"
          mono
          placeholder="none"
          list={`${ids}a`}
          error={problemOf('callFrom')}
          value={trigger.callFrom}
          onChange={(event) => onChange({ ...trigger, callFrom: event.target.value })}
        />
        {parameters.map(({ name, type }, index) => (
          <TextField
            key={index}
            label={`${name || `Input ${index + 1}`}: ${type}`}
            mono
            list={`${ids}b`}
            value={trigger.inputs[index] ?? ''}
            onChange={(event) =>
              onChange({
                ...trigger,
                inputs: parameters.map((_, n) =>
                  n === index ? event.target.value : (trigger.inputs[n] ?? ''),
                ),
              })
            }
          />
        ))}
      </div>
      {inputsProblem !== undefined && (
        <p className="text-12 break-words text-bad">{inputsProblem}</p>
      )}
    </fieldset>
  );
}

/** Returns a list with the first selector of an address in records of the kind. */
const firstSelector = (kind: RecordKind): string[] =>
  selectableOf(kind)
    .addresses.slice(0, 1)
    .map((name) => `$${name}`);

function Balance({
  balance: { type, selectors },
  onChange,
}: {
  balance: BalanceDraft;
  onChange: (balance: BalanceDraft) => void;
}) {
  return (
    <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-1">
      <span className="text-12 text-muted">For each</span>
      <Select
        aria-label="Record"
        value={type}
        onChange={({ target }) => {
          const kind = BALANCE_KINDS.find(({ value }) => value === target.value)?.value;
          if (kind !== undefined) onChange({ type: kind, selectors: firstSelector(kind) });
        }}
      >
        {BALANCE_KINDS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
      {selectableOf(type).addresses.map((name) => (
        <Check
          key={name}
          label={<span className="data">${name}</span>}
          checked={selectors.includes(`$${name}`)}
          onChange={(event) =>
            onChange({
              type,
              selectors: event.target.checked
                ? [...selectors, `$${name}`]
                : selectors.filter((each) => each !== `$${name}`),
            })
          }
        />
      ))}
    </div>
  );
}
