/** Describes what is deployed at an address. */
import type { ContractDetails } from '@sluice/kit/sluice';
import { cutText } from '@sluice/kit/contract';

/** Maximum length of a displayed name or symbol. A contract may choose longer ones. */
const LONGEST = 40;
const short = (text: string): string =>
  text.length > LONGEST ? `${cutText(text, LONGEST)}…` : text;

/**
 * Describes an account or a contract: `On Ethereum: Tether USD (USDT), 6 decimals`. The name and
 * symbol are reported by the contract and not verified.
 */
export function describeContract(
  { isContract, token }: ContractDetails,
  chainName: string,
): string {
  const on = `On ${chainName}: `;
  if (!isContract) return `${on}an account, not a contract`;
  if (token === null) return `${on}a contract`;
  const { name, symbol, decimals, standard } = token;
  const called = [short(name), ...(symbol === '' ? [] : [`(${short(symbol)})`])].join(' ').trim();
  const kind = standard === '' ? [] : [standard.replace('ERC', 'ERC-')];
  const units = decimals === null ? [] : [`${decimals} decimals`];
  return on + [called === '' ? 'an unnamed token' : called, ...kind, ...units].join(', ');
}
