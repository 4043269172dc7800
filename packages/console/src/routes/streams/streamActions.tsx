import { useNavigate, useRouter } from '@tanstack/react-router';
import type { FleetStream } from '../../data/fleet.ts';
import { focusedRow, useActions } from '../../ui/keys/actionList.tsx';
import { copyActions, useCopyKeys, type CopyableParts } from '../../words/copyKeys.ts';
import { nameOfStream } from '../../words/names.ts';

/** Returns the button that pauses or resumes the stream in whose row an element is. */
export const pauseButtonNear = (at: Element | null): HTMLElement | null | undefined =>
  at?.closest('[data-row]')?.querySelector('[data-pause]');

/**
 * Lists the actions of a row when `.` or its button is pressed, and binds the keys that copy its id and
 * link.
 * @returns the list while it is open.
 */
export function useStreamActions({
  fleet,
  marks,
  onMark,
  onReplay,
}: {
  fleet: readonly FleetStream[] | undefined;
  marks: ReadonlySet<string>;
  onMark: (id: string, through: boolean) => void;
  /**
   * Replays failed deliveries of the selected streams, or of the given stream if none is selected.
   */
  onReplay: (id: string) => void;
}): React.ReactNode {
  const navigate = useNavigate();
  const router = useRouter();
  const copiesOf = (streamId: string): CopyableParts => {
    const { publicHref } = router.buildLocation({ to: '/streams/$streamId', params: { streamId } });
    return { id: streamId, link: new URL(publicHref, location.href).href };
  };
  useCopyKeys(() => {
    const id = focusedRow();
    return id === undefined ? null : copiesOf(id);
  });
  return useActions((at) => {
    const id = focusedRow(at);
    const stream = fleet?.find((row) => row.stream.id === id)?.stream;
    if (stream === undefined) return null;
    const params = { streamId: stream.id };
    const pause = pauseButtonNear(at);
    return {
      of: nameOfStream(stream),
      actions: [
        {
          label: 'Open',
          keycap: '↵',
          run: () => void navigate({ to: '/streams/$streamId', params }),
        },
        pause != null && {
          label: stream.status === 'paused' ? 'Resume' : 'Pause',
          keycap: 'p',
          run: () => pause.click(),
        },
        {
          label: marks.has(stream.id) ? 'Deselect' : 'Select',
          keycap: '␣',
          run: () => onMark(stream.id, false),
        },
        {
          label:
            marks.size > 0
              ? `Replay failed deliveries (${marks.size} selected)…`
              : 'Replay failed deliveries…',
          keycap: 'r',
          run: () => onReplay(stream.id),
        },
        ...copyActions(copiesOf(stream.id)),
        {
          label: 'Failed deliveries',
          run: () =>
            void navigate({ to: '/streams/$streamId', params, search: { state: 'failed' } }),
        },
        {
          label: 'Settings',
          run: () =>
            void navigate({ to: '/streams/$streamId', params, search: { tab: 'settings' } }),
        },
      ],
    };
  });
}
