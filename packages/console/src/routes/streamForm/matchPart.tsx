import { FIELD_LABELS } from './draft/changeWords.ts';
import type { StreamDraft } from './draft/draft.ts';
import { Check } from '../../ui/form/field.tsx';
import { EventRules } from './eventRules.tsx';
import { MovePaths } from './movePaths.tsx';
import { ReadsPart } from './readsPart.tsx';
import type { PartProps } from './watchPart.tsx';

type Flag = {
  [K in keyof StreamDraft]: StreamDraft[K] extends boolean ? K : never;
}[keyof StreamDraft];

const EVM_FLAGS: { flag: Flag; help: string }[] = [
  { flag: 'includeContractLogs', help: 'with a watched address' },
  {
    flag: 'includeNativeTxs',
    help: 'from or to a watched address',
  },
  {
    flag: 'includeInternalTxs',
    help: 'calls that transfer value; requires a tracing node',
  },
  {
    flag: 'includeAllTxLogs',
    help: '',
  },
  {
    flag: 'filterPossibleSpamAddresses',
    help: 'based on a list per chain',
  },
];

const APTOS_FLAGS: { flag: Flag; help: string }[] = [
  { flag: 'includeEvents', help: 'of each matched transaction' },
  { flag: 'includePayload', help: 'of each matched transaction' },
  {
    flag: 'includeChanges',
    help: 'of each matched transaction; can be large',
  },
];

/** Edits which records are sent, and which data is added to them. */
export function MatchPart(props: PartProps) {
  const { draft, onChange } = props;
  const flags = draft.family === 'evm' ? EVM_FLAGS : APTOS_FLAGS;
  return (
    <div className="grid gap-3">
      {draft.family === 'evm' ? <EventRules {...props} /> : <MovePaths {...props} />}
      <fieldset>
        <legend className="mb-1 text-12 text-muted">Send</legend>
        {flags.map(({ flag, help }) => (
          <Check
            key={flag}
            label={FIELD_LABELS[flag] ?? flag}
            help={help}
            checked={draft[flag]}
            onChange={(event) => onChange({ ...draft, [flag]: event.target.checked })}
          />
        ))}
      </fieldset>
      {draft.family === 'evm' && <ReadsPart {...props} />}
    </div>
  );
}
