import type { DeliveryDetail } from '@sluice/kit/sluice';
import { cutText } from '@sluice/kit/contract';
import { toFixtureName } from '@sluice/kit/operator';
import { Code, Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Body } from '../../../body/body.ts';
import { PLAIN_TEXT_LIMIT } from '../../../body/bodyView.tsx';
import { readText, type SentBody } from '../../../body/bodyWorker.ts';
import { download } from '../../../ui/text/download.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/text/copyButton.tsx';
import { JsonTree } from '../../../body/jsonTree.tsx';
import { ScrollText } from '../../../ui/text/scrollText.tsx';

/** Shows the body as a tree, or as the exact text that was sent. */
export function PayloadView({
  delivery,
  sent,
  body,
}: {
  delivery: DeliveryDetail;
  sent: SentBody;
  /** Parsed body; null if the sent body is not JSON. */
  body: Body | null;
}) {
  const [asText, setAsText] = useState(false);
  const tools = (
    <>
      <Button
        variant="quiet"
        square
        aria-pressed={asText}
        aria-label="Show the body as text"
        data-tip={asText ? 'Show as tree' : 'Show as text'}
        className="aria-pressed:text-accent"
        onClick={() => setAsText(!asText)}
      >
        <Code size={14} strokeWidth={1.5} aria-hidden="true" />
      </Button>
      <CopyButton text={() => readText(sent)} label="Copy body" iconOnly />
      <Button
        variant="quiet"
        data-tip="Save the body as a fixture, for tests or the command “sluice fixture run”"
        onClick={() =>
          void readText(sent).then((text) =>
            download(toFixtureName(delivery), text, 'application/json'),
          )
        }
      >
        <Download size={14} strokeWidth={1.5} aria-hidden="true" />
        Fixture
      </Button>
    </>
  );
  if (!asText && body !== null) {
    return (
      <JsonTree body={body} label="Body">
        {tools}
      </JsonTree>
    );
  }
  return (
    <>
      <div className="flex justify-end border-b border-line px-3 py-1">{tools}</div>
      <SentText sent={sent} />
    </>
  );
}

function SentText({ sent }: { sent: SentBody }) {
  const [read, setRead] = useState('');
  useEffect(() => {
    if (typeof sent !== 'string') void readText(sent).then(setRead);
  }, [sent]);
  const text = typeof sent === 'string' ? sent : read;
  return (
    <ScrollText label="Body as sent" wrap className="flex-1">
      {cutText(text, PLAIN_TEXT_LIMIT)}
      {text.length > PLAIN_TEXT_LIMIT && '\n… Copy the body or open the tree to see the rest'}
    </ScrollText>
  );
}
