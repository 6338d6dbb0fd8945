// Decision: why a pod has its node or none: the sentence of podium explain, funnel, scores, attempts.

import { get } from "./api.js";
import { empty, failure, fixedNode, h, nodeLink, path, podLink, put, section, sentence, table, working } from "./dom.js";
import { STATES, clockTime, count, plural, seconds } from "./format.js";

export const name = "decision";
export const place = "/pod";
export const title = ([namespace, pod]) => `${namespace}/${pod}`;

const SHOWN = 50; // attempts, before somebody wants to see older ones
const VIEWS = [["weighted", "weighted"], ["normalized", "normalized"], ["raw", "raw"]];

export function open(root, [namespace, pod]) {
  const key = `${namespace}/${pod}`;
  const body = h("div");
  let attempts = "";
  let isOver = false;
  put(root, h("h1", { dir: "auto", class: "name" }, key), body);

  async function load() {
    if (!body.hasChildNodes()) put(body, working("Working out the decision"));
    try {
      const found = await get(`pods/${path(key)}`);
      if (!isOver) put(body, show(key, found));
    } catch (error) {
      if (!isOver) put(body, failure(error, load));
    }
  }

  load();
  return {
    /** Ask again when the stream shows another attempt of this pod. */
    update({ overview }) {
      const latest = overview?.decisions.find((each) => each.pod === key);
      const now = latest ? `${latest.attempt} ${latest.at}` : attempts;
      if (attempts && now !== attempts) load();
      attempts = now || "none";
    },
    close() { isOver = true; },
  };
}

function show(key, { explanation, records, source }) {
  const last = records?.attempts.at(-1);
  return [
    h("p", { class: "sentence" }, explanation?.sentence || recorded(key, records, last)),
    facts(explanation, records, last),
    explanation?.notes.map((note) => h("p", { class: "hint" }, sentence(note))),
    explanation?.fixes.length ? section("What would help", fixes(explanation.fixes)) : null,
    explanation?.preemption && explanation.state !== "placed" ? section("Preemption", h("p", {}, sentence(explanation.preemption.text))) : null,
    explanation?.funnel.length ? section("Funnel", funnel(explanation)) : last ? section("Funnel", recordedFunnel(last)) : null,
    scores(explanation, last),
    explanation?.nearMisses.length ? section("Nearest misses", misses(explanation.nearMisses)) : null,
    wakes(explanation, records),
    section("Attempts", attemptTable(records)),
    [...(records?.notes || []), ...source.notes].map((note) => h("p", { class: "hint" }, sentence(note))),
    h("p", { class: "hint" }, source.recomputed
      ? "Worked out on a copy of the cluster as it is now, with the profiles of the scheduler; attempts are as they were recorded."
      : "As it was recorded when it was decided."),
  ];
}

/** The sentence of podium explain when records say everything. */
function recorded(key, records, last) {
  if (!last) return `${key} is ${records.state}; none of its attempts is remembered.`;
  if (!last.node) return `${key} got no node in its last attempt: ${last.message}`;
  const second = last.best[1];
  const why = last.feasible === 1 ? "the only node that it fits on"
    : last.tied > 1 ? `one of ${last.tied} nodes with the highest score of ${last.best[0]?.total ?? "all"}`
      : second ? `the best of ${count(last.feasible)}, ahead of ${second.node} by ${last.best[0].total - second.total}` : `chosen of ${count(last.feasible)}`;
  return `${key} is on ${last.node}: ${why}.`;
}

function facts(explanation, records, last) {
  const state = records?.state || explanation?.state;
  const node = records?.node || explanation?.node;
  const wanted = records?.nominatedNode;
  const pairs = [
    ["State", STATES[state] || state], ["Node", node ? nodeLink(node) : null], ["Nominated", wanted ? nodeLink(wanted) : null],
    ["Profile", last?.profile || explanation?.profile],
    ["Feasible", last ? `${count(last.feasible)} of ${plural(last.nodes, "node")}` : explanation?.funnel.length ? `${count(explanation.feasible)} of ${plural(explanation.nodes, "node")}` : null],
    ["Attempts", records ? count(records.queued?.attempts ?? last?.attempt ?? 0) : null],
  ].filter(([, value]) => value);
  return h("dl", { class: "facts" }, pairs.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))));
}

function fixes(found) {
  return h("ol", { class: "fixes" }, found.map((fix) => h("li", {}, h("p", {}, h("strong", {}, fix.text), ", then it goes to ", fixedNode(fix),
    fix.tied > 2 ? ` or one of ${count(fix.tied - 1)} others` : fix.tied === 2 ? " or another node" : "", "."),
  fix.victims.length ? h("p", { class: "hint" }, "Evicts ", fix.victims.map((each, index) => [index ? ", " : "", podLink(each)])) : null,
  h("details", {}, h("summary", {}, `${plural(fix.changes.length, "change")}`), fix.changes.map((change) =>
    [h("p", {}, `${change.action} ${change.kind} `, h("span", { dir: "auto" }, change.name), `: ${change.text}`),
      h("pre", { tabindex: "0" }, JSON.stringify(change.patch.length ? change.patch : change.object, null, 2))])))));
}

function funnel({ nodes, funnel: steps, feasible }) {
  return h("ol", { class: "funnel" },
    h("li", {}, bar(nodes, nodes), h("span", { class: "what" }, h("strong", {}, plural(nodes, "node")), " in the cluster")),
    steps.map((step) => h("li", {}, bar(step.after, nodes),
      h("span", { class: "what" }, h("strong", {}, count(step.after)), ` ${step.text}`, h("span", { class: "note" }, step.plugin)),
      step.reasons.length ? h("ul", { class: "plain note" }, step.reasons.map((each) => h("li", {}, `${count(each.nodes)}: ${each.message}`))) : null)),
    steps.length && steps.at(-1).after !== feasible ? h("li", {}, bar(feasible, nodes), h("span", { class: "what" }, h("strong", {}, count(feasible)), " feasible")) : null);
}

function recordedFunnel(last) {
  const steps = [...last.refusals].sort((a, b) => b.nodes - a.nodes);
  return h("ol", { class: "funnel" },
    h("li", {}, bar(last.nodes, last.nodes), h("span", { class: "what" }, h("strong", {}, plural(last.nodes, "node")), " in the cluster")),
    steps.map((each) => h("li", {}, bar(each.nodes, last.nodes, "refused"), h("span", { class: "what" }, h("strong", {}, count(each.nodes)), ` refused: ${each.reason}`, h("span", { class: "note" }, each.plugin)))),
    h("li", {}, bar(last.feasible, last.nodes), h("span", { class: "what" }, h("strong", {}, count(last.feasible)), " feasible")));
}

function bar(part, whole, kind = "") {
  const length = h("span", { class: `length ${kind}` });
  length.style.width = `${whole ? Math.max(part ? 0.6 : 0, 100 * part / whole) : 0}%`;
  return h("span", { class: "track", "aria-hidden": "true" }, length);
}

// --- scores ----------------------------------------------------------------------------------------

function scores(explanation, last) {
  const rows = explanation?.scores?.nodes || (last?.best || []).map((each, index) => ({ ...each, rank: index + 1, scores: each.scores.map((one) => ({ ...one, weighted: one.normalized * one.weight })) }));
  if (!rows.length) return null; // with fewer than two feasible nodes there is nothing to compare
  const plugins = rows[0].scores.map((each) => each.plugin);
  const holder = h("div");
  const buttons = VIEWS.map(([view, label]) => h("button", { type: "button", "aria-pressed": "false", onclick: () => choose(view) }, label));
  function choose(view) {
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(VIEWS[index][0] === view)));
    put(holder, matrix(rows, plugins, view));
  }
  choose("weighted");
  const text = explanation?.scores?.text;
  return section("Scores", text ? h("p", {}, sentence(text)) : null,
    h("div", { class: "switch", role: "group", "aria-label": "Which scores" }, buttons), holder);
}

function matrix(rows, plugins, view) {
  const most = Math.max(1, ...rows.flatMap((row) => row.scores.map((each) => Math.abs(each[view]))));
  const body = h("tbody", {}, rows.map((row, index) => {
    const by = new Map(row.scores.map((each) => [each.plugin, each]));
    return h("tr", { class: index ? null : "winner" },
      h("th", { scope: "row" }, nodeLink(row.node), index ? null : h("span", { class: "tag" }, "chosen")),
      h("td", { class: "number" }, count(row.total)),
      plugins.map((plugin) => {
        const value = by.get(plugin)?.[view] ?? 0;
        const cell = h("td", { class: "number heat" }, count(value));
        cell.style.setProperty("--share", (Math.abs(value) / most).toFixed(3));
        return cell;
      }));
  }));
  const weights = new Map(rows[0].scores.map((each) => [each.plugin, each.weight]));
  const heads = ["Node", { text: "Total", number: true }, ...plugins.map((plugin) => ({ text: `${plugin} ×${weights.get(plugin)}`, number: true }))];
  return table(`Scores, ${view}`, heads, body);
}

// --- the rest --------------------------------------------------------------------------------------

function misses(found) {
  return h("ul", { class: "plain misses" }, found.map((miss) => h("li", {}, nodeLink(miss.node),
    h("ul", {}, miss.shortfalls.map((each) => h("li", {}, each.text,
      each.holders.length ? h("span", { class: "note" }, "held by ", each.holders.slice(0, 5).map((holder, index) => [index ? ", " : "", podLink(holder.pod), holder.amount ? ` (${holder.amount})` : ""])) : null))))));
}

function wakes(explanation, records) {
  const found = explanation?.wakes || [];
  const waits = explanation?.waitsFor || [];
  if (!found.length && !waits.length) return null;
  const { queued } = records || {};
  const retried = queued?.queue === "unschedulable" ? queued.retriedAt : "";
  return section("What wakes it",
    waits.length ? h("ul", { class: "plain" }, waits.map((each) => h("li", {}, `It waits for ${each.text}.`))) : null,
    h("ul", { class: "plain" }, found.map((each) => h("li", {}, each.text, h("span", { class: "note" }, each.plugins.join(", "))))),
    retried ? h("p", { class: "hint" }, `Without any of these it is tried again at ${clockTime(retried)}.`) : null);
}

function attemptTable(records) {
  const attempts = records?.attempts || [];
  const isUntried = records?.queued ? !records.queued.attempts : records?.state === "not ours";
  if (isUntried) return empty("This scheduler has not tried it yet.");
  if (!attempts.length) return empty("No attempt is remembered.", "The scheduler keeps its latest 2,048 attempts.");
  const latest = [...attempts].reverse();
  const rows = h("tbody", {}, latest.slice(0, SHOWN).map(attemptRow));
  const older = latest.slice(SHOWN);
  const more = h("button", { type: "button", onclick: () => { rows.append(...older.map(attemptRow)); more.remove(); } }, `Show ${plural(older.length, "older attempt")}`);
  return [
    table("Attempts", [{ text: "Attempt", number: true }, "Time", { text: "Outcome", wide: true }, { text: "Feasible", number: true }, { text: "Took", number: true }], rows),
    older.length ? h("p", {}, more) : null,
  ];
}

function attemptRow(each) {
  const outcome = each.node ? nodeLink(each.node) : each.nominatedNode ? ["makes room on ", nodeLink(each.nominatedNode)] : h("span", { class: "refused" }, "no node");
  return h("tr", {}, h("td", { class: "number" }, count(each.attempt)), h("td", { class: "time" }, clockTime(each.at)),
    h("td", {}, outcome, each.message ? h("span", { class: "why" }, each.message) : null),
    h("td", { class: "number" }, `${count(each.feasible)} / ${count(each.nodes)}`), h("td", { class: "number" }, seconds(each.seconds)));
}
