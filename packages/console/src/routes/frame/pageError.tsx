import { useMutation } from '@tanstack/react-query';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { sluice } from '../../data/queries/service.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';

/**
 * A page that could not be drawn. Loading all anew also fetches what an update has renamed; not while the
 * service is away, when there is nothing to be loaded.
 */
export function PageError({ error }: ErrorComponentProps) {
  const again = useMutation({
    mutationFn: () => sluice.checkSession(),
    onSuccess: () => location.reload(),
  });
  return (
    <ErrorPanel
      what="This page failed"
      error={again.error ?? error}
      onRetry={() => again.mutate()}
    />
  );
}
