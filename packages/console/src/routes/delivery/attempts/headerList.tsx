import type { DeliveryDetail } from '@sluice/kit/sluice';
import { formatCount } from '../../../ui/text/format.ts';
import { CopyButton } from '../../../ui/text/copyButton.tsx';

interface Header {
  name: string;
  /** Null where it differs from attempt to attempt, or is not for showing. */
  value: string | null;
  meaning: string;
}

const headersOf = ({ id, bodyBytes }: DeliveryDetail): Header[] => [
  { name: 'content-type', value: 'application/json', meaning: '' },
  {
    name: 'content-length',
    value: String(bodyBytes),
    meaning: `${formatCount(bodyBytes)} bytes of body, as they are signed`,
  },
  {
    name: 'x-signature',
    value: null,
    meaning: 'Keccak-256 of the body followed by the secret. Verify it over the raw body.',
  },
  {
    name: 'webhook-id',
    value: id,
    meaning: 'The same on every attempt: ignore an id you have handled.',
  },
  {
    name: 'webhook-timestamp',
    value: null,
    meaning: 'When the attempt was sent, in Unix seconds.',
  },
  {
    name: 'webhook-signature',
    value: null,
    meaning: 'v1, and the HMAC-SHA-256 of id, timestamp and body, in base64.',
  },
];

/** What travels beside the body. Signatures are made for each attempt and are not kept. */
export function HeaderList({ delivery }: { delivery: DeliveryDetail }) {
  return (
    <dl className="min-h-0 flex-1 overflow-y-auto">
      {headersOf(delivery).map(({ name, value, meaning }) => (
        <div
          key={name}
          className="flex flex-wrap items-center gap-x-3 border-b border-line px-4 py-2"
        >
          <dt className="data text-muted">{name}</dt>
          <dd className="data flex min-w-0 items-center break-all">
            {value ?? <span className="text-faint">made per attempt</span>}
            {value !== null && <CopyButton text={value} label={`Copy ${name}`} iconOnly />}
          </dd>
          {meaning !== '' && <dd className="basis-full text-12 text-faint">{meaning}</dd>}
        </div>
      ))}
    </dl>
  );
}
