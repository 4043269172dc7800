import { FORM_PARTS } from '../../families/formParts.ts';
import { listCheckFields } from './draft/plainFields.ts';
import { CheckField } from './fieldInputs.tsx';
import type { PartProps } from './partProps.ts';

/** Edits which records are sent, and which data is added to them. */
export function MatchPart(props: PartProps) {
  const { draft, onChange } = props;
  const { Selection, Additions } = FORM_PARTS[draft.family];
  return (
    <div className="grid gap-3">
      <Selection {...props} />
      <fieldset>
        <legend className="mb-1 text-12 text-muted">Send</legend>
        {listCheckFields(draft.family, 'match').map((name) => (
          <CheckField key={name} name={name} draft={draft} onChange={onChange} />
        ))}
      </fieldset>
      <Additions {...props} />
    </div>
  );
}
