/** Composes the methods of a webhook handler. */
import type { AptosHandlerMethods } from './aptos/handlerMethods.ts';
import type { AnyAbi, EvmHandlerMethods } from './evm/handlerMethods.ts';

export type {
  AnyAbi,
  HandlerFunction,
  HandlerFunctions,
  WithChainId,
} from './evm/handlerMethods.ts';

/** Registers functions. Each method returns the handler itself. */
export interface HandlerMethods<A extends AnyAbi>
  extends EvmHandlerMethods<A>, AptosHandlerMethods {}
