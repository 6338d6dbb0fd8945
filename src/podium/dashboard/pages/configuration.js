// Configuration: the profiles that decide now, and what each plugin costs.

import { get } from "./api.js";
import { failure, h, put, section, table, working } from "./dom.js";
import { count, plural, seconds } from "./format.js";

export const name = "configuration";
export const place = "/configuration";
export const title = () => "Configuration";

const BACKGROUND = ["PreBind", "Bind", "PostBind"];
const POINTS = ["preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind", "postBind"];

export function open(root) {
  const body = h("div");
  put(root, h("h1", {}, "Configuration and plugins"), body);
  let isOver = false;
  async function load() {
    put(body, working("Reading the configuration"));
    try {
      const found = await get("configuration");
      if (!isOver) put(body, show(found), h("p", {}, h("button", { type: "button", onclick: load }, "Read again")));
    } catch (error) {
      if (!isOver) put(body, failure(error, load));
    }
  }
  load();
  return { close() { isOver = true; } };
}

function show({ configuration, costs }) {
  const { content, extenders } = configuration;
  const byName = new Map(costs.profiles.map((each) => [each.name, each]));
  return [
    h("p", { class: "lead" }, `${plural(content.profiles.length, "profile")}, as now in use. Times are since the scheduler started. Those of Bind and PreBind include waiting for the API server; other pods are scheduled meanwhile, so they have no part in the shares.`),
    extenders.length ? h("p", {}, `Extenders: ${extenders.join(", ")}`) : null,
    content.profiles.map((profile) => profileSection(profile, byName.get(profile.schedulerName) || { calls: [], withoutSignature: [] })),
    section("As JSON", h("details", {}, h("summary", {}, "The whole configuration"), h("pre", { tabindex: "0" }, JSON.stringify(content, null, 2)))),
  ];
}

function profileSection(profile, costs) {
  const plugins = pluginsOf(profile);
  const held = (calls) => calls.filter((each) => !BACKGROUND.includes(each.point)).reduce((sum, each) => sum + each.seconds, 0);
  const total = held(costs.calls);
  const rows = [...plugins].map(([name, { points, weight }]) => {
    const own = costs.calls.filter((each) => each.plugin === name);
    const spent = own.reduce((sum, each) => sum + each.seconds, 0);
    const calls = own.reduce((sum, each) => sum + each.calls, 0);
    return { name, points, weight, spent, held: held(own), calls, longest: Math.max(0, ...own.map((each) => each.longest)),
      rejections: own.reduce((sum, each) => sum + each.rejections, 0), errors: own.reduce((sum, each) => sum + each.errors, 0), signed: !costs.withoutSignature.includes(name) };
  }).sort((a, b) => b.held - a.held || b.spent - a.spent);
  const cells = (each) => h("tr", {}, h("th", { scope: "row" }, each.name), h("td", { class: "points" }, each.points.join(", ")),
    h("td", { class: "number" }, each.weight ? count(each.weight) : "–"), h("td", { class: "number" }, count(each.calls)),
    h("td", { class: "number" }, seconds(each.spent)), share(total ? each.held / total : 0),
    h("td", { class: "number" }, each.calls ? seconds(each.longest) : "–"), h("td", { class: "number" }, count(each.rejections)),
    h("td", { class: "number" }, count(each.errors)), h("td", {}, each.signed ? "yes" : "no"));
  const heads = ["Plugin", "Extension points", { text: "Weight", number: true }, { text: "Calls", number: true }, { text: "Time", number: true }, { text: "Share", number: true }, { text: "Longest", number: true }, { text: "Rejections", number: true }, { text: "Errors", number: true }, "Signature"];
  return section(profile.schedulerName, h("p", { class: "hint" }, "A plugin without a signature is asked again for every pod; the answers of the others are kept for equal pods."),
    table(`Plugins of ${profile.schedulerName}`, heads, h("tbody", {}, rows.map(cells))));
}

function share(value) {
  const cell = h("td", { class: "number heat" }, `${(100 * value).toFixed(1)} %`);
  cell.style.setProperty("--share", value.toFixed(3));
  return cell;
}

/** By plugin: where it takes part, and its weight. */
function pluginsOf(profile) {
  const found = new Map();
  for (const point of POINTS) {
    for (const { name, weight } of profile.plugins[point]?.enabled || []) {
      const one = found.get(name) || { points: [], weight: 0 };
      one.points.push(point);
      if (point === "score") one.weight = weight || 1;
      found.set(name, one);
    }
  }
  return found;
}
