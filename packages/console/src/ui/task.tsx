/** Shows one long task at a time: its progress, a way to stop it, and a way to undo it. */
import { X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useShortcuts } from './keys/keyboard.ts';
import { formatCount } from './text/format.ts';
import { Button, Keycap } from './button.tsx';

export interface TaskStep {
  /** Aborted when the user stops the task, starts another one, or leaves the page. */
  signal: AbortSignal;
  onProgress: (done: number) => void;
}

export interface Task {
  /** The action as a present participle, such as `Removing addresses`. */
  doing: string;
  /** Number of items; undefined if it is not known. */
  total?: number | undefined;
  work: (step: TaskStep) => Promise<void>;
  /** Returns a sentence that reports the result. If absent, a finished task is hidden. */
  did?: (done: number) => string;
  /** Returns the task that undoes this one after `done` items. */
  undo?: (done: number) => Task;
  /** Returns the task that continues after `done` items. By default, this task starts again. */
  rest?: (done: number) => Task;
}

interface Shown {
  task: Task;
  state: 'running' | 'done' | 'stopped';
  done: number;
  /** Message of the error that stopped the task; otherwise empty. */
  reason: string;
}

export interface Tasks {
  shown: Shown | null;
  start: (task: Task) => void;
  /** Shows a finished task that was not run with `start`, so that it can be undone. */
  show: (task: Task, done: number) => void;
  stop: () => void;
  dismiss: () => void;
}

export function useTask(): Tasks {
  const [shown, setShown] = useState<Shown | null>(null);
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (task: Task): Promise<void> => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    let done = 0;
    const set = (state: Shown['state'], reason = ''): void => {
      if (running.current === controller) setShown({ task, state, done, reason });
    };
    const onProgress = (next: number): void => {
      done = next;
      set('running');
    };
    set('running');
    try {
      await task.work({ signal, onProgress });
      if (task.did === undefined) setShown((now) => (now?.task === task ? null : now));
      else set('done');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      set('stopped', signal.aborted ? '' : reason);
    }
  };
  return {
    shown,
    start: (task) => void run(task),
    show: (task, done) => setShown({ task, state: 'done', done, reason: '' }),
    stop: () => running.current?.abort(),
    dismiss: () => setShown(null),
  };
}

/**
 * Shows the progress of a task, and afterward its result. The result stays until it is dismissed or
 * another task starts, because users may notice a mistake late.
 */
export function TaskStrip({ tasks: { shown, start, stop, dismiss } }: { tasks: Tasks }) {
  const undo =
    shown === null || shown.state === 'running' || shown.done === 0
      ? undefined
      : shown.task.undo?.(shown.done);
  useShortcuts({
    u: () => {
      if (undo === undefined) return false;
      start(undo);
      return true;
    },
  });
  if (shown === null) return null;
  const { task, state, done, reason } = shown;
  const rest = task.rest?.(done) ?? task;
  const figures =
    task.total === undefined
      ? formatCount(done)
      : `${formatCount(done)} of ${formatCount(task.total)}`;
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-4 py-1">
      {state === 'running' ? (
        <>
          <progress
            aria-label={task.doing}
            {...(task.total !== undefined && { value: done, max: task.total })}
            className="h-1.5 w-32 accent-accent"
          />
          <span className="min-w-0">
            {task.doing}: <span className="data">{figures}</span>
          </span>
          <Button className="ml-auto" onClick={stop}>
            Stop
          </Button>
        </>
      ) : (
        <>
          <output className={state === 'stopped' ? 'min-w-0 wrap-anywhere text-warn' : 'min-w-0'}>
            {state === 'done'
              ? task.did?.(done)
              : `${task.doing}: stopped after ${figures}.${reason === '' ? '' : ` ${reason}`}`}
          </output>
          <span className="ml-auto flex gap-1">
            {state === 'stopped' && <Button onClick={() => start(rest)}>Continue</Button>}
            {undo !== undefined && (
              <Button onClick={() => start(undo)}>
                Undo
                <Keycap>u</Keycap>
              </Button>
            )}
            <Button
              variant="quiet"
              square
              aria-label="Dismiss"
              data-tip="Dismiss"
              onClick={dismiss}
            >
              <X size={14} strokeWidth={1.5} aria-hidden="true" />
            </Button>
          </span>
        </>
      )}
    </div>
  );
}
