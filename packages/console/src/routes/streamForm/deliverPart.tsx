import { useQuery } from '@tanstack/react-query';
import { streamsQuery } from '../../data/queries/streams.ts';
import { headerProblems } from './draft/problems.ts';
import { DEFAULT_INBOX_URL } from '../../data/inboxes.ts';
import { Check, TextField } from '../../ui/form/field.tsx';
import { LineArea } from '../../ui/form/lineArea.tsx';
import { Segments } from '../../ui/form/segments.tsx';
import type { PartProps } from './watchPart.tsx';

/** Where webhooks go, under which name, and how often. */
export function DeliverPart(props: PartProps) {
  const { draft, problems, onChange } = props;
  return (
    <div className="grid gap-3">
      <Destination {...props} />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Tag"
          help="The stream’s name; each webhook carries it."
          error={draft.tag === '' ? undefined : problems.tag}
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
        <TextField
          label="At once, at most"
          inputMode="numeric"
          mono
          placeholder="64"
          help="Webhooks under way at the same time."
          error={problems.maxInFlight}
          value={draft.maxInFlight}
          onChange={(event) => onChange({ ...draft, maxInFlight: event.target.value })}
        />
        <TextField
          label="Per second, at most"
          inputMode="decimal"
          mono
          placeholder="no limit"
          help="Retries included, at even distances."
          error={problems.maxPerSecond}
          value={draft.maxPerSecond}
          onChange={(event) => onChange({ ...draft, maxPerSecond: event.target.value })}
        />
      </div>
      <Check
        label="In strict order"
        help="one at a time; one that fails holds up the rest"
        checked={draft.strictOrder}
        onChange={(event) => onChange({ ...draft, strictOrder: event.target.checked })}
      />
      {draft.family === 'evm' && (
        <div>
          <Check
            label="Only when confirmed"
            help="else each match comes twice: at once, and when its block is final"
            checked={draft.onlyConfirmed}
            onChange={(event) => onChange({ ...draft, onlyConfirmed: event.target.checked })}
          />
          <Check
            label="Tell of removed blocks"
            help="a notice for each delivery that a reorg took back"
            checked={draft.notifyRemoved}
            onChange={(event) => onChange({ ...draft, notifyRemoved: event.target.checked })}
          />
        </div>
      )}
      <LineArea
        label="Headers"
        placeholder="authorization: Bearer …"
        help="Sent with each webhook, one to a line. Anybody who may read the stream sees them."
        problems={headerProblems(draft.headers)}
        value={draft.headers}
        onChange={(headers) => onChange({ ...draft, headers })}
      />
    </div>
  );
}

const PLACES = [
  { value: 'inbox', label: 'Inbox' },
  { value: 'url', label: 'URL' },
] as const;

const isInbox = (url: string): boolean => url.startsWith('sluice:');

/** The built-in inbox, or a receiver of one's own. */
function Destination({ draft, problems, onChange }: PartProps) {
  const { data: streams = [] } = useQuery(streamsQuery);
  const inbox = isInbox(draft.webhookUrl);
  const choose = (place: 'inbox' | 'url'): void => {
    // Most streams of a service go to the same receiver. Secrets in its URL are not listed.
    const last = streams.find(
      ({ webhookUrl: url }) => !isInbox(url) && !url.includes('***'),
    )?.webhookUrl;
    onChange({ ...draft, webhookUrl: place === 'inbox' ? DEFAULT_INBOX_URL : (last ?? '') });
  };
  return (
    <div className="grid gap-2">
      <Segments
        label="Destination"
        options={PLACES}
        value={inbox ? 'inbox' : 'url'}
        onChange={choose}
      />
      <TextField
        label="Webhook URL"
        type="url"
        mono
        placeholder="https://api.example.com/webhooks"
        help={
          inbox
            ? 'Kept by this service, to be looked at under Inbox.'
            : 'Gets a test webhook before the stream is accepted, and must answer it with 2xx.'
        }
        error={draft.webhookUrl === '' ? undefined : problems.webhookUrl}
        value={draft.webhookUrl}
        onChange={(event) => onChange({ ...draft, webhookUrl: event.target.value.trim() })}
      />
    </div>
  );
}
