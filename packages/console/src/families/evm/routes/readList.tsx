import { parseFunctionSignature, toAddress } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { contractQuery } from '../../../data/queries/chains.ts';
import type { StreamDraft } from '../../../routes/streamForm/draft/draft.ts';
import { refusalOf, type Refusals } from '../../../routes/streamForm/draft/refusals.ts';
import {
  readAmount,
  unitOf,
  type TokenUnit,
} from '../../../routes/streamForm/draft/tokenAmount.ts';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';
import { EntryList, RemoveEntry, useRemoval } from '../../../ui/form/entryList.tsx';
import { SelectField, TextField } from '../../../ui/form/field.tsx';
import { LineArea } from '../../../ui/form/lineArea.tsx';
import { formatCount, formatQuantity } from '../../../ui/text/format.ts';
import type { ConditionKind, ReadDraft } from '../draft.ts';
import { describeRead } from '../readWords.ts';
import { useContractAbi, useContractWords } from './contractAbi.ts';
import {
  accountProblems,
  CONDITIONS,
  decimalsOf,
  functionOf,
  functionTexts,
  isComparison,
  NEW_READ,
  outputsOf,
  readProblems,
  SOURCES,
  toRead,
} from './reads.ts';

/** Edits the values on chain that are read in each block. */
export function ReadList({ draft, problems, refusals, onChange }: PartProps) {
  const { reads } = draft;
  const change = (next: ReadDraft[]): void => onChange({ ...draft, reads: next });
  const { remove, undo } = useRemoval(reads, change);
  return (
    <EntryList
      legend="Values on chain"
      help="Results of view functions and balances, read in each block and sent when a condition holds."
      error={refusals['reads']}
      addLabel="Add value"
      onAdd={() => change([...reads, NEW_READ])}
      onUndo={undo}
    >
      {reads.map((read, index) => (
        <ReadEntry
          key={index}
          draft={draft}
          read={read}
          index={index}
          refusals={refusals}
          isChecked={problems.reads !== undefined}
          onChange={(next) => change(reads.with(index, next))}
          onRemove={() => remove(reads.toSpliced(index, 1))}
        />
      ))}
    </EntryList>
  );
}

/** Props of the parts of an entry. */
interface EntryProps {
  draft: StreamDraft;
  read: ReadDraft;
  /** Returns the problem of a field, named as in the API. */
  problemOf: (field: string, typed: string) => string | undefined;
  onChange: (read: ReadDraft) => void;
}

function ReadEntry({
  draft,
  read,
  index,
  refusals,
  isChecked,
  onChange,
  onRemove,
}: {
  draft: StreamDraft;
  read: ReadDraft;
  index: number;
  refusals: Refusals;
  /** Whether empty fields are shown as errors. */
  isChecked: boolean;
  onChange: (read: ReadDraft) => void;
  onRemove: () => void;
}) {
  const problems = readProblems(read, draft.abi);
  const problemOf: EntryProps['problemOf'] = (field, typed) =>
    (isChecked || typed !== '' ? problems[field] : undefined) ??
    refusalOf(refusals, `reads.${index}.${field}`);
  const unit = useTokenUnit(draft, read);
  const words = useContractWords(draft, read.source === 'native' ? '' : read.contract);
  const isComplete = Object.keys(problems).length === 0;
  const parts = { draft, read, problemOf, onChange };
  return (
    <fieldset aria-label={`Value ${index + 1}`} className="grid min-w-0 gap-3">
      <div className="flex items-start gap-2">
        <p className="min-w-0 text-12 wrap-anywhere text-muted">
          Value {index + 1}
          {isComplete && `: ${describeRead(toRead(read, draft.abi), unit?.symbol)}`}
        </p>
        <RemoveEntry label={`Remove value ${index + 1}`} onClick={onRemove} />
      </div>
      <div className="grid gap-3">
        <SelectField
          label="Read"
          value={read.source}
          onChange={({ target: { value } }) =>
            onChange({ ...read, source: value as ReadDraft['source'] })
          }
        >
          {SOURCES.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        {read.source !== 'native' && (
          <TextField
            label={read.source === 'token' ? 'Token' : 'Contract'}
            mono
            data-field="contract"
            placeholder="0x…"
            help={words}
            error={
              problemOf('contract', read.contract) ?? refusalOf(refusals, `reads.${index}.balance`)
            }
            value={read.contract}
            onChange={({ target: { value } }) => onChange({ ...read, contract: value })}
          />
        )}
      </div>
      {read.source === 'function' ? <Call {...parts} /> : <Accounts {...parts} />}
      <Condition {...parts} unit={unit} />
    </fieldset>
  );
}

/** Reads the unit of the token of a balance; null if there is none, or it is unknown. */
function useTokenUnit({ chains }: StreamDraft, { source, contract }: ReadDraft): TokenUnit | null {
  const [chain] = chains;
  const address = source === 'token' ? toAddress(contract.trim()) : undefined;
  const { data } = useQuery({
    ...contractQuery(chain ?? '', address ?? ''),
    enabled: chain !== undefined && address !== undefined,
  });
  return unitOf(data);
}

function Call({ draft, read, problemOf, onChange }: EntryProps) {
  const ids = useId();
  const functions = functionTexts(useContractAbi(draft, read.contract));
  const item = functionOf(read.function, draft.abi);
  const inputs = (item ?? parseFunctionSignature(read.function)?.item)?.inputs ?? [];
  const outputs = item === undefined ? [] : outputsOf(item);
  return (
    <>
      <datalist id={ids}>
        {functions.map((text) => (
          <option key={text}>{text}</option>
        ))}
      </datalist>
      <TextField
        label="Function"
        mono
        list={ids}
        placeholder="balanceOf(address owner) returns (uint256)"
        help={
          functions.length === 0
            ? 'A signature with the result.'
            : `Choose from ${formatQuantity(functions.length, 'view function')} of the ABI, or enter a signature.`
        }
        error={problemOf('function', read.function)}
        value={read.function}
        onChange={({ target: { value } }) => onChange({ ...read, function: value })}
      />
      {(inputs.length > 0 || outputs.length > 0 || read.output !== '') && (
        <div className="grid gap-3 sm:grid-cols-2">
          {inputs.map(({ name, type }, position) => (
            <TextField
              key={position}
              label={`${name || `Input ${position + 1}`}: ${type}`}
              mono
              error={problemOf(`arguments.${position}`, read.arguments[position] ?? '')}
              value={read.arguments[position] ?? ''}
              onChange={({ target: { value } }) =>
                onChange({
                  ...read,
                  arguments: inputs.map((_, n) =>
                    n === position ? value : (read.arguments[n] ?? ''),
                  ),
                })
              }
            />
          ))}
          {(outputs.length > 0 || read.output !== '') && (
            <SelectField
              label="Output"
              error={problemOf('output', 'chosen')}
              value={read.output}
              onChange={({ target: { value } }) => onChange({ ...read, output: value })}
            >
              <option value="">all outputs</option>
              {[...new Set([...outputs.map(({ path }) => path), read.output])]
                .filter((path) => path !== '')
                .map((path) => (
                  <option key={path} value={path}>
                    {path}
                  </option>
                ))}
            </SelectField>
          )}
        </div>
      )}
    </>
  );
}

function Accounts({ read, problemOf, onChange }: EntryProps) {
  const lines = accountProblems(read.of);
  return (
    <LineArea
      label="Accounts"
      placeholder="the addresses of the stream"
      help="One address per line; empty for the addresses of the stream."
      rows={2}
      problems={lines}
      error={lines.length > 0 ? undefined : problemOf('of', read.of)}
      value={read.of}
      onChange={(of) => onChange({ ...read, of })}
    />
  );
}

function Condition({ read, problemOf, onChange, unit }: EntryProps & { unit: TokenUnit | null }) {
  const { kind, limit } = read.when;
  const label = CONDITIONS.find(({ value }) => value === kind)?.limit;
  const decimals = decimalsOf(read, unit?.decimals);
  const problem = problemOf('when', limit) ?? undefined;
  const raw =
    isComparison(read.when) && decimals !== null && decimals > 0 && problem === undefined
      ? readAmount(limit, { symbol: '', decimals })
      : null;
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <SelectField
        label="Send"
        error={label === undefined ? problem : undefined}
        value={kind}
        onChange={({ target: { value } }) =>
          onChange({ ...read, when: { kind: value as ConditionKind, limit } })
        }
      >
        {CONDITIONS.map((each) => (
          <option key={each.value} value={each.value}>
            {each.label}
          </option>
        ))}
      </SelectField>
      {label !== undefined && (
        <TextField
          label={isComparison(read.when) && unit !== null ? `${label} in ${unit.symbol}` : label}
          inputMode="decimal"
          mono
          data-field="threshold"
          placeholder={isComparison(read.when) ? '1,000.5' : '100'}
          help={raw === null ? undefined : `= ${formatCount(BigInt(raw))} in the smallest unit`}
          error={problem}
          value={limit}
          onChange={({ target: { value } }) => onChange({ ...read, when: { kind, limit: value } })}
        />
      )}
      {(isComparison(read.when) || read.decimals !== '') && (
        <TextField
          label="Decimals"
          inputMode="numeric"
          mono
          placeholder={decimals === null ? 'of the token' : String(decimals)}
          help="Of the threshold’s unit."
          error={problemOf('decimals', read.decimals)}
          value={read.decimals}
          onChange={({ target: { value } }) => onChange({ ...read, decimals: value })}
        />
      )}
    </div>
  );
}
