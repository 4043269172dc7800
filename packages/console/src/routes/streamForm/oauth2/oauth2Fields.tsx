import { Check, TextField } from '../../../ui/form/field.tsx';
import { OAUTH2_FIELDS, type StreamFieldView } from '@sluice/kit/contract';
import {
  NEW_OAUTH2,
  OAUTH2_NAMES,
  type OAuth2Draft,
  type OAuth2Name,
  oauth2Problems,
} from './oauth2Draft.ts';

const ROWS: Readonly<Record<OAuth2Name, StreamFieldView>> = OAUTH2_FIELDS;

/** Attributes of inputs that are not plain texts. */
const ATTRIBUTES: Partial<Record<OAuth2Name, React.ComponentProps<'input'>>> = {
  tokenUrl: { type: 'url' },
  clientSecret: { type: 'password', autoComplete: 'new-password' },
};

/** Edits the OAuth 2.0 client credentials of a stream. The saved secret is never shown. */
export function OAuth2Fields({
  value,
  onChange,
}: {
  value: OAuth2Draft | null;
  onChange: (value: OAuth2Draft | null) => void;
}) {
  const problems: Partial<Record<OAuth2Name, string>> = oauth2Problems(value);
  return (
    <div className="grid gap-3">
      <Check
        label="OAuth 2.0"
        help="sends an access token with each webhook"
        checked={value !== null}
        onChange={(event) => onChange(event.target.checked ? NEW_OAUTH2 : null)}
      />
      {value !== null && (
        <div className="grid gap-3 sm:grid-cols-2">
          {OAUTH2_NAMES.map((name) => {
            const { label = name, input } = ROWS[name];
            const isSaved = name === 'clientSecret' && value.saved !== '';
            return (
              <TextField
                key={name}
                label={label}
                mono
                placeholder={isSaved ? 'saved' : input?.placeholder}
                help={input?.hint || undefined}
                error={problems[name]}
                {...ATTRIBUTES[name]}
                value={value[name]}
                onChange={(event) => onChange({ ...value, [name]: event.target.value })}
              />
            );
          })}
        </div>
      )}
    </div>
  );
}
