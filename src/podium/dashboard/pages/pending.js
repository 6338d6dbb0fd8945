// Pending board: pods that wait, by reason, with the nearest miss and what would help.

import { get } from "./api.js";
import { empty, failure, fixedNode, h, keyed, nodeLink, path, podLink, put, say, sentence, table } from "./dom.js";
import { count, plural, seconds } from "./format.js";
import { clusterNow } from "./live.js";
import { refresher } from "./refresh.js";

export const name = "pending";
export const place = "/pending";
export const title = () => "Pending";

const AGAIN = 3000; // milliseconds between two looks, while something changes

export function open(root) {
  const lead = h("p", { class: "lead" }, "Pods that have no node, by the reason that keeps them off most nodes.");
  const board = h("div", { class: "board" });
  const none = empty("No pod waits.", "Every pod has its node, or there are no pods. This page changes by itself.");
  const trouble = h("div");
  none.hidden = true;
  put(root, h("h1", {}, "Pending pods"), lead, trouble, board, none);
  let isOver = false;
  const refresh = refresher(load, AGAIN);

  async function load() {
    try {
      const found = await get("pending");
      put(trouble);
      show(found);
    } catch (error) {
      put(trouble, failure(error, load));
    }
  }

  function show({ total, groups }) {
    if (isOver) return;
    none.hidden = total > 0;
    say(lead, total ? `${plural(total, "pod waits", "pods wait")}, in ${plural(groups.length, "group")} by reason; the largest group comes first.` : "");
    keyed(board, groups, (each) => `${each.code} ${each.plugin} ${each.text} ${each.also}`, make, update);
  }

  function make(group) {
    const parts = {
      count: h("span", { class: "value" }), pod: h("span"), oldest: h("p", { class: "note" }), advice: h("div", { class: "advice" }),
      message: h("p", { class: "said" }), pods: h("tbody"), more: h("p", { class: "hint" }),
    };
    const element = h("section", { class: "group", "aria-label": group.code },
      h("div", { class: "group-count" }, h("p", {}, parts.count, " ", parts.pod), parts.oldest),
      h("div", { class: "group-text" }, h("h2", {}, group.code, group.also.map((code) => h("span", { class: "also" }, ` + ${code}`))),
        h("p", {}, reason(group)), parts.advice,
        h("details", {}, h("summary", {}, "Pods"), parts.message,
          table(`Pods with ${group.code}`, ["Pod", "Queue", { text: "Waits for", number: true }, { text: "Attempts", number: true }, { text: "Priority", number: true }], parts.pods), parts.more)));
    element.parts = parts;
    return element;
  }

  function update(element, group) {
    const { parts } = element;
    say(parts.count, count(group.count));
    say(parts.pod, group.count === 1 ? "pod" : "pods");
    say(parts.oldest, group.count === 1 ? `waits for ${age(group.oldest)}` : `the oldest for ${age(group.oldest)}`);
    say(parts.message, group.message ? `The scheduler says: ${group.message}` : "");
    keyed(parts.pods, group.pods, (each) => each.pod,
      (each) => h("tr", {}, h("td", {}, podLink(each.pod)), h("td"), h("td", { class: "number" }), h("td", { class: "number" }), h("td", { class: "number" })),
      (row, each) => {
        say(row.cells[1], each.queue);
        say(row.cells[2], age(each.since));
        say(row.cells[3], count(each.attempts));
        say(row.cells[4], count(each.priority));
      });
    say(parts.more, group.count > group.pods.length ? `and ${plural(group.count - group.pods.length, "further pod")}` : "");
    const first = group.pods[0]?.pod;
    if (first && element.dataset.asked !== first && group.code !== "NotTriedYet") {
      element.dataset.asked = first;
      advise(parts.advice, first);
    }
  }

  /** Explain the first pod of a group: what it misses by least, and what would help. */
  async function advise(node, pod) {
    put(node, h("p", { class: "working" }, "Working out what would help"));
    try {
      const { explanation } = await get(`pods/${path(pod)}`);
      if (!explanation) return put(node);
      const miss = explanation.nearMisses[0];
      const fix = explanation.fixes[0];
      put(node, h("dl", {},
        miss ? [h("dt", {}, "Nearest miss"), h("dd", {}, nodeLink(miss.node), ": ", miss.shortfalls.map((each) => each.text).join("; ") || miss.text)] : null,
        h("dt", {}, "What helps"),
        h("dd", {}, explanation.preemption?.helps ? `Preemption: ${explanation.preemption.text}`
          : fix ? [fix.text, ", then it goes to ", fixedNode(fix)]
            : explanation.state === "placeable" ? "Nothing is needed: the next attempt places it." : "No single change of those that were tried helps."),
        h("dt", {}, "Example"), h("dd", {}, podLink(pod))));
    } catch (error) {
      put(node, h("p", { class: "hint" }, `What would help is not known: ${error.message}`));
    }
  }

  return {
    update({ overview }) {
      if (!overview) return;
      refresh.changed(JSON.stringify([overview.pending, overview.reasons, overview.decisions[0]?.at]));
    },
    close() { isOver = true; refresh.close(); },
  };
}

function reason(group) {
  const by = group.plugin && !group.text.includes(group.plugin) ? `${group.plugin}: ` : "";
  const also = group.also.length ? " On other nodes the further reasons count." : "";
  return `${sentence(`${by}${group.about === "pod" ? "the pod" : "a node"} ${group.text}`)}${also}`;
}

function age(text) {
  return seconds(Math.max(0, (clusterNow() - Date.parse(text)) / 1000));
}
