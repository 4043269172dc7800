import { useNavigate, useSearch } from '@tanstack/react-router';
import { DeliveryExplorer } from './explorer.tsx';

/** Lists the deliveries of all streams live, newest first. */
export function DeliveriesPage() {
  const search = useSearch({ from: '/frame/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  return (
    <DeliveryExplorer
      search={search}
      onSearch={(next, replace) => void navigate({ search: next, replace })}
    />
  );
}
