import { isShortId } from '@sluice/kit/operator';
import type { Command } from 'commander';
import { openInBrowser } from '../terminal/browser.ts';
import {
  type ConnectionOptions,
  addConnectionOptions,
  connect,
  findTarget,
} from '../connection/connection.ts';
import { examples } from '../flags/examples.ts';
import { findDeliveryId } from '../connection/shortIds.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const declareOpen = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(
    command.argument('[what]', 'Page of the console, e.g. deliveries, or a delivery ID', ''),
  )
    .option('--print', 'Only print the URL')
    .addHelpText('after', examples('sluice open', 'sluice open deliveries'))
    .action(async (given: string, options: ConnectionOptions & { print?: boolean }) => {
      const { url } = findTarget(options, terminal);
      const what = isShortId(given)
        ? await findDeliveryId(connect(options, terminal).sluice, given)
        : given;
      const page = /^[\da-f-]{36}$/i.test(what) ? `deliveries/${what}` : what;
      const address = new URL(`console/${page}`, url.endsWith('/') ? url : `${url}/`).href;
      if (options.json) terminal.printJson({ url: address });
      else terminal.print(address);
      if (!options.print && terminal.stderr.isTTY) openInBrowser(address);
    });
