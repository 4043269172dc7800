import { movePathProblems, type StreamDraft } from '../../draft.ts';
import { Check } from '../../ui/field.tsx';
import { LineArea } from '../../ui/lineArea.tsx';
import { EventRules } from './eventRules.tsx';
import { ReadsPart } from './readsPart.tsx';
import type { PartProps } from './watchPart.tsx';

type Flag = {
  [K in keyof StreamDraft]: StreamDraft[K] extends boolean ? K : never;
}[keyof StreamDraft];

const EVM_FLAGS: { flag: Flag; label: string; help: string }[] = [
  { flag: 'includeContractLogs', label: 'Logs', help: 'that name a watched address' },
  {
    flag: 'includeNativeTxs',
    label: 'Transactions',
    help: 'from or to a watched address',
  },
  {
    flag: 'includeInternalTxs',
    label: 'Internal transactions',
    help: 'calls that move value; needs a node that traces',
  },
  {
    flag: 'includeAllTxLogs',
    label: 'All logs of each matched transaction',
    help: '',
  },
  {
    flag: 'filterPossibleSpamAddresses',
    label: 'Leave out possible spam',
    help: 'by the list of each chain',
  },
];

const APTOS_FLAGS: { flag: Flag; label: string; help: string }[] = [
  { flag: 'includeEvents', label: 'Events', help: 'of each matched transaction' },
  { flag: 'includePayload', label: 'Payloads', help: 'of each matched transaction' },
  { flag: 'includeChanges', label: 'State changes', help: 'of each matched transaction; large' },
];

/** What of the watched addresses is told. */
export function MatchPart(props: PartProps) {
  const { draft, problems, onChange } = props;
  const flags = draft.family === 'evm' ? EVM_FLAGS : APTOS_FLAGS;
  return (
    <div className="grid gap-3">
      {draft.family === 'evm' ? (
        <EventRules {...props} />
      ) : (
        <>
          <MovePaths
            label="Functions"
            placeholder="0x1::aptos_account::transfer"
            help="Entry functions as Move paths, one to a line. None: every transaction of the addresses."
            error={problems.functions}
            value={draft.functions}
            onChange={(functions) => onChange({ ...draft, functions })}
          />
          <MovePaths
            label="Move events"
            placeholder="0x1::fungible_asset::Withdraw"
            error={problems.moveEvents}
            value={draft.moveEvents}
            onChange={(moveEvents) => onChange({ ...draft, moveEvents })}
          />
        </>
      )}
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

/** Of a line the problem stands at the line; what the field lacks altogether, beneath it. */
function MovePaths({
  error,
  value,
  ...props
}: Omit<React.ComponentProps<typeof LineArea>, 'problems'>) {
  const problems = movePathProblems(value);
  return (
    <LineArea
      error={problems.length === 0 ? error : undefined}
      problems={problems}
      value={value}
      {...props}
    />
  );
}
