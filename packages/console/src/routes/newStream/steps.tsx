import { clsx } from 'clsx';
import { type RefObject, useEffect, useState } from 'react';
import { STEPS, type StepName } from './step.ts';
import type { Todo } from './todo.ts';

const NAMES = Object.keys(STEPS) as StepName[];

const STATES = {
  wrong: { shape: 'shape-triangle text-bad', word: 'has a problem' },
  todo: { shape: 'shape-ring text-faint', word: 'to do' },
  done: { shape: 'shape-disc text-ok', word: 'done' },
} as const;

/** Links to the parts of the form, with their states. The current one follows scrolling and focus. */
export function Steps({
  form,
  todo,
  wrong,
}: {
  form: RefObject<HTMLFormElement | null>;
  todo: readonly Todo[];
  /** Those of `todo` that the form shows as errors. */
  wrong: readonly Todo[];
}) {
  const current = useCurrentStep(form);
  const has = (items: readonly Todo[], name: StepName): boolean =>
    items.some(({ step }) => name === 'review' || step === name);
  return (
    <nav
      aria-label="Steps"
      data-bar="top"
      className="new-stream-steps border-b border-line bg-bg px-2"
    >
      <ol className="flex">
        {NAMES.map((name) => {
          const { shape, word } =
            STATES[has(wrong, name) ? 'wrong' : has(todo, name) ? 'todo' : 'done'];
          return (
            <li key={name}>
              <a
                href={`#step-${name}`}
                aria-current={name === current ? 'step' : undefined}
                onClick={(event) => {
                  event.preventDefault();
                  openStep(form.current, name);
                }}
                className="new-stream-step control flex items-center gap-1.5 px-2 text-12 text-muted hover:text-text"
              >
                <span className={clsx('shape', shape)} />
                {STEPS[name]}
                <span className="sr-only">, {word}</span>
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** Scrolls to a part of the form, and moves the focus there, so that Tab continues in it. */
export function openStep(form: HTMLFormElement | null, name: StepName): void {
  const part = form?.querySelector<HTMLElement>(`[data-step=${name}]`);
  part?.scrollIntoView({ block: 'start' });
  part?.focus({ preventScroll: true });
}

/** Height at which a part becomes the current one, as a share of the window. */
const MARK = 0.35;

function useCurrentStep(form: RefObject<HTMLFormElement | null>): StepName {
  const [current, setCurrent] = useState<StepName>('watch');
  useEffect(() => {
    const update = (): void => setCurrent((before) => findCurrent(form.current) ?? before);
    // Scroll events of the form's container do not bubble.
    addEventListener('scroll', update, { capture: true, passive: true });
    addEventListener('focusin', update);
    return () => {
      removeEventListener('scroll', update, { capture: true });
      removeEventListener('focusin', update);
    };
  }, [form]);
  return current;
}

/** Returns the part with the focus if it is visible; otherwise the part at the mark. */
function findCurrent(form: HTMLFormElement | null): StepName | undefined {
  if (form === null) return undefined;
  const parts = [...form.querySelectorAll<HTMLElement>('[data-step]')];
  const above = form.querySelector('[data-bar=top]')?.getBoundingClientRect().bottom ?? 0;
  const below = form.querySelector('[data-bar=bottom]')?.getBoundingClientRect().top ?? 0;
  const isVisible = (element: Element | null | undefined): boolean => {
    const top = element?.getBoundingClientRect().top ?? -1;
    // Scrolling rounds to whole pixels.
    return top >= above - 1 && top < below;
  };
  const active = document.activeElement;
  const focused = parts.find((part) => part.contains(active));
  if (isVisible(active) && focused !== undefined) return stepOf(focused);
  if (isVisible(parts.at(-1)?.lastElementChild)) return stepOf(parts.at(-1));
  return stepOf(parts.findLast((part) => part.getBoundingClientRect().top <= innerHeight * MARK));
}

const stepOf = (part: HTMLElement | undefined): StepName | undefined =>
  part?.dataset['step'] as StepName | undefined;
