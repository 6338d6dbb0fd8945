// Loads again what a screen shows, when the live state has changed.

/**
 * Returns an object that calls `load` when `changed` is given another key, with `pause` milliseconds between two
 * calls. A change while an answer is loading, or during the pause, is loaded afterwards: the answer may be older.
 */
export function refresher(load, pause) {
  let seen = "";
  let isDue = false;
  let isLoading = false;
  let isOver = false;
  let last = 0;
  let timer = 0;

  async function run() {
    timer = 0;
    isDue = false;
    isLoading = true;
    last = Date.now();
    await load();
    isLoading = false;
    plan();
  }

  function plan() {
    if (!isDue || isLoading || timer || isOver) return;
    const wait = last + pause - Date.now();
    if (wait > 0) timer = setTimeout(run, wait);
    else run();
  }

  return {
    changed(key) {
      if (key === seen) return;
      seen = key;
      isDue = true;
      plan();
    },
    close() { isOver = true; clearTimeout(timer); },
  };
}
