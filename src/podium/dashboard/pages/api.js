// Requests to the server that this page comes from.

export class Failure extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

const listeners = [];

/** Call this when the server no longer knows who we are. */
export function onSignedOut(listener) {
  listeners.push(listener);
}

export function get(path, signal) {
  return ask(path, { signal });
}

export function post(path, body, signal) {
  return ask(path, {
    method: "POST", body: JSON.stringify(body), signal, headers: { "Content-Type": "application/json" },
  });
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, { ...options, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "The scheduler does not answer.", "It may be restarting. The page goes on as soon as it is back.");
  }
  if (answer.status === 401) {
    for (const listener of listeners) listener();
    throw new Failure(401, "You are signed out.", "Reload the page to see how to sign in.");
  }
  let content;
  try {
    content = await answer.json();
  } catch {
    throw new Failure(answer.status, "The answer cannot be read.", "");
  }
  if (!answer.ok) throw new Failure(answer.status, content.error || "No answer.", content.hint || "");
  return content;
}
