import type { TransactionStatus } from '@sluice/kit/contract';
import { Plus, X } from 'lucide-react';
import { Button } from '../../../ui/button.tsx';
import { Check, Select } from '../../../ui/form/field.tsx';
import { LineArea } from '../../../ui/form/lineArea.tsx';
import { Segments } from '../../../ui/form/segments.tsx';
import { linesOf, type StreamDraft } from '../../../routes/streamForm/draft/draft.ts';
import { useSharedDryRun } from '../../../routes/streamForm/dryRun/sharedDryRun.tsx';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';
import { inputsOfCall, selectsFunctions, type CallRule } from '../draft.ts';
import { functionProblems } from '../problems.ts';
import { Conditions } from './conditions.tsx';
import { FunctionList } from './functionList.tsx';
import { RuleName } from './ruleName.tsx';

const STATUSES: { value: TransactionStatus; label: string }[] = [
  { value: 'success', label: 'Successful' },
  { value: 'failed', label: 'Failed' },
  { value: 'any', label: 'Both' },
];

/** Edits the functions whose calls are sent, and their conditions. */
export function CallRules({ draft, problems, onChange }: PartProps) {
  const { calledFunctions, callRules, transactionStatus, includeInternalCalls } = draft;
  const lines = functionProblems(calledFunctions);
  return (
    <fieldset aria-label="Calls" className="grid min-w-0 gap-2">
      <LineArea
        label="Functions"
        data-field="functions"
        placeholder="transfer(address to, uint256 amount)"
        help="Signatures or 4-byte selectors, one per line; * for every call."
        error={lines.length === 0 ? problems.functions : undefined}
        problems={lines}
        value={calledFunctions}
        onChange={(next) => onChange({ ...draft, calledFunctions: next })}
      />
      <FunctionList draft={draft} onChange={onChange} />
      {callRules.map((rule, index) => (
        <CallFilter
          key={index}
          draft={draft}
          rule={rule}
          isChecked={problems.functions !== undefined}
          onChange={(next) =>
            onChange({
              ...draft,
              callRules:
                next === null ? callRules.toSpliced(index, 1) : callRules.with(index, next),
            })
          }
        />
      ))}
      <div className="flex flex-wrap items-center gap-2">
        {unfilteredOf(draft).map((signature) => (
          <Button
            key={signature}
            variant="quiet"
            onClick={() => onChange({ ...draft, callRules: [...callRules, newRule(signature)] })}
          >
            <Plus size={12} strokeWidth={1.5} aria-hidden="true" />
            Filter {signature.split('(')[0]}
          </Button>
        ))}
      </div>
      {selectsFunctions(draft) && (
        <>
          <Segments
            label="Calls to send"
            options={STATUSES}
            value={transactionStatus}
            onChange={(status) => onChange({ ...draft, transactionStatus: status })}
          />
          <Check
            label="Internal calls"
            help="calls inside transactions, too; requires a tracing node"
            checked={includeInternalCalls}
            onChange={(event) => onChange({ ...draft, includeInternalCalls: event.target.checked })}
          />
        </>
      )}
    </fieldset>
  );
}

/** Edits the conditions on the calls of a function. */
function CallFilter({
  draft,
  rule,
  isChecked,
  onChange,
}: {
  draft: StreamDraft;
  rule: CallRule;
  isChecked: boolean;
  /** Called with null to remove the filter. */
  onChange: (rule: CallRule | null) => void;
}) {
  const { known } = useSharedDryRun();
  const { signature, transactionStatus } = rule;
  const [name] = signature.split('(');
  return (
    <fieldset className="grid min-w-0 gap-1" aria-label={`Filter of ${name}`}>
      <div className="flex flex-wrap items-center gap-2">
        <RuleName signature={signature} unknown="unknown function" />
        <Select
          aria-label="Outcome"
          className="w-28"
          value={transactionStatus}
          onChange={({ target: { value } }) =>
            onChange({ ...rule, transactionStatus: value as CallRule['transactionStatus'] })
          }
        >
          <option value="">As below</option>
          {STATUSES.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
        <Button
          variant="quiet"
          square
          aria-label={`Remove the filter of ${name}`}
          onClick={() => onChange(null)}
        >
          <X size={14} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </div>
      <Conditions
        rule={rule}
        inputs={inputsOfCall(draft.abi, signature)}
        known={known}
        isChecked={isChecked}
        onChange={onChange}
      />
    </fieldset>
  );
}

/** Returns the listed functions without a filter. */
function unfilteredOf({ calledFunctions, callRules }: StreamDraft): string[] {
  const filtered = new Set(callRules.map(({ signature }) => signature));
  return linesOf(calledFunctions).filter(
    (line, index, lines) =>
      !filtered.has(line) && lines.indexOf(line) === index && functionProblems(line).length === 0,
  );
}

const newRule = (signature: string): CallRule => ({
  signature,
  conditions: [],
  filterJson: null,
  transactionStatus: '',
});
