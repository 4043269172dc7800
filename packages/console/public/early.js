// Runs before the first paint. A file of its own because the page's policy allows no inline script.

// A remembered theme or density does not flash another one.
try {
  for (const name of ['theme', 'density']) {
    const chosen = localStorage.getItem(`sluice.${name}`);
    if (chosen !== null) document.documentElement.dataset[name] = chosen;
  }
} catch {
  // Storage may be blocked; what the console has by default stands then.
}

// Keys typed before the console's code is there; `heldKeys.ts` takes them over.
{
  const events = [];
  const keep = (event) => {
    // Otherwise the browser would open its own search.
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') event.preventDefault();
    events.push(event);
  };
  addEventListener('keydown', keep, true);
  window.earlyKeys = { events, stop: () => removeEventListener('keydown', keep, true) };
}
