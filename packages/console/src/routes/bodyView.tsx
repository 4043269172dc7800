import { useMemo } from 'react';
import { JsonTree } from '../ui/jsonTree.tsx';
import { ScrollText } from '../ui/scrollText.tsx';

/** Text beyond this many characters is not laid out at once: the tree is for such bodies. */
const PLAIN_TEXT_LIMIT = 500_000;

function parse(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** The body as a tree, or as the very text that was sent. */
export function BodyView({ body, asText }: { body: string; asText: boolean }) {
  const parsed = useMemo(() => parse(body), [body]);
  if (!asText && parsed !== null) return <JsonTree value={parsed.value} label="Body" />;
  return (
    <ScrollText label="Body as sent" wrap className="flex-1">
      {body.slice(0, PLAIN_TEXT_LIMIT)}
      {body.length > PLAIN_TEXT_LIMIT && '\n… the rest is in the copy and in the tree'}
    </ScrollText>
  );
}
