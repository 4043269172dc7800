import { cutText } from '@sluice/kit/contract';
import { Loading } from '../ui/loading.tsx';
import { ScrollText } from '../ui/text/scrollText.tsx';
import { useBody } from './body.ts';
import { JsonTree } from './jsonTree.tsx';

/**
 * Maximum number of characters to show of text that is not JSON, because laying out longer text is
 * slow. JSON of any length is shown as a tree.
 */
export const PLAIN_TEXT_LIMIT = 500_000;

/** Shows JSON as a tree, and any other text unchanged, up to {@link PLAIN_TEXT_LIMIT}. */
export function BodyView({
  label,
  text,
  children,
}: {
  label: string;
  text: string;
  /** Content at the right end of the toolbar. */
  children?: React.ReactNode;
}) {
  const body = useBody(text);
  if (body === undefined) return <Loading className="p-4" />;
  if (body !== null) {
    return (
      <JsonTree body={body} label={label}>
        {children}
      </JsonTree>
    );
  }
  return (
    <>
      {children !== undefined && (
        <div className="flex justify-end border-b border-line px-3 py-1">{children}</div>
      )}
      <ScrollText label={label} wrap className="flex-1">
        {cutText(text, PLAIN_TEXT_LIMIT)}
        {text.length > PLAIN_TEXT_LIMIT && '\n… Copy the text to see the rest'}
      </ScrollText>
    </>
  );
}
