import { Check, TextField } from '../../../ui/form/field.tsx';
import { NEW_OAUTH2, type OAuth2Draft, oauth2Problems } from './oauth2Draft.ts';

/** Edits the OAuth 2.0 client credentials of a stream. The saved secret is never shown. */
export function OAuth2Fields({
  value,
  onChange,
}: {
  value: OAuth2Draft | null;
  onChange: (value: OAuth2Draft | null) => void;
}) {
  const problems = oauth2Problems(value);
  const field = (name: Exclude<keyof OAuth2Draft, 'saved'>, draft: OAuth2Draft) => ({
    value: draft[name],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      onChange({ ...draft, [name]: event.target.value }),
  });
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
          <TextField
            label="Token URL"
            type="url"
            mono
            placeholder="https://auth.example.com/oauth2/token"
            error={problems.tokenUrl}
            {...field('tokenUrl', value)}
          />
          <TextField
            label="Client ID"
            mono
            error={problems.clientId}
            {...field('clientId', value)}
          />
          <TextField
            label="Client secret"
            type="password"
            autoComplete="new-password"
            mono
            placeholder={value.saved === '' ? '' : 'saved'}
            help="Stored encrypted and never shown again."
            error={problems.clientSecret}
            {...field('clientSecret', value)}
          />
          <TextField
            label="Scope"
            mono
            placeholder="optional"
            help="Separated by spaces."
            {...field('scope', value)}
          />
          <TextField label="Audience" mono placeholder="optional" {...field('audience', value)} />
        </div>
      )}
    </div>
  );
}
