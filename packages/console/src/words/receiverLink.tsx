import { receiverOf } from '@sluice/kit/contract';
import { Link } from '@tanstack/react-router';

/** Links to the receiver of a webhook URL, with its name as the default text. */
export function ReceiverLink({
  webhookUrl,
  className,
  children,
}: {
  webhookUrl: string;
  className: string;
  children?: React.ReactNode;
}) {
  const receiver = receiverOf({ webhookUrl });
  return (
    <Link to="/receivers/$receiver" params={{ receiver }} className={className}>
      {children ?? receiver}
    </Link>
  );
}
