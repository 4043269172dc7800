import { CallRules } from './callRules.tsx';
import { checksOf } from './draft/plainFields.ts';
import { EventRules } from './eventRules.tsx';
import { FieldCheck } from './fieldInputs.tsx';
import { MovePaths } from './movePaths.tsx';
import { ReadsPart } from './readsPart.tsx';
import type { PartProps } from './watchPart.tsx';

/** Edits which records are sent, and which data is added to them. */
export function MatchPart(props: PartProps) {
  const { draft, onChange } = props;
  return (
    <div className="grid gap-3">
      {draft.family === 'evm' ? (
        <>
          <EventRules {...props} />
          <CallRules {...props} />
        </>
      ) : (
        <MovePaths {...props} />
      )}
      <fieldset>
        <legend className="mb-1 text-12 text-muted">Send</legend>
        {checksOf(draft.family, 'match').map((name) => (
          <FieldCheck key={name} name={name} draft={draft} onChange={onChange} />
        ))}
      </fieldset>
      {draft.family === 'evm' && <ReadsPart {...props} />}
    </div>
  );
}
