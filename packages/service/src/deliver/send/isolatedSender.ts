/** The process of `isolation.ts`: sends what it is told to, and ends with the one that tells it. */
import { createAddressGuard } from './guard.ts';
import { type Errand, type IsolatedSetup, type Report, SETUP_VARIABLE } from './isolation.ts';
import { createSender } from './send.ts';

const { allowCidrs, ...setup } = JSON.parse(process.env[SETUP_VARIABLE]!) as IsolatedSetup;
let errand: Errand | undefined;
const sender = createSender({
  guard: createAddressGuard({ allowCidrs }),
  secret: () => errand!.secret,
  region: () => errand!.region,
  ...setup,
});
const tell = (report: Report): void => void process.send!(report);

process.on('disconnect', () => process.exit());
// They are meant for the service, which lets what is under way end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

process.on('message', (told: Errand) => {
  errand = told;
  tell('taken');
  void sender.send(told.sending).then(tell);
});
tell('ready');
