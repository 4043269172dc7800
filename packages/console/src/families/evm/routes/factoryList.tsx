import { useId } from 'react';
import { SelectField, TextField } from '../../../ui/form/field.tsx';
import { EntryList, RemoveEntry, useRemoval } from '../../../ui/form/entryList.tsx';
import type { StreamDraft } from '../../../routes/streamForm/draft/draft.ts';
import { refusalOf, type Refusals } from '../../../routes/streamForm/draft/refusals.ts';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';
import type { FactoryDraft } from '../draft.ts';
import { formatQuantity } from '../../../ui/text/format.ts';
import { useContractAbi, useContractWords } from './contractAbi.ts';
import {
  addressParameters,
  describeFactory,
  eventTexts,
  factoryProblems,
  NEW_FACTORY,
  parentsOf,
  toFactory,
  withEvent,
  withoutFactory,
  type FactoryField,
} from './factories.ts';

/** Edits the factories whose children the stream watches. */
export function FactoryList({ draft, problems, refusals, onChange }: PartProps) {
  const { factories } = draft;
  const change = (next: FactoryDraft[]): void => onChange({ ...draft, factories: next });
  const { remove, undo } = useRemoval(factories, change);
  return (
    <EntryList
      legend="Factories"
      help="The stream watches the contracts that a factory creates, like its addresses."
      error={draft.allAddresses ? problems.factories : undefined}
      addLabel="Add factory"
      onAdd={() => change([...factories, NEW_FACTORY])}
      onUndo={undo}
    >
      {factories.map((_, index) => (
        <FactoryEntry
          key={index}
          draft={draft}
          index={index}
          refusals={refusals}
          isChecked={problems.factories !== undefined}
          onChange={(next) => change(factories.with(index, next))}
          onRemove={() => remove(withoutFactory(factories, index))}
        />
      ))}
    </EntryList>
  );
}

function FactoryEntry({
  draft,
  index,
  refusals,
  isChecked,
  onChange,
  onRemove,
}: {
  draft: StreamDraft;
  index: number;
  refusals: Refusals;
  /** Whether empty fields are shown as errors. */
  isChecked: boolean;
  onChange: (factory: FactoryDraft) => void;
  onRemove: () => void;
}) {
  const ids = useId();
  const factory = draft.factories[index]!;
  const { address, childrenOf, event, parameter, from } = factory;
  const { abi } = draft;
  const offered = useContractAbi(draft, childrenOf === null ? address : '');
  const words = useContractWords(draft, childrenOf === null ? address : '');
  const events = eventTexts(offered);
  const problems = factoryProblems(factory, abi);
  const problemOf = (field: FactoryField): string | undefined =>
    (isChecked || factory[field] !== '' ? problems[field] : undefined) ??
    refusalOf(refusals, `factories.${index}.${field}`);
  const parents = parentsOf(draft.factories, index);
  const parameters = addressParameters(event, abi);
  const isComplete = Object.keys(problems).length === 0;
  return (
    <fieldset aria-label={`Factory ${index + 1}`} className="grid min-w-0 gap-3">
      <div className="flex items-start gap-2">
        <p className="min-w-0 text-12 wrap-anywhere text-muted">
          Factory {index + 1}
          {isComplete && `: ${describeFactory(toFactory(factory))}`}
        </p>
        <RemoveEntry label={`Remove factory ${index + 1}`} onClick={onRemove} />
      </div>
      <div className="grid gap-3">
        {parents.length > 0 && (
          <SelectField
            label="Created by"
            value={childrenOf ?? ''}
            error={refusalOf(refusals, `factories.${index}.childrenOf`)}
            onChange={({ target: { value } }) =>
              onChange({ ...factory, childrenOf: value === '' ? null : Number(value) })
            }
          >
            <option value="">the contract at an address</option>
            {parents.map((parent) => (
              <option key={parent} value={parent}>
                the children of factory {parent + 1}
              </option>
            ))}
          </SelectField>
        )}
        {childrenOf === null && (
          <TextField
            label="Factory address"
            mono
            data-field="factory"
            placeholder="0x…"
            help={words}
            error={problemOf('address')}
            value={address}
            onChange={({ target: { value } }) => onChange({ ...factory, address: value })}
          />
        )}
      </div>
      <datalist id={ids}>
        {events.map((text) => (
          <option key={text}>{text}</option>
        ))}
      </datalist>
      <TextField
        label="Event with the child’s address"
        mono
        list={ids}
        placeholder="PoolCreated(address indexed token0, address indexed token1, address pool)"
        help={
          events.length === 0
            ? 'A signature with the names of the parameters.'
            : `Choose from ${formatQuantity(events.length, 'event')} of the ABI, or enter a signature.`
        }
        error={problemOf('event')}
        value={event}
        onChange={({ target: { value } }) => onChange(withEvent(factory, value, abi))}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Parameter"
          error={problemOf('parameter')}
          value={parameter}
          onChange={({ target: { value } }) => onChange({ ...factory, parameter: value })}
        >
          {[...new Set([...parameters, parameter])].map((name) => (
            <option key={name} value={name}>
              {name || 'choose an event first'}
            </option>
          ))}
        </SelectField>
        <TextField
          label="From block"
          inputMode="numeric"
          mono
          placeholder="new ones only"
          help="Earlier blocks are searched for children."
          error={problemOf('from')}
          value={from}
          onChange={({ target: { value } }) => onChange({ ...factory, from: value })}
        />
      </div>
    </fieldset>
  );
}
