import type { DeliveryDetail } from '@sluice/kit/sluice';
import { formatCount } from '../../../ui/text/format.ts';
import { CopyButton } from '../../../ui/text/copyButton.tsx';

interface Header {
  name: string;
  /** Value of the header; null if it is different for each attempt or is not shown. */
  value: string | null;
  meaning: string;
}

const headersOf = ({ id, bodyBytes, unverified }: DeliveryDetail): Header[] => [
  { name: 'content-type', value: 'application/json', meaning: '' },
  {
    name: 'content-length',
    value: String(bodyBytes),
    meaning: `The signed body has ${formatCount(bodyBytes)} bytes.`,
  },
  {
    name: 'x-signature',
    value: null,
    meaning: 'Keccak-256 of the body followed by the streams secret. Verify it over the raw body.',
  },
  ...(unverified.length === 0
    ? []
    : [
        {
          name: 'x-sluice-unverified',
          value: unverified.join(', '),
          meaning: 'What the evidence for the block does not cover. Not signed.',
        },
      ]),
  {
    name: 'webhook-id',
    value: id,
    meaning: 'The same for every attempt. Ignore IDs that you have handled.',
  },
  {
    name: 'webhook-timestamp',
    value: null,
    meaning: 'Time of the attempt, in Unix seconds.',
  },
  {
    name: 'webhook-signature',
    value: null,
    meaning:
      'One or more signatures of ID, timestamp and body: v1 (HMAC-SHA-256) or v1a (Ed25519), in base64.',
  },
];

/**
 * Lists the most important request headers. Signatures are created for each attempt and not stored.
 */
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
            {value ?? <span className="text-faint">set per attempt</span>}
            {value !== null && <CopyButton text={value} label={`Copy ${name}`} iconOnly />}
          </dd>
          {meaning !== '' && <dd className="basis-full text-12 text-faint">{meaning}</dd>}
        </div>
      ))}
    </dl>
  );
}
