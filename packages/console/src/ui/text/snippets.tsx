import { useState } from 'react';
import { CopyButton } from './copyButton.tsx';
import { ScrollText } from './scrollText.tsx';
import { Segments } from '../form/segments.tsx';

/** Shows a snippet in one of several languages, with a copy button. */
export function Snippets({ snippets }: { snippets: Readonly<Record<string, string>> }) {
  const names = Object.keys(snippets);
  const [chosen, setChosen] = useState(names[0] ?? '');
  const text = snippets[chosen] ?? '';
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex items-center gap-1 border-b border-line px-3 py-1">
        <Segments
          label="Language"
          options={names.map((name) => ({ value: name, label: name }))}
          value={chosen}
          onChange={setChosen}
        />
        <span className="ml-auto">
          <CopyButton text={text} label="Copy" />
        </span>
      </div>
      <ScrollText label={chosen} className="flex-1">
        {text}
      </ScrollText>
    </div>
  );
}
