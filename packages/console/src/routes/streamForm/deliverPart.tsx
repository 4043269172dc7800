import { FEED_URL, STREAM_FIELDS, isTablesUrl, queueBrokerOf } from '@sluice/kit/contract';
import { useQuery } from '@tanstack/react-query';
import { streamsQuery } from '../../data/queries/streams.ts';
import { listCheckFields, isShared, listNumberFields } from './draft/plainFields.ts';
import { headerProblems } from './draft/problems.ts';
import { DEFAULT_INBOX_URL } from '../../data/inboxes.ts';
import { TextField } from '../../ui/form/field.tsx';
import { LineArea } from '../../ui/form/lineArea.tsx';
import { Segments } from '../../ui/form/segments.tsx';
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
      <Destination {...props} />
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

const PLACES = [
  { value: 'inbox', label: 'Inbox' },
  { value: 'feed', label: 'Feed' },
  { value: 'url', label: 'URL' },
] as const;
type Place = (typeof PLACES)[number]['value'];

const HELP: Readonly<Record<Place, string>> = {
  inbox: 'This service stores the webhooks and shows them under Inbox.',
  feed: 'Your program reads the webhooks from this service, so it needs no URL.',
  url: 'Must respond to a test webhook with 2xx before the stream is saved. For NATS JetStream, enter nats://host:4222/subject; for RabbitMQ, amqps://host/vhost?routingKey=QUEUE; for Kafka, kafka://host:9092/topic; for tables in PostgreSQL, postgres://host/database?schema=NAME.',
};
const QUEUE_HELP =
  'The broker must confirm a test message before the stream is saved. In a subject, routing key or key, {stream}, {tag}, {chain} and {phase} are replaced.';

const TABLES_HELP =
  'The tables are created in this schema before the stream is saved. A schema has the rows of one stream.';

/** Returns the help of a webhook URL. */
export function helpOf(url: string): string {
  if (isTablesUrl(url)) return TABLES_HELP;
  return queueBrokerOf(url) === undefined ? HELP[placeOf(url)] : QUEUE_HELP;
}

const placeOf = (url: string): Place =>
  url === FEED_URL ? 'feed' : url.startsWith('sluice:') ? 'inbox' : 'url';

/** Selects the built-in inbox, a feed or a URL. */
function Destination({ draft, problems, onChange }: PartProps) {
  const { data: streams = [] } = useQuery(streamsQuery);
  const place = placeOf(draft.webhookUrl);
  const choose = (chosen: Place): void => {
    // Suggests the URL of another stream, but skips URLs in which the service has masked a secret.
    const last = streams.find(
      ({ webhookUrl: url }) => placeOf(url) === 'url' && !url.includes('***'),
    )?.webhookUrl;
    const urls: Readonly<Record<Place, string>> = {
      inbox: DEFAULT_INBOX_URL,
      feed: FEED_URL,
      url: last ?? '',
    };
    onChange({ ...draft, webhookUrl: urls[chosen] });
  };
  return (
    <div className="grid gap-2">
      <Segments label="Destination" options={PLACES} value={place} onChange={choose} />
      <TextField
        label="Webhook URL"
        data-field="destination"
        type="url"
        mono
        placeholder="https://api.example.com/webhooks"
        help={helpOf(draft.webhookUrl)}
        error={problems.webhookUrl}
        value={draft.webhookUrl}
        onChange={(event) => onChange({ ...draft, webhookUrl: event.target.value.trim() })}
      />
    </div>
  );
}
