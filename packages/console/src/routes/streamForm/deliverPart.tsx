import { STREAM_FIELDS } from '@sluice/kit/contract';
import { listCheckFields, isShared, listNumberFields } from './draft/plainFields.ts';
import { headerProblems } from './draft/problems.ts';
import { TextField } from '../../ui/form/field.tsx';
import { LineArea } from '../../ui/form/lineArea.tsx';
import { DestinationFields } from './destination/destinationFields.tsx';
import { CheckField, NumberField } from './fieldInputs.tsx';
import { OAuth2Fields } from './oauth2/oauth2Fields.tsx';
import type { PartProps } from './partProps.ts';

/** Edits the destination, tag, description, limits, delivery options, headers and credentials. */
export function DeliverPart(props: PartProps) {
  const { draft, problems, onChange } = props;
  const checks = listCheckFields(draft.family, 'deliver');
  const ownChecks = checks.filter((name) => !isShared(name));
  return (
    <div className="grid gap-3">
      <DestinationFields
        label="Webhook URL"
        value={draft.webhookUrl}
        error={problems.webhookUrl}
        onChange={(webhookUrl) => onChange({ ...draft, webhookUrl })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Tag"
          help="The stream’s name, sent in each webhook."
          error={problems.tag}
          maxLength={256}
          value={draft.tag}
          onChange={(event) => onChange({ ...draft, tag: event.target.value })}
        />
        <TextField
          label="Description"
          maxLength={4096}
          value={draft.description}
          onChange={(event) => onChange({ ...draft, description: event.target.value })}
        />
      </div>
      <div className="grid gap-3 sm:grid-cols-2">
        {listNumberFields(draft.family, 'deliver').map((name) => (
          <NumberField key={name} name={name} {...props} />
        ))}
        <TextField
          label="Retries"
          mono
          help="standard, short, long or none; or waits such as 30s, 5m, 1h."
          error={problems.retries}
          value={draft.retries}
          onChange={(event) => onChange({ ...draft, retries: event.target.value })}
        />
        {'confirmations' in STREAM_FIELDS[draft.family] && (
          <TextField
            label="Confirmations"
            mono
            placeholder="set by the chain"
            help="latest, safe, finalized, or a number of blocks."
            error={problems.confirmations}
            value={draft.confirmations}
            onChange={(event) => onChange({ ...draft, confirmations: event.target.value })}
          />
        )}
      </div>
      {checks.filter(isShared).map((name) => (
        <CheckField key={name} name={name} {...props} />
      ))}
      {ownChecks.length > 0 && (
        <div>
          {ownChecks.map((name) => (
            <CheckField key={name} name={name} {...props} />
          ))}
        </div>
      )}
      <LineArea
        label="Headers"
        placeholder="authorization: Bearer …"
        help="One per line. Sent with each webhook and visible to anyone with access to the stream."
        problems={headerProblems(draft.headers)}
        value={draft.headers}
        onChange={(headers) => onChange({ ...draft, headers })}
      />
      <OAuth2Fields value={draft.oauth2} onChange={(oauth2) => onChange({ ...draft, oauth2 })} />
    </div>
  );
}
