// Queue: who waits where, for how long still, what would wake them; and groups with their members.

import { get } from "./api.js";
import { empty, failure, h, keyed, nodeLink, podLink, put, say, section, table } from "./dom.js";
import { STATES, count, plural, seconds } from "./format.js";
import { clusterNow } from "./live.js";
import { refresher } from "./refresh.js";

export const name = "queue";
export const place = "/queue";
export const title = () => "Queue";

const LIMIT = 50;
const AGAIN = 2000; // milliseconds
const LANES = [
  ["active", "Active", "Tried next, in this order.", "No pod is about to be tried."],
  ["backoff", "Backing off", "Paused after a failure.", "No pod pauses after a failure."],
  ["unschedulable", "Unschedulable", "Wait for an event that may help.", "No pod waits for an event."],
  ["gated", "Gated", "Not tried until a plugin lets them.", "No pod is held back by a gate."],
  ["waiting", "Waiting for Permit", "Have a node; a plugin holds them back.", "No pod waits for Permit."],
];

export function open(root) {
  const trouble = h("div");
  const lead = h("p", { class: "lead" });
  const lanes = LANES.map(([key, label, text, none]) => {
    const number = h("span", { class: "value" });
    const list = h("ol", { class: "plain lane-pods" });
    const more = h("p", { class: "hint" });
    const nothing = empty(none);
    const node = h("section", { class: "lane", "aria-label": label }, h("h2", {}, label, " ", number), h("p", { class: "note" }, text), list, nothing, more);
    return { key, number, list, more, nothing, node };
  });
  const groups = h("ul", { class: "plain" });
  const noGroups = empty("No group has pods that wait.", "Pods of a PodGroup are placed together or not at all. They appear here while some of them wait.");
  put(root, h("h1", {}, "Queue"), lead, trouble, h("div", { class: "lane-row" }, lanes.map((each) => each.node)), section("Groups", groups, noGroups));
  let isOver = false;
  const refresh = refresher(load, AGAIN);
  const ticking = setInterval(tick, 500);

  async function load() {
    try {
      const found = await get(`queue?limit=${LIMIT}`);
      put(trouble);
      if (!isOver) show(found);
    } catch (error) {
      put(trouble, failure(error, load));
    }
  }

  function show(found) {
    const total = found.active + found.backoff + found.unschedulable + found.gated + found.incomplete;
    say(lead, `${plural(total, "pod waits", "pods wait")} in the queue, ${count(found.inFlight)} in flight.`);
    for (const { key, number, list, more, nothing } of lanes) {
      const pods = key === "waiting" ? found.waiting : found.pods.filter((each) => each.queue === key);
      const there = key === "waiting" ? found.waiting.length : found[key];
      say(number, count(there));
      nothing.hidden = there > 0;
      say(more, there > pods.length ? `and ${count(there - pods.length)} more` : "");
      keyed(list, pods, (each) => each.pod, makePod, updatePod);
    }
    keyed(groups, found.groups, (each) => `${each.kind} ${each.group}`, makeGroup, updateGroup);
    noGroups.hidden = found.groups.length > 0;
    tick();
  }

  function tick() {
    for (const node of root.querySelectorAll("[data-until]")) {
      const left = (Number(node.dataset.until) - clusterNow()) / 1000;
      say(node, left > 0 ? `${node.dataset.before} ${seconds(left)}` : node.dataset.after);
    }
  }

  return {
    update({ overview }) {
      if (overview) refresh.changed(JSON.stringify([overview.lanes, overview.decisions[0]]));
    },
    close() { isOver = true; clearInterval(ticking); refresh.close(); },
  };
}

function makePod(each) {
  return h("li", {}, podLink(each.pod), h("div", { class: "detail" }));
}

function updatePod(element, each) {
  const key = JSON.stringify(each);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  put(element.querySelector(".detail"), each.queue ? waitingIn(each) : h("span", { class: "note" }, `on ${each.node}, held by ${each.plugins.join(", ")}`));
}

function waitingIn(each) {
  const facts = [`${plural(each.attempts, "attempt")}`, each.priority ? `priority ${count(each.priority)}` : ""].filter(Boolean).join(", ");
  return [
    each.backoffUntil ? until(each.backoffUntil, "pauses for another", "pause is over") : null,
    each.retriedAt && each.queue === "unschedulable" ? until(each.retriedAt, "tried anyway in", "tried again now") : null,
    h("span", { class: "note" }, facts),
    each.group ? h("span", { class: "note" }, `in group ${each.group}`) : null,
    each.gatedBy ? h("span", { class: "note" }, `gated by ${each.gatedBy}`) : null,
    each.rejectedBy.length && !each.gatedBy ? h("span", { class: "note" }, `rejected by ${each.rejectedBy.join(", ")}`) : null,
    each.wokenBy.length ? h("details", {}, h("summary", {}, "What wakes it"), h("dl", {}, each.wokenBy.map((one) => [h("dt", {}, one.plugin), h("dd", {}, one.events.join(", ") || "no event")]))) : null,
  ];
}

function makeGroup(each) {
  return h("li", { class: "card" },
    h("h3", { class: "name", dir: "auto" }, each.group), h("p", { class: "meter" }), h("div", { class: "detail" }),
    h("details", {}, h("summary", {}, "Members"), h("div", { class: "members" })));
}

function updateGroup(element, each) {
  const key = JSON.stringify(each);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  say(element.querySelector(".meter"), `${count(each.placed)} of ${plural(each.size, "pod")} placed, ${each.wanted ? `needs ${count(each.wanted)} at once` : "there is no such PodGroup"}`);
  put(element.querySelector(".detail"), groupFacts(each));
  const more = each.size - each.members.length;
  put(element.querySelector(".members"),
    table(`Members of ${each.group}`, ["Pod", "State", "Node"], h("tbody", {}, each.members.map((one) =>
      h("tr", {}, h("td", {}, podLink(one.pod)), h("td", {}, STATES[one.state] || one.state), h("td", {}, one.node ? nodeLink(one.node) : "–"))))),
    more > 0 ? h("p", { class: "hint" }, `and ${count(more)} more`) : null);
}

function groupFacts(each) {
  const missing = each.wanted - each.size;
  const counts = {};
  for (const one of each.members) counts[one.state] = (counts[one.state] || 0) + 1;
  const states = Object.entries(counts).filter(([state]) => state !== "placed").map(([state, number]) => `${count(number)} ${STATES[state] || state}`);
  const { queued } = each;
  const facts = [
    missing > 0 && each.wanted ? `waits for ${count(missing)} more` : null,
    each.members.length === each.size && states.length ? states.join(", ") : null,
    queued && each.wanted ? `${plural(queued.attempts, "attempt")} as a group` : null,
    queued?.gatedBy ? `gated by ${queued.gatedBy}` : null,
    queued?.backoffUntil ? until(queued.backoffUntil, "pauses for another", "pause is over") : null,
  ].filter(Boolean);
  return [
    h("p", { class: "note" }, facts.map((fact, index) => [index ? " · " : "", fact])),
    each.message ? h("p", { class: "said" }, each.message) : null,
  ];
}

function until(text, before, after) {
  return h("span", { class: "left", "data-until": String(Date.parse(text)), "data-before": before, "data-after": after });
}
