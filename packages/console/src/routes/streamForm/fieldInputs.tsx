/** The controls of fields that need no component of their own. */
import {
  FIELDS,
  isChecked,
  withCheck,
  type CheckFieldName,
  type NumberFieldName,
} from './draft/plainFields.ts';
import type { DraftField } from './draft/draftField.ts';
import { Check, TextField } from '../../ui/form/field.tsx';
import type { PartProps } from './partProps.ts';

/** Edits a switch, or a choice between two values. */
export function CheckField({
  name,
  draft,
  onChange,
}: { name: CheckFieldName } & Pick<PartProps, 'draft' | 'onChange'>) {
  const { label = name, input } = FIELDS[name]!;
  return (
    <Check
      label={input?.label ?? label}
      help={input?.hint ?? ''}
      checked={isChecked(draft, name)}
      onChange={(event) => onChange(withCheck(draft, name, event.target.checked))}
    />
  );
}

/** Edits a number as text. */
export function NumberField({
  name,
  draft,
  problems,
  onChange,
}: { name: NumberFieldName } & Pick<PartProps, 'draft' | 'problems' | 'onChange'>) {
  const { label = name, input, kind } = FIELDS[name]!;
  return (
    <TextField
      label={label}
      inputMode={kind === 'integer' ? 'numeric' : 'decimal'}
      mono
      placeholder={input?.placeholder}
      help={input?.hint}
      error={problems[name satisfies DraftField]}
      value={draft[name]}
      onChange={(event) => onChange({ ...draft, [name]: event.target.value })}
    />
  );
}
