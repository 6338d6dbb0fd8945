// Overview: how fast, how many wait and why, how long it takes, what was decided last.

import { empty, h, keyed, nodeLink, podLink, put, say, section, svg, table } from "./dom.js";
import { clockTime, count, plural, rate, seconds } from "./format.js";

export const name = "overview";
export const place = "/";
export const title = () => "Overview";

const SHOWN = 8; // reasons

export const LANES = [
  ["active", "Active", "will be tried next"],
  ["inFlight", "In flight", "being tried or bound"],
  ["backoff", "Backing off", "pause after a failure"],
  ["unschedulable", "Unschedulable", "wait for an event"],
  ["gated", "Gated", "not tried until a gate opens"],
  ["incomplete", "Without their group", "their PodGroup does not exist"],
  ["waiting", "Waiting for Permit", "have a node"],
];

export function open(root) {
  const figures = {
    bound: figure("Pods bound per second"), pending: figure("Pending pods", "#/pending"),
    time: figure("Time to bind, median"), nodes: figure("Nodes", "#/map"),
  };
  const chart = sparkline("Pods bound per second, last two minutes");
  figures.bound.node.append(chart.node);
  const lanes = h("ul", { class: "lanes bars" });
  const reasons = h("ul", { class: "reasons bars" });
  const moreReasons = h("p", { class: "hint" });
  const noReasons = empty("No pod waits.", "Pods that get no node appear here with the reason.");
  const rows = h("tbody");
  const noRows = empty("Nothing has been decided yet.", "Create a pod, for example: kubectl create deployment shop --image nginx");
  const decisions = table("Recent decisions", ["Time", "Pod", { text: "Decision", wide: true }, { text: "Attempt", number: true }, { text: "Took", number: true }], rows);
  const heading = h("p", { class: "lead" });
  put(root, h("h1", {}, "Overview"), heading,
    h("div", { class: "figures" }, Object.values(figures).map((each) => each.node)),
    h("div", { class: "columns" },
      section("Queue", lanes),
      section("Pending by reason", reasons, moreReasons, noReasons)),
    section("Recent decisions", decisions, noRows));

  function update({ overview, history }) {
    if (!overview) return;
    say(heading, `${overview.profiles.join(", ")} · as kube-scheduler ${overview.release} · ${overview.server}`);
    say(figures.bound.value, rate(overview.boundPerSecond));
    say(figures.bound.note, `${count(overview.bound)} since the start`);
    say(figures.pending.value, count(overview.pending));
    say(figures.pending.note, `${rate(overview.attemptsPerSecond)} attempts per second`);
    const time = overview.timeToBind;
    say(figures.time.value, time.pods ? seconds(time.p50) : "–");
    say(figures.time.note, time.pods ? `90 %: ${seconds(time.p90)} · 99 %: ${seconds(time.p99)}` : "no pod bound in the last minute");
    say(figures.nodes.value, count(overview.nodes));
    say(figures.nodes.note, plural(overview.pods, "pod"));
    chart.draw(history.map((each) => each.bound));
    showLanes(lanes, overview.lanes);
    showReasons(reasons, overview.reasons);
    showMoreReasons(moreReasons, overview.reasons.slice(SHOWN));
    reasons.hidden = !overview.reasons.length;
    noReasons.hidden = !!overview.reasons.length;
    decisions.hidden = !overview.decisions.length;
    noRows.hidden = !!overview.decisions.length;
    keyed(rows, overview.decisions, (each) => `${each.pod} ${each.attempt} ${each.at}`, decisionRow);
  }
  return { update, close() {} };
}

function figure(label, address) {
  const value = h("p", { class: "value" }, "–");
  const note = h("p", { class: "note" });
  const head = address ? h("a", { href: address }, label) : label;
  return { value, note, node: h("div", { class: "figure" }, h("h2", {}, head), value, note) };
}

function showLanes(list, lanes) {
  const most = Math.max(1, ...LANES.map(([key]) => lanes[key]));
  const shown = LANES.filter(([key]) => key !== "incomplete" || lanes.incomplete);
  keyed(list, shown, ([key]) => key, ([, label, text]) => bar(label, text),
    (element, [key]) => setBar(element, lanes[key], lanes[key] / most));
}

function showReasons(list, reasons) {
  const most = Math.max(1, ...reasons.map((each) => each.pods));
  keyed(list, reasons.slice(0, SHOWN), (each) => `${each.code} ${each.plugin} ${each.text}`,
    (each) => bar(h("a", { href: "#/pending" }, each.code), each.plugin),
    (element, each) => setBar(element, each.pods, each.pods / most));
}

function showMoreReasons(node, reasons) {
  const pods = reasons.reduce((sum, each) => sum + each.pods, 0);
  node.hidden = !pods;
  say(node, `and ${plural(pods, "pod")} for ${plural(reasons.length, "further reason")}`);
}

/** A row with a label, a number and a bar behind them. */
export function bar(label, note) {
  const element = h("li", {}, h("span", { class: "label" }, label), note ? h("span", { class: "note" }, note) : null,
    h("span", { class: "value" }), h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "length" })));
  return element;
}

export function setBar(element, number, share) {
  say(element.querySelector(".value"), typeof number === "string" ? number : count(number));
  element.querySelector(".length").style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
}

function decisionRow(each) {
  const outcome = each.node ? ["on ", nodeLink(each.node)]
    : [h("span", { class: "refused" }, each.nominatedNode ? "makes room on " : "no node"),
      each.nominatedNode ? nodeLink(each.nominatedNode) : "", h("span", { class: "why" }, each.message)];
  return h("tr", {}, h("td", { class: "time" }, clockTime(each.at)), h("td", {}, podLink(each.pod)), h("td", {}, outcome),
    h("td", { class: "number" }, count(each.attempt)), h("td", { class: "number" }, seconds(each.seconds)));
}

/** A line of the last values; the text beside it says the last one. */
function sparkline(label) {
  const line = svg("polyline", { fill: "none", class: "line", "vector-effect": "non-scaling-stroke" });
  const node = svg("svg", { class: "spark", viewBox: "0 0 240 40", preserveAspectRatio: "none", role: "img", "aria-label": label }, line);
  function draw(values) {
    const most = Math.max(1, ...values);
    const start = 240 - values.length;
    line.setAttribute("points", values.map((each, index) => `${start + index + 0.5},${(38.5 - 36 * each / most).toFixed(1)}`).join(" "));
  }
  return { node, draw };
}
