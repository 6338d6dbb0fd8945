// Cluster map: every node a tile, coloured by how full it is. The drawing is in tiles.js.

import { get } from "./api.js";
import { empty, failure, h, keyed, nodeLink, podLink, put, say, section, sentence, table, working } from "./dom.js";
import { cores, count, percent, plural } from "./format.js";
import { live } from "./live.js";
import { Tiles } from "./tiles.js";

export const name = "map";
export const place = "/map";
export const title = () => "Cluster map";

const ZONE = "topology.kubernetes.io/zone";
const SHOWN = 25; // rows of the table

export function open(root, parts, parameters) {
  const chosen = {
    measure: parameters.get("measure") || "cpu", group: parameters.get("group") || ZONE,
    node: parameters.get("node") || "", pod: parameters.get("pod") || "",
  };
  let labels = null; // the column of the label that nodes are grouped by
  let asked = "";
  const measure = h("select", { id: "measure", onchange: () => go({ measure: measure.value }) });
  const group = h("select", { id: "group", onchange: () => go({ group: group.value }) });
  const size = h("input", { id: "size", type: "range", min: "0", max: "5", step: "1", value: "0", });
  const legend = h("div", { class: "legend" });
  const summary = h("p", { class: "lead" });
  const spoken = h("p", { class: "spoken", "aria-live": "polite" });
  const scroller = h("div", { class: "canvas-box" });
  const tiles = new Tiles(scroller, { open: (node) => go({ node }), spoken });
  const panel = h("aside", { class: "panel", "aria-label": "Node", hidden: true });
  const rows = h("tbody");
  const none = empty("This cluster has no nodes.", "Pods wait until there are some. podium up --nodes 3 starts with three.");
  const shown = h("div", { class: "map-area" }, scroller, panel);
  const fullest = h("details", { class: "fullest" }, h("summary", {}, "The fullest nodes as a table"),
    table("The fullest nodes", ["Node", "Zone", { text: "Requested", number: true }, { text: "Pods", number: true }], rows));
  put(root, h("h1", {}, "Cluster map"), summary,
    h("div", { class: "tools" },
      tool("measure", "Colour by", measure), tool("group", "Group by", group), tool("size", "Size", size), legend),
    shown, spoken, fullest, none);
  size.addEventListener("input", () => tiles.setSize(Number(size.value)));
  fullest.addEventListener("toggle", () => showTable());

  function go(change) {
    const next = { ...chosen, ...change };
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(next)) {
      if (value && !(key === "measure" && value === "cpu") && !(key === "group" && value === ZONE)) query.set(key, value);
    }
    location.hash = `#/map${query.size ? `?${query}` : ""}`;
  }

  function moveTo(_, next) {
    const before = { ...chosen };
    chosen.measure = next.get("measure") || "cpu";
    chosen.group = next.get("group") || ZONE;
    chosen.node = next.get("node") || "";
    chosen.pod = next.get("pod") || "";
    if (before.node !== chosen.node || before.pod !== chosen.pod) showPanel();
    update(live);
    return true;
  }

  function update({ map }) {
    if (!map) return;
    const isEmpty = !map.names.length;
    none.hidden = !isEmpty;
    shown.hidden = fullest.hidden = isEmpty;
    if (!(chosen.measure in map.columns) && Object.keys(map.columns).length) chosen.measure = Object.keys(map.columns)[0];
    options(measure, Object.keys(map.columns).map((each) => [each, each]), chosen.measure);
    groupOptions();
    const column = map.columns[chosen.measure] || [];
    tiles.setData(map, column, groupsOf(map), { selected: chosen.node, without: chosen.group === ZONE ? "no zone" : `no ${chosen.group}` });
    describe(map, column);
    if (fullest.open) showTable();
    askLabels(map);
  }

  function groupOptions() {
    const keys = new Set([ZONE, chosen.group, ...(labels?.keys || [])]);
    keys.delete("none");
    options(group, [["none", "nothing"], ...[...keys].sort().map((key) => [key, key === ZONE ? "zone" : key])], chosen.group);
  }

  function groupsOf(map) {
    if (chosen.group === "none") return null;
    if (labels && labels.key === chosen.group && labels.version === map.version) return labels.values;
    return chosen.group === ZONE ? map.zones : null;
  }

  function askLabels(map) {
    const wanted = `${map.version} ${chosen.group}`;
    if (asked === wanted) return;
    asked = wanted;
    get(`labels?key=${encodeURIComponent(chosen.group === "none" ? ZONE : chosen.group)}`).then((found) => {
      labels = found;
      update(live);
    }, () => { asked = ""; });
  }

  function describe(map, column) {
    const offered = column.filter((each) => each >= 0);
    const mean = offered.length ? offered.reduce((sum, each) => sum + each, 0) / offered.length : -1;
    const cordoned = map.flags.filter((each) => each & 1).length;
    const over = column.filter((each) => each > 1000).length;
    say(summary, [
      plural(map.names.length, "node"),
      mean < 0 ? `none offers ${chosen.measure}` : `${chosen.measure}: ${percent(mean)} requested on average`,
      over ? `${count(over)} overcommitted` : "", cordoned ? `${count(cordoned)} cordoned` : "",
    ].filter(Boolean).join(" · "));
    tiles.canvas.setAttribute("aria-label", `Map of nodes. ${summary.textContent}. Arrow keys go from node to node, Enter opens one.`);
    tiles.drawLegend(legend);
  }

  function showTable() {
    const { map } = live;
    if (!map) return;
    const column = map.columns[chosen.measure] || [];
    const order = column.map((value, index) => [value, index]).sort((a, b) => b[0] - a[0]).slice(0, SHOWN);
    keyed(rows, order, ([, index]) => map.names[index],
      ([, index]) => h("tr", {}, h("td", {}, nodeLink(map.names[index])), h("td", { dir: "auto" }, map.zones[index]), h("td", { class: "number" }), h("td", { class: "number" })),
      (row, [value, index]) => { say(row.cells[2], percent(value)); say(row.cells[3], count(map.pods[index])); });
  }

  // --- one node ------------------------------------------------------------------------------------

  async function showPanel() {
    panel.hidden = !chosen.node;
    tiles.resize();
    if (!chosen.node) return;
    const node = chosen.node;
    if (matchMedia("(max-width: 760px)").matches) panel.scrollIntoView({ block: "start" });
    const head = [h("h2", { dir: "auto" }, node), h("button", { type: "button", class: "quiet close", onclick: () => go({ node: "", pod: "" }) }, "Close")];
    put(panel, head, working("Working out what fits here"));
    try {
      const wanted = chosen.pod;
      const [found, pod] = await Promise.all([
        get(`nodes/${encodeURIComponent(node)}`),
        wanted ? get(`pods/${wanted.split("/").map(encodeURIComponent).join("/")}?node=${encodeURIComponent(node)}`) : null,
      ]);
      if (chosen.node !== node || chosen.pod !== wanted) return;
      put(panel, head, pod ? verdict(pod, wanted) : null, nodeDetails(found));
    } catch (error) {
      if (chosen.node === node) put(panel, head, failure(error, showPanel));
    }
  }

  function nodeDetails({ explanation }) {
    const room = explanation.room.map((each) => h("tr", {}, h("td", {}, each.resource), h("td", { class: "number" }, cores(each.free)),
      h("td", { class: "number" }, cores(each.allocatable)), h("td", { class: "number" }, `${Math.round(each.percent)} %`)));
    return [
      h("p", {}, explanation.sentence),
      explanation.notes.map((note) => h("p", { class: "hint" }, sentence(note))),
      section("Free room", table("Free room", ["Resource", { text: "Free", number: true }, { text: "Of", number: true }, { text: "Requested", number: true }], h("tbody", {}, room))),
      explanation.taints.length ? section("Taints", h("ul", { class: "plain" }, explanation.taints.map((each) => h("li", { dir: "auto" }, h("code", {}, each))))) : null,
      section(`Pods (${count(explanation.pods.length)})`, explanation.pods.length
        ? h("ul", { class: "plain pods" }, explanation.pods.slice(0, 200).map((each) => h("li", {}, podLink(each.pod),
          h("span", { class: "note" }, Object.entries(each.requests).map(([key, value]) => `${value} ${key}`).join(", ")))))
        : h("p", { class: "hint" }, "No pod runs here.")),
      explanation.pending.length ? section("Pending pods", h("ul", { class: "plain" }, explanation.pending.map((each) => h("li", {},
        h("button", { type: "button", class: "link", onclick: () => go({ pod: each.pod }) }, each.fits ? "fits" : "does not fit"), " ", podLink(each.pod),
        each.fits ? null : h("span", { class: "note" }, each.text.replace(`${each.pod} does not fit: `, "")))))) : null,
    ];
  }

  function verdict(found, pod) {
    const said = found.explanation?.verdicts?.[0];
    const last = found.records?.attempts?.at(-1)?.onNode;
    let text = "This is not known for this pod.";
    if (said) text = said.text;
    else if (last) text = `${last.verdict}${last.plugin ? ` by ${last.plugin}` : ""}${last.reasons.length ? `: ${last.reasons.join("; ")}` : ""}`;
    return section("The selected pod", h("p", {}, podLink(pod), ": ", text));
  }

  showPanel();
  return {
    update, moveTo, repaint: () => tiles.repaint(),
    escape: () => chosen.node && (go({ node: "", pod: "" }), true),
    close: () => tiles.close(),
  };
}

function tool(id, label, control) {
  return h("span", { class: "tool" }, h("label", { for: id }, label), control);
}

function options(select, pairs, value) {
  const wanted = JSON.stringify(pairs);
  if (select.dataset.options !== wanted) {
    select.dataset.options = wanted;
    put(select, pairs.map(([each, text]) => h("option", { value: each }, text)));
  }
  if (select.value !== value) select.value = value;
}
