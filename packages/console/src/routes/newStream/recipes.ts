/** Declares the recipes, which fill in the form of a new stream. */
import { familyOf, type ListedAddress } from '@sluice/kit/contract';
import type { NetworkType } from '@sluice/kit';
import type { RecipeId } from '../../data/search.ts';
import { parseEvents } from '../streamForm/draft/abiText.ts';
import {
  ERC20_TRANSFER,
  NEW_DRAFT,
  withEvents,
  withRule,
  type Condition,
  type StreamDraft,
} from '../streamForm/draft/draft.ts';
import { FIELDS } from '../streamForm/draft/plainFields.ts';
import { withoutTurns } from '../../words/names.ts';
import { formatHash, formatQuantity } from '../../ui/text/format.ts';
import type { TokenUnit } from '../streamForm/draft/tokenAmount.ts';

/** A field that a recipe leaves to the user, named as in the form's `data-field` attributes. */
export type FieldToFill = 'addresses' | 'amount' | 'events';

export interface Recipe {
  id: RecipeId;
  title: string;
  /** Instruction for the user, and a summary of what the stream watches. */
  text: string;
  family: NetworkType;
  toFill: readonly FieldToFill[];
  /** Returns a name for the stream. `subject` names the address if the stream has only one. */
  name: (subject?: string) => string;
  /** Adds the recipe's rules to a draft without rules. */
  fill: (draft: StreamDraft) => StreamDraft;
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const ERC1155_SINGLE =
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)';
const ERC1155_BATCH =
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)';
const ERC721_TRANSFER =
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)';

/** Adds the events of an ABI to a draft without rules, each with the same condition. */
function withConditions(draft: StreamDraft, abi: string[], condition: Condition): StreamDraft {
  const next = withEvents(draft, parseEvents(abi.join('\n')).items);
  return { ...next, rules: next.rules.map((rule) => ({ ...rule, conditions: [condition] })) };
}

export const RECIPES: readonly Recipe[] = [
  {
    id: 'wallet',
    title: 'Watch a wallet',
    text: 'Paste the address of an account. Watches its native payments and its token and NFT transfers.',
    family: 'evm',
    toFill: ['addresses'],
    name: (subject = '') => `Wallet ${subject}`.trimEnd(),
    // Without an ABI, `Transfer` matches both ERC-20 and ERC-721 transfers.
    fill: (draft) =>
      [
        'Transfer(address,address,uint256)',
        'TransferSingle(address,address,address,uint256,uint256)',
        'TransferBatch(address,address,address,uint256[],uint256[])',
      ].reduce(withRule, { ...draft, includeNativeTxs: true }),
  },
  {
    id: 'transfers',
    title: 'Token transfers',
    text: 'Paste the address of a token. Watches all transfers of the token.',
    family: 'evm',
    toFill: ['addresses'],
    name: (subject = 'Token') => `${subject} transfers`,
    fill: (draft) => withEvents(draft, parseEvents(ERC20_TRANSFER).items),
  },
  {
    id: 'payments',
    title: 'Large payments',
    text: 'Paste the address of a token and enter an amount. Watches transfers of at least this amount.',
    family: 'evm',
    toFill: ['addresses', 'amount'],
    name: (subject) => (subject === undefined ? 'Large payments' : `Large ${subject} payments`),
    fill: (draft) =>
      withConditions(draft, [ERC20_TRANSFER], { name: 'value', operator: 'gte', value: '' }),
  },
  {
    id: 'events',
    title: 'Contract events',
    text: 'Paste the address of a contract, then choose from its events.',
    family: 'evm',
    toFill: ['addresses', 'events'],
    name: (subject = 'Contract') => `${subject} events`,
    fill: (draft) => draft,
  },
  {
    id: 'mints',
    title: 'NFT mints',
    text: 'Paste the address of a collection. Watches its mints: transfers from the zero address.',
    family: 'evm',
    toFill: ['addresses'],
    name: (subject = 'NFT') => `${subject} mints`,
    fill: (draft) =>
      withConditions(draft, [ERC721_TRANSFER, ERC1155_SINGLE, ERC1155_BATCH], {
        name: 'from',
        operator: 'eq',
        value: ZERO_ADDRESS,
      }),
  },
  {
    id: 'aptos',
    title: 'Aptos payments',
    text: 'Paste the address of an account. Watches its payments of APT, coins and fungible assets.',
    family: 'aptos',
    toFill: ['addresses'],
    name: (subject) => (subject === undefined ? 'Aptos payments' : `Aptos payments for ${subject}`),
    fill: (draft) => ({
      ...draft,
      functions: [
        '0x1::aptos_account::transfer',
        '0x1::aptos_account::transfer_coins',
        '0x1::aptos_account::transfer_fungible_assets',
        '0x1::aptos_account::batch_transfer',
        '0x1::coin::transfer',
        '0x1::primary_fungible_store::transfer',
      ].join('\n'),
    }),
  },
];

export const recipeOf = (id: RecipeId | undefined): Recipe | undefined =>
  RECIPES.find((recipe) => recipe.id === id);

/** Returns the recipes for the chain families of a service. */
export const recipesFor = (chains: readonly { id: string }[]): readonly Recipe[] =>
  RECIPES.filter(({ family }) => chains.some(({ id }) => familyOf(id) === family));

/** Returns the draft fields that a recipe keeps, because what a stream watches does not affect them. */
const toKept = (draft: StreamDraft): Partial<StreamDraft> =>
  Object.fromEntries(
    Object.entries(draft).filter(
      ([name]) =>
        ['webhookUrl', 'tag', 'description', 'headers', 'oauth2'].includes(name) ||
        FIELDS[name]?.input?.part === 'deliver',
    ),
  );

/**
 * Replaces the rules of a draft with the rules of a recipe, and resets all other fields that define
 * what the stream watches.
 * @returns the draft, with its chains and addresses if the recipe is for the same chain family.
 */
export function withRecipe(draft: StreamDraft, { family, fill }: Recipe): StreamDraft {
  const { chains, addresses } = family === draft.family ? draft : NEW_DRAFT;
  return fill({ ...NEW_DRAFT, ...toKept(draft), family, chains, addresses });
}

/**
 * Returns a name for the stream of a recipe, from the label, the token symbol or the shortened form
 * of its address. With several addresses, the name contains their number instead.
 */
export function nameOfRecipe(
  { name }: Recipe,
  rows: readonly ListedAddress[],
  unit: TokenUnit | null,
): string {
  const [row] = rows;
  if (row === undefined) return name();
  if (rows.length > 1) return `${name()} (${formatQuantity(rows.length, 'address', 'addresses')})`;
  // The symbol is untrusted, because the contract chooses it.
  const symbol = withoutTurns(unit?.symbol ?? '');
  return name(row.label || symbol || formatHash(row.address));
}
