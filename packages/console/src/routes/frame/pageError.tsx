import { useMutation } from '@tanstack/react-query';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { sluice } from '../../data/queries/service.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';

/**
 * Shown when a page fails to load or render. A retry reloads the page if the service is reachable,
 * which also loads files that an update renamed.
 */
export function PageError({ error }: ErrorComponentProps) {
  const again = useMutation({
    mutationFn: () => sluice.checkSession(),
    onSuccess: () => location.reload(),
  });
  return (
    <ErrorPanel
      what="Couldn't show this page"
      error={again.error ?? error}
      onRetry={() => again.mutate()}
    />
  );
}
