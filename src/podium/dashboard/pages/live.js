// The live state: what the stream of the server says, and how fresh it is.

import { get, onSignedOut } from "./api.js";

const HISTORY = 240; // updates, two minutes of them
const STALE_SECONDS = 12;
const ANSWER_SECONDS = 10;

export const live = {
  overview: null,
  map: null, // names, zones, columns, pods, flags
  status: "connecting", // live, busy, stale, signed-out
  trouble: "",
  offset: 0, // seconds that the cluster's clock is ahead of ours
  history: [], // {bound, pending} of each update
};

const readers = new Set();
let source = null;
let heard = Date.now();
let reconnecting = false;

/** Call this after every update; returns how to end it. */
export function subscribe(reader) {
  readers.add(reader);
  return () => readers.delete(reader);
}

function tell() {
  for (const reader of readers) reader(live);
}

export function start() {
  onSignedOut(() => setStatus("signed-out"));
  open();
  setInterval(watch, 3000);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    if (live.status === "signed-out") reconnect(); // perhaps signed in elsewhere
    else watch();
  });
}

function open() {
  if (source) source.close();
  source = new EventSource("api/stream");
  source.addEventListener("whole", (event) => {
    const { overview, map } = JSON.parse(event.data);
    live.map = map;
    take(overview);
  });
  source.addEventListener("update", (event) => {
    const { overview, change } = JSON.parse(event.data);
    if (change) applyChange(change);
    take(overview);
  });
  source.addEventListener("alive", () => {
    heard = Date.now();
    setStatus("live");
  });
  source.addEventListener("busy", (event) => {
    heard = Date.now();
    setStatus("busy", JSON.parse(event.data).error);
  });
  source.addEventListener("error", () => {
    if (live.status !== "signed-out") setStatus("stale");
    if (source.readyState === EventSource.CLOSED) reconnect();
  });
}

/**
 * Open the stream again once the server answers: after an hour of sleep it may be dead without anybody noticing.
 * Only one request is under way at a time: a slow server would get a new stream for each answer.
 */
function reconnect() {
  if (reconnecting) return;
  reconnecting = true;
  const asking = new AbortController();
  const patience = setTimeout(() => asking.abort(), ANSWER_SECONDS * 1000); // by the same clock as all else here
  get("overview", asking.signal)
    .then(reopen, () => undefined)
    .finally(() => { clearTimeout(patience); reconnecting = false; });
}

function reopen() {
  heard = Date.now();
  open();
}

function watch() {
  if (live.status === "signed-out") return;
  if ((Date.now() - heard) / 1000 < STALE_SECONDS) return;
  setStatus("stale");
  reconnect();
}

function take(overview) {
  heard = Date.now();
  live.overview = overview;
  live.offset = (Date.parse(overview.at) - Date.now()) / 1000;
  live.history.push({ bound: overview.boundPerSecond, pending: overview.pending });
  if (live.history.length > HISTORY) live.history.shift();
  live.status = "live";
  live.trouble = "";
  tell();
}

function setStatus(status, trouble = "") {
  if (live.status === status && live.trouble === trouble) return;
  live.status = status;
  live.trouble = trouble;
  tell();
}

function applyChange(change) {
  const map = live.map;
  if (!map || map.version !== change.version) return; // the whole map follows
  change.nodes.forEach((node, index) => {
    map.pods[node] = change.pods[index];
    map.flags[node] = change.flags[index];
  });
  for (const [name, values] of Object.entries(change.columns)) {
    const column = map.columns[name];
    change.nodes.forEach((node, index) => {
      column[node] = values[index];
    });
  }
}

/** Now, by the clock of the cluster, in milliseconds. */
export function clusterNow() {
  return Date.now() + live.offset * 1000;
}
