// Runs before the first paint. A separate file, because the page's policy forbids inline scripts.

// Applies the stored theme and density without a flash.
try {
  for (const name of ['theme', 'density']) {
    const chosen = localStorage.getItem(`sluice.${name}`);
    if (chosen !== null) document.documentElement.dataset[name] = chosen;
  }
} catch {
  // Storage may be blocked; the defaults apply then.
}

// Records keys typed before the console has loaded; `heldKeys.ts` replays them.
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
