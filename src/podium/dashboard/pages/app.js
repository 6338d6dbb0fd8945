// The shell: which screen is shown, search, keys, colours, and how fresh everything is.

import { h, put, say } from "./dom.js";
import { count, plural, rate, seconds } from "./format.js";
import { live, start, subscribe } from "./live.js";
import { setUpSearch } from "./search.js";
import * as overview from "./overview.js";
import * as map from "./map.js";
import * as pending from "./pending.js";
import * as decision from "./decision.js";
import * as queue from "./queue.js";
import * as whatIf from "./what-if.js";
import * as configuration from "./configuration.js";

const SCREENS = [
  [/^\/?$/, overview], [/^\/map$/, map], [/^\/pending$/, pending], [/^\/pod\/([^/]+)\/([^/]+)$/, decision],
  [/^\/queue$/, queue], [/^\/what-if$/, whatIf], [/^\/configuration$/, configuration],
];
const KEYS = [
  ["/", "Find a pod or node"], ["?", "Show these keys"], ["g o", "Overview"], ["g m", "Cluster map"],
  ["g p", "Pending"], ["g q", "Queue"], ["g w", "What if"], ["g c", "Configuration"],
  ["Arrows", "On the map: go from node to node"], ["Enter", "On the map: open the node"],
  ["Esc", "Close a panel or the search"],
];
const GOES = { o: "#/", m: "#/map", p: "#/pending", q: "#/queue", w: "#/what-if", c: "#/configuration" };

const main = document.getElementById("main");
let present = null;

// --- screens ---------------------------------------------------------------------------------------

function route() {
  const [address, query] = location.hash.slice(1).split("?");
  const parameters = new URLSearchParams(query || "");
  for (const [pattern, screen] of SCREENS) {
    const match = pattern.exec(address || "/");
    if (match) return { screen, parts: match.slice(1).map(decode), parameters };
  }
  return { screen: null, parts: [], parameters };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function show() {
  const { screen, parts, parameters } = route();
  if (present && present.screen === screen && present.shown.moveTo && present.shown.moveTo(parts, parameters)) return;
  if (present) present.shown.close();
  if (!screen) {
    put(main, h("h1", {}, "Not found"), h("p", { class: "empty" }, "There is no such screen. ", h("a", { href: "#/" }, "Go to the overview")));
    present = null;
    return;
  }
  const isFirst = present === null;
  put(main);
  main.className = screen.name || "";
  present = { screen, shown: screen.open(main, parts, parameters) };
  document.title = `${screen.title(parts)} · podium`;
  for (const link of document.querySelectorAll("#nav a")) {
    const isHere = link.getAttribute("href") === `#${screen.place}`;
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (isHere) link.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  present.shown.update?.(live);
  if (!isFirst) {
    main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
}

// --- how fresh -------------------------------------------------------------------------------------

const TEXTS = {
  connecting: "Connecting", live: "Live", busy: "Busy", stale: "Not connected", "signed-out": "Signed out",
};

function showStatus() {
  const { status, overview: seen } = live;
  const node = document.getElementById("status");
  const isWatching = status === "live" && seen && (!seen.health.leading || seen.health.trouble);
  node.dataset.status = isWatching ? "busy" : status;
  say(document.getElementById("status-text"), isWatching ? (seen.health.trouble ? "Out of date" : "Standby") : TEXTS[status]);
  const text = bannerText(seen);
  const banner = document.getElementById("banner");
  banner.hidden = !text;
  say(banner, text);
}

function bannerText(seen) {
  switch (live.status) {
    case "signed-out":
      return "You are signed out: the scheduler has restarted, or the session has ended. Reload the page to see how to sign in.";
    case "stale":
      return seen ? "The scheduler does not answer, so this page may be out of date. It goes on by itself as soon as it is back."
        : "The scheduler does not answer yet. The page goes on by itself.";
    case "busy":
      return `Updates are late: ${live.trouble}.`;
    default:
      break;
  }
  if (!seen) return "";
  if (seen.health.trouble) return `What the scheduler knows may be out of date: ${seen.health.trouble}.`;
  if (!seen.health.synced) return "The scheduler is still reading the cluster.";
  if (!seen.health.leading) return "This scheduler is on standby: another one leads and decides.";
  if (seen.health.lag > 1) return `The scheduler is behind: it took ${seconds(seen.health.lag)} to answer.`;
  return "";
}

// --- keys and colours ------------------------------------------------------------------------------

function setUpKeys() {
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "Escape" && present?.shown.escape?.()) return;
    if (typing) return;
    if (isGoing && GOES[event.key]) {
      location.hash = GOES[event.key];
      event.preventDefault();
    } else if (event.key === "/") {
      document.getElementById("search").focus();
      event.preventDefault();
    } else if (event.key === "?") {
      showKeys();
      event.preventDefault();
    }
    isGoing = event.key === "g";
  });
  document.getElementById("help").addEventListener("click", showKeys);
}

function showKeys() {
  const dialog = document.getElementById("keys");
  if (dialog.open) return;
  const rows = KEYS.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]);
  put(dialog, h("h2", { id: "keys-title" }, "Keys"), h("dl", { class: "keys" }, rows),
    h("form", { method: "dialog" }, h("button", {}, "Close")));
  dialog.showModal();
}

const THEME = "podium-colours";

function setUpTheme() {
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const apply = () => {
    say(button, isDark() ? "Light" : "Dark");
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
    present?.shown.repaint?.();
  };
  const kept = remembered(THEME);
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    remember(THEME, next);
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}

function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // storage may be forbidden
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // It lasts until the page is closed.
  }
}

setUpTheme();
setUpKeys();
setUpSearch(document.getElementById("search"), document.getElementById("found"));
subscribe(() => {
  showStatus();
  present?.shown.update?.(live);
});
addEventListener("hashchange", show);
show();
showStatus();
start();
