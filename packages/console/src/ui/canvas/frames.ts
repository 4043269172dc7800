/** Draws all lanes that changed in one animation frame. */

/** Draws, and returns whether another frame is needed. */
type Draw = (now: number) => boolean;

const waiting = new Set<Draw>();

function runAll(now: number): void {
  const due = [...waiting];
  waiting.clear();
  for (const draw of due) if (draw(now)) waiting.add(draw);
  if (waiting.size > 0) requestAnimationFrame(runAll);
}

/** Draws in the next frame, once, however often it is called before. */
export function drawSoon(draw: Draw): void {
  if (waiting.size === 0) requestAnimationFrame(runAll);
  waiting.add(draw);
}

export function cancelDraw(draw: Draw): void {
  waiting.delete(draw);
}
