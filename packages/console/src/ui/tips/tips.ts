/**
 * Shows a tooltip for elements with `data-tip`, which contains its text, or with `data-cut`, whose
 * own text is shown if it does not fit. It appears on hover, on keyboard focus, on a long press, and
 * on a tap on an element that does nothing else. One element serves all of them, because lists
 * render hundreds of rows.
 */
import './tips.css';

/** Time for which the pointer or the focus rests on an element before its tooltip appears. */
const REST_MS = 500;
/** After a tooltip was hidden, the next one appears at once within this time. */
const WARM_MS = 300;
/** Time for which the tooltip stays while the pointer moves from the element to the tooltip. */
const GRACE_MS = 100;
const LONG_PRESS_MS = 450;
/** A touch that moves farther than this, in pixels, scrolls. */
const STEADY_PX = 10;

const MARKED = '[data-tip], [data-cut]';
const ACTIVE = 'a, button, input, select, textarea, label, summary';

/** An element and the text of its tooltip. */
interface Tip {
  of: HTMLElement;
  text: string;
}

const tooltip = document.createElement('div');
tooltip.id = 'tooltip';
tooltip.className = 'tip';
tooltip.popover = 'manual';
tooltip.role = 'tooltip';

let shown: HTMLElement | undefined;
let hiddenAt = -Infinity;
/** The element under the pointer, or with the keyboard focus. */
let rested: HTMLElement | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let lastPointer = '';
let pressedAt = { x: 0, y: 0 };
let isLongPress = false;

function textOf(element: HTMLElement): string {
  const text = element.dataset['tip'];
  if (text !== undefined) return text;
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
  const isCut = scrollWidth > clientWidth || scrollHeight > clientHeight + 2;
  return isCut ? element.innerText.trim() : '';
}

/** Returns the tooltip of the innermost element that has one, from the given element outward. */
function outward(from: Element | null): Tip | undefined {
  for (
    let of = from?.closest<HTMLElement>(MARKED);
    of != null;
    of = of.parentElement?.closest<HTMLElement>(MARKED)
  ) {
    const text = textOf(of);
    if (text !== '') return { of, text };
  }
  return undefined;
}

/** Returns the tooltip of an element, or of the first part of it that has one. */
function inward(from: Element): Tip | undefined {
  const own = outward(from);
  if (own !== undefined) return own;
  for (const of of from.querySelectorAll<HTMLElement>(MARKED)) {
    const text = textOf(of);
    if (text !== '') return { of, text };
  }
  return undefined;
}

/**
 * Returns the tooltip under the pointer. The link of a row covers the row, so its cells are found
 * by their position.
 */
function under({ target, clientX, clientY }: PointerEvent): Tip | undefined {
  if (!(target instanceof Element)) return undefined;
  if (!target.matches('[data-row-link]')) return outward(target);
  for (const element of document.elementsFromPoint(clientX, clientY)) {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const isInside = clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
    if (isInside && element.matches(`${MARKED}, [role=row], tr`)) return outward(element);
  }
  return undefined;
}

function place({ of, text }: Tip): void {
  tooltip.textContent = text;
  // A modal dialog makes everything outside of it inert, and screen readers list landmarks.
  of.closest('dialog, main, header, nav, body')?.append(tooltip);
}

function show(tip: Tip): void {
  if (!tip.of.isConnected) return;
  if (shown !== undefined) tooltip.hidePopover();
  place(tip);
  shown = tip.of;
  tooltip.showPopover({ source: tip.of });
  changes.observe(tip.of, { attributeFilter: ['data-tip'] });
  changes.observe(document.body, { childList: true, subtree: true });
}

function hide(): void {
  clearTimeout(timer);
  rested = undefined;
  if (shown !== undefined) hiddenAt = performance.now();
  shown = undefined;
  changes.disconnect();
  tooltip.remove();
}

/**
 * Follows the element of the tooltip: its text may change, such as to `Copied` after a click, and a
 * live list may remove it.
 */
const changes = new MutationObserver(() => {
  const tip = shown?.isConnected === true ? outward(shown) : undefined;
  if (tip === undefined || tip.of !== shown) hide();
  else if (tip.text !== tooltip.textContent) tooltip.textContent = tip.text;
});

/** Shows a tooltip after a rest, or hides the current one if there is none to show. */
function rest(tip: Tip | undefined): void {
  if (tip?.of === rested) return;
  clearTimeout(timer);
  rested = tip?.of;
  if (tip === undefined) {
    timer = setTimeout(hide, GRACE_MS);
  } else if (tip.of !== shown) {
    const isWarm = shown !== undefined || performance.now() - hiddenAt < WARM_MS;
    timer = setTimeout(show, isWarm ? 0 : REST_MS, tip);
  }
}

/** The tooltip stays while the pointer is over it, but clicks reach what it covers. */
function isOverTooltip({ clientX, clientY }: PointerEvent): boolean {
  const { left, right, top, bottom } = tooltip.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}

function onPointer(event: PointerEvent): void {
  if (event.pointerType === 'touch') {
    const { x, y } = pressedAt;
    if (Math.hypot(event.clientX - x, event.clientY - y) > STEADY_PX) clearTimeout(timer);
  } else if (shown !== undefined && isOverTooltip(event)) {
    clearTimeout(timer);
    rested = shown;
  } else if (event.buttons === 0) {
    rest(under(event));
  }
}

addEventListener('pointerover', onPointer);
addEventListener('pointermove', onPointer);
document.documentElement.addEventListener('pointerleave', () => rest(undefined));

addEventListener('pointerdown', (event) => {
  lastPointer = event.pointerType;
  isLongPress = false;
  hide();
  const tip = event.pointerType === 'touch' ? under(event) : undefined;
  if (tip === undefined) return;
  pressedAt = { x: event.clientX, y: event.clientY };
  timer = setTimeout(() => {
    isLongPress = true;
    show(tip);
  }, LONG_PRESS_MS);
});
for (const end of ['pointerup', 'pointercancel'] as const) {
  addEventListener(end, ({ pointerType }) => {
    if (pointerType === 'touch') clearTimeout(timer);
  });
}

addEventListener(
  'click',
  (event) => {
    if (isLongPress) {
      // A long press shows the tooltip of a control and does not activate the control.
      isLongPress = false;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (!(event.target instanceof Element)) return;
    const isTerm = event.target.closest('[data-term]') !== null;
    const isIdle = lastPointer === 'touch' && event.target.closest(ACTIVE) === null;
    const tip = isTerm || isIdle ? outward(event.target) : undefined;
    if (tip !== undefined) show(tip);
  },
  { capture: true },
);

addEventListener('focusin', ({ target }) => {
  if (!(target instanceof HTMLElement) || !target.matches(':focus-visible')) return;
  const tip = inward(target);
  if (tip === undefined) return;
  rest(tip);
  // The description must be present before a screen reader announces the focus.
  const name = target.ariaLabel ?? target.innerText;
  if (name.includes(tip.text) || target.hasAttribute('aria-describedby')) return;
  if (shown === undefined) place(tip);
  target.setAttribute('aria-describedby', tooltip.id);
  target.addEventListener('blur', () => target.removeAttribute('aria-describedby'), { once: true });
});
addEventListener('focusout', hide);
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') hide();
});
