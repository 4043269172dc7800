import { CopyButton } from './copyButton.tsx';
import { ScrollText } from './scrollText.tsx';

/** Shows shell commands with a copy button. */
export function Command({ label, text }: { label: string; text: string }) {
  return (
    <>
      <ScrollText label={label} className="min-w-0 flex-1">
        {text}
      </ScrollText>
      <span className="p-1">
        <CopyButton text={text} label={`Copy command: ${label}`} iconOnly />
      </span>
    </>
  );
}
