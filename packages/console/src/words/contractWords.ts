/** What is at an address, in words. Pure. */
import { type Contract, cutText } from '@sluice/kit/sluice';

/** Names are anybody's, and as long as they like. */
const LONGEST = 40;
const short = (text: string): string =>
  text.length > LONGEST ? `${cutText(text, LONGEST)}…` : text;

/** `On Ethereum: Tether USD (USDT), 6 decimals`; what it says of itself, which nobody has checked. */
export function describeContract({ isContract, token }: Contract, chainName: string): string {
  const on = `On ${chainName}: `;
  if (!isContract) return `${on}an account, no contract`;
  if (token === null) return `${on}a contract`;
  const { name, symbol, decimals, standard } = token;
  const called = [short(name), ...(symbol === '' ? [] : [`(${short(symbol)})`])].join(' ').trim();
  const kind = standard === '' ? [] : [standard.replace('ERC', 'ERC-')];
  const units = decimals === null ? [] : [`${decimals} decimals`];
  return on + [called === '' ? 'a token without a name' : called, ...kind, ...units].join(', ');
}
