import { useNavigate, useSearch } from '@tanstack/react-router';
import { Explorer } from './explorer.tsx';

/** Every delivery of every stream, newest first, as it happens. */
export function DeliveriesPage() {
  const search = useSearch({ from: '/frame/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  return (
    <Explorer
      search={search}
      onSearch={(next, replace) => void navigate({ search: next, replace })}
    />
  );
}
