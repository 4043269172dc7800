import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorPanel } from '../../ui/errorPanel.tsx';

/** A page that could not be drawn. Reloading also fetches what an update has renamed. */
export function PageError({ error }: ErrorComponentProps) {
  return <ErrorPanel what="This page failed" error={error} onRetry={() => location.reload()} />;
}
