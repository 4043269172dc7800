import { Button } from '../../ui/button.tsx';
import { Snippets } from '../../ui/text/snippets.tsx';
import type { StreamDraft } from '../streamForm/draft/draft.ts';
import type { Watched } from '../streamForm/sentence/describeStream.ts';
import { Sentence } from '../streamForm/sentence/sentence.tsx';
import { createSnippets } from './createSnippets.ts';
import { STEPS, type StepName } from './step.ts';
import type { Todo } from './todo.ts';

/** Shows the stream in a sentence, what is still to do, and the stream as code. */
export function Review({
  draft,
  watched,
  todo,
  onOpen,
}: {
  draft: StreamDraft;
  watched: Watched;
  todo: readonly Todo[];
  onOpen: (step: StepName) => void;
}) {
  return (
    <>
      <p className="wrap-anywhere">
        <Sentence draft={draft} watched={watched} />
      </p>
      {todo.length > 0 && (
        <ul aria-label="To do" className="mt-2">
          {todo.map(({ step, text }) => (
            <li key={text} className="flex items-start gap-2">
              <Button onClick={() => onOpen(step)}>{STEPS[step]}</Button>
              <span className="py-1">{text}</span>
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary className="flex min-h-9 cursor-pointer items-center text-12 text-muted">
          As code
        </summary>
        <Snippets snippets={createSnippets(draft, location.origin)} />
      </details>
    </>
  );
}
