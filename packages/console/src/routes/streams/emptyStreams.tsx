import { StartChoices } from './starts.tsx';
import { useDemoStream } from './demoStream.ts';

/** Replaces the list if all streams were deleted, and offers ways to create a stream. */
export function EmptyStreams() {
  return (
    <section aria-labelledby="empty-title" className="py-6">
      <h2 id="empty-title" className="px-4 pb-4 text-16 font-medium">
        No streams
      </h2>
      <StartChoices demo={useDemoStream()} />
    </section>
  );
}
