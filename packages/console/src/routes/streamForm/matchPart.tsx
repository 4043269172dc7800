import type { StreamDraft } from './draft/draft.ts';
import { Check } from '../../ui/form/field.tsx';
import { EventRules } from './eventRules.tsx';
import { MovePaths } from './movePaths.tsx';
import { ReadsPart } from './readsPart.tsx';
import type { PartProps } from './watchPart.tsx';

type Flag = {
  [K in keyof StreamDraft]: StreamDraft[K] extends boolean ? K : never;
}[keyof StreamDraft];

const EVM_FLAGS: { flag: Flag; label: string; help: string }[] = [
  { flag: 'includeContractLogs', label: 'Logs', help: 'with a watched address' },
  {
    flag: 'includeNativeTxs',
    label: 'Transactions',
    help: 'from or to a watched address',
  },
  {
    flag: 'includeInternalTxs',
    label: 'Internal transactions',
    help: 'calls that transfer value; requires a tracing node',
  },
  {
    flag: 'includeAllTxLogs',
    label: 'All logs of each matched transaction',
    help: '',
  },
  {
    flag: 'filterPossibleSpamAddresses',
    label: 'Exclude possible spam',
    help: 'based on a list per chain',
  },
];

const APTOS_FLAGS: { flag: Flag; label: string; help: string }[] = [
  { flag: 'includeEvents', label: 'Events', help: 'of each matched transaction' },
  { flag: 'includePayload', label: 'Payloads', help: 'of each matched transaction' },
  {
    flag: 'includeChanges',
    label: 'State changes',
    help: 'of each matched transaction; can be large',
  },
];

/** Edits which records of the watched addresses are sent. */
export function MatchPart(props: PartProps) {
  const { draft, onChange } = props;
  const flags = draft.family === 'evm' ? EVM_FLAGS : APTOS_FLAGS;
  return (
    <div className="grid gap-3">
      {draft.family === 'evm' ? <EventRules {...props} /> : <MovePaths {...props} />}
      <fieldset>
        <legend className="mb-1 text-12 text-muted">Send</legend>
        {flags.map(({ flag, label, help }) => (
          <Check
            key={flag}
            label={label}
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
