import type { EvmStream } from '@sluice/kit/contract';
import { Check } from '../../../ui/form/field.tsx';
import { LineArea } from '../../../ui/form/lineArea.tsx';
import { Segments } from '../../../ui/form/segments.tsx';
import type { PartProps } from '../../../routes/streamForm/partProps.ts';
import { selectsFunctions } from '../draft.ts';
import { functionProblems } from '../problems.ts';

const STATUSES: { value: EvmStream['transactionStatus']; label: string }[] = [
  { value: 'success', label: 'Successful' },
  { value: 'failed', label: 'Failed' },
  { value: 'any', label: 'Both' },
];

/** Edits the functions whose calls are sent. */
export function CallRules({ draft, problems, onChange }: PartProps) {
  const { calledFunctions, transactionStatus, includeInternalCalls } = draft;
  const lines = functionProblems(calledFunctions);
  return (
    <fieldset aria-label="Calls" className="grid min-w-0 gap-2">
      <LineArea
        label="Functions"
        placeholder="transfer(address to, uint256 amount)"
        help="Signatures or 4-byte selectors, one per line; * for every call."
        error={lines.length === 0 ? problems.functions : undefined}
        problems={lines}
        value={calledFunctions}
        onChange={(next) => onChange({ ...draft, calledFunctions: next })}
      />
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
