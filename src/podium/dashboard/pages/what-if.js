// What if: try a change on a copy of the cluster, and see the difference. Nothing is written.

import { get, post } from "./api.js";
import { empty, failure, h, nodeLink, podLink, put, section, sentence, table, working } from "./dom.js";
import { amount, count, percentOf, plural } from "./format.js";
import { live } from "./live.js";

export const name = "what-if";
export const place = "/what-if";
export const title = () => "What if";

const SHOWN = 100; // pods of each kind
const KINDS = [["add", "Add pods"], ["drain", "Drain nodes"], ["nodes", "Add nodes"], ["weight", "Change a weight"], ["configuration", "Change the configuration"], ["manifest", "Apply a manifest"]];

export function open(root, parts, parameters) {
  const results = h("div", { class: "results", "aria-live": "polite" });
  const form = h("form", { class: "trial", onsubmit: submit, "aria-label": "What to try" });
  const fields = h("div", { class: "fields" });
  const kinds = KINDS.map(([kind, label]) => h("button", { type: "button", "aria-pressed": "false", onclick: () => choose(kind) }, label));
  const names = h("datalist", { id: "node-names" });
  let chosen = "";
  let request = () => ({});
  let asking = null;
  put(form, h("div", { class: "switch", role: "group", "aria-label": "Kind of change" }, kinds), fields, names,
    h("p", {}, h("button", { class: "primary" }, "Try it"), h("span", { class: "note" }, "on a copy; nothing is written to the cluster")));
  put(root, h("h1", {}, "What if"), h("p", { class: "lead" }, "Changes are tried on a copy of the cluster as it is now, as podium simulate does."), form, results);

  function choose(kind) {
    chosen = kind;
    kinds.forEach((button, index) => button.setAttribute("aria-pressed", String(KINDS[index][0] === kind)));
    const made = MAKERS[kind](fields, parameters);
    put(fields, made.fields);
    request = made.request;
    put(results, empty("Nothing tried yet.", "The difference appears here: who gets a node, who moves, who stays pending."));
    if (live.map && !names.hasChildNodes()) put(names, live.map.names.slice(0, 2000).map((each) => h("option", { value: each })));
  }

  async function submit(event) {
    event.preventDefault();
    asking?.abort();
    asking = new AbortController();
    put(results, working("Trying it on a copy of the cluster"));
    try {
      const found = await post("what-if", request(), asking.signal);
      put(results, found.kind === "Report" ? report(found) : comparison(found, chosen));
    } catch (error) {
      if (error.name !== "AbortError") put(results, failure(error));
    }
  }

  choose(parameters.get("drain") ? "drain" : "add");
  return {
    update({ map }) {
      if (map && !names.hasChildNodes()) put(names, map.names.slice(0, 2000).map((each) => h("option", { value: each })));
    },
    close() { asking?.abort(); },
  };
}

// --- what can be tried -----------------------------------------------------------------------------

const MAKERS = {
  add() {
    const name = field("Name", { value: "trial", required: true, pattern: "[a-z0-9]([a-z0-9.\\-]*[a-z0-9])?", maxlength: "200" });
    const namespace = field("Namespace", { value: "default", required: true });
    const replicas = field("How many", { type: "number", value: "10", min: "1", max: "10000", required: true });
    const cpu = field("CPU each", { value: "500m", placeholder: "500m" });
    const memory = field("Memory each", { value: "256Mi", placeholder: "256Mi" });
    const priority = field("Priority", { type: "number", value: "0" });
    const selector = field("Node label", { placeholder: "disk=ssd" });
    return {
      fields: [name, namespace, replicas, cpu, memory, priority, selector].map((each) => each.node),
      request() {
        const requests = {};
        if (cpu.value()) requests.cpu = cpu.value();
        if (memory.value()) requests.memory = memory.value();
        const [label, value] = selector.value().split("=");
        return { replicas: Number(replicas.value()), add: [{ apiVersion: "v1", kind: "Pod",
          metadata: { name: name.value(), namespace: namespace.value() },
          spec: { priority: Number(priority.value() || 0), ...(label ? { nodeSelector: { [label]: value || "" } } : {}), containers: [{ name: "main", image: "trial", resources: { requests } }] } }] };
      },
    };
  },
  drain(_, parameters) {
    const nodes = field("Nodes, separated by commas", { list: "node-names", required: true, value: parameters.get("drain") || "", wide: true });
    return { fields: [nodes.node], request: () => ({ drain: listed(nodes.value()) }) };
  },
  nodes() {
    const like = field("Like this node", { list: "node-names", required: true });
    const number = field("How many", { type: "number", value: "1", min: "1", max: "1000", required: true });
    return { fields: [like.node, number.node], request: () => ({ addNodesLike: like.value(), addNodes: Number(number.value()) }) };
  },
  weight() {
    const profile = choice("Profile");
    const plugin = choice("Score plugin");
    const weight = field("Weight", { type: "number", value: "1", min: "0", max: "1000", required: true });
    let profiles = [];
    const scored = () => profiles.find((each) => each.schedulerName === profile.value())?.plugins.score.enabled || [];
    const present = () => { weight.set(String(scored().find((each) => each.name === plugin.value())?.weight || 1)); };
    profile.select.addEventListener("change", () => { plugin.set(scored().map((each) => each.name)); present(); });
    plugin.select.addEventListener("change", present);
    get("configuration").then(({ configuration }) => {
      profiles = configuration.content.profiles;
      profile.set(profiles.map((each) => each.schedulerName));
      plugin.set(scored().map((each) => each.name));
      present();
    }, () => undefined);
    return {
      fields: [profile.node, plugin.node, weight.node, h("p", { class: "hint wide" }, "All pods are scheduled anew twice: with the present weights and with this one. 0 leaves the plugin out.")],
      request: () => ({ weights: [{ profile: profile.value(), plugin: plugin.value(), weight: Number(weight.value()) }] }),
    };
  },
  configuration() {
    const text = h("textarea", { id: "configuration", rows: "14", spellcheck: "false", required: true, placeholder: "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n…" });
    const trouble = h("div", { class: "wide" });
    const present = () => get("configuration").then(({ configuration }) => {
      text.value = JSON.stringify(configuration.content, null, 2);
      put(trouble);
      text.focus();
    }, (error) => put(trouble, failure(error)));
    return {
      fields: [
        h("div", { class: "field wide" }, h("label", { for: "configuration" }, "A whole KubeSchedulerConfiguration, as YAML or JSON"), text),
        h("p", { class: "hint wide" }, "All pods are scheduled anew twice: with the present configuration and with this one. ", h("button", { type: "button", onclick: present }, "Start from the present one")),
        trouble,
      ],
      request: () => ({ configuration: text.value }),
    };
  },
  manifest() {
    const text = h("textarea", { id: "manifest", rows: "12", spellcheck: "false", required: true, placeholder: "apiVersion: apps/v1\nkind: Deployment\n…" });
    return {
      fields: [h("div", { class: "field wide" }, h("label", { for: "manifest" }, "YAML or JSON of pods, workloads, nodes or other objects"), text)],
      request: () => ({ manifest: text.value }),
    };
  },
};

let fieldNumber = 0;

function field(label, { wide, ...props }) {
  const id = `field-${(fieldNumber += 1)}`;
  const input = h("input", { id, type: "text", autocomplete: "off", spellcheck: "false", ...props });
  return { node: h("div", { class: wide ? "field wide" : "field" }, h("label", { for: id }, label), input), value: () => input.value.trim(), set: (value) => { input.value = value; } };
}

function choice(label) {
  const id = `field-${(fieldNumber += 1)}`;
  const select = h("select", { id });
  return { select, node: h("div", { class: "field" }, h("label", { for: id }, label), select), value: () => select.value, set: (values) => put(select, values.map((each) => h("option", { value: each }, each))) };
}

function listed(text) {
  return text.split(",").map((each) => each.trim()).filter(Boolean);
}

// --- what came of it -------------------------------------------------------------------------------

/** A link to a node; only the name of one that exists in the trial alone. */
function knownNode(node) {
  return live.map?.names.includes(node) ? nodeLink(node) : h("span", { class: "name", dir: "auto" }, node);
}

function report(found) {
  const parts = [
    ["placed", (n) => `${plural(n, "pod gets a node", "pods get a node")}`], ["moves", (n) => `${plural(n, "pod moves", "pods move")}`], ["victims", (n) => `${plural(n, "pod is evicted", "pods are evicted")}`],
    ["unplaced", (n) => `${plural(n, "pod gets none", "pods get none")}`], ["blocked", (n) => `${plural(n, "pod is blocked by its disruption budget", "pods are blocked by disruption budgets")}`], ["gone", (n) => `${plural(n, "pod is lost: nothing replaces it", "pods are lost: nothing replaces them")}`],
  ].filter(([key]) => found[key].length).map(([key, text]) => text(found[key].length));
  return [
    h("p", { class: "sentence" }, h("span", { class: found.fits ? "tag good" : "tag bad" }, found.fits ? "fits" : "does not fit"), " ", parts.length ? `${parts.join(", ")}.` : "Nothing changes."),
    found.notes.map((note) => h("p", { class: "hint" }, sentence(note))),
    section("Before and after", figures(found.before, found.after)),
    pods("Get a node", found.placed, (each) => [podLink(each.pod), knownNode(each.node)]),
    pods("Move", found.moves, (each) => [podLink(each.pod), [knownNode(each.source), " → ", knownNode(each.target)]]),
    pods("Get no node", found.unplaced, (each) => [podLink(each.pod), each.reason]),
    pods("Evicted", found.victims, (each) => [podLink(each.pod), ["from ", knownNode(each.node), each.preemptor ? [" for ", podLink(each.preemptor)] : ""]]),
    pods("Blocked", found.blocked, (each) => [podLink(each.pod), [knownNode(each.node), `, by ${each.budgets.join(", ")}`]]),
    pods("Lost", found.gone, (each) => [podLink(each.pod), ["was on ", knownNode(each.node)]]),
    pods("Still pending, as before", found.waiting, (each) => [podLink(each.pod), each.reason]),
  ];
}

function comparison(found, chosen) {
  const { first, second, differences } = found;
  const placed = second.placed - first.placed;
  const what = chosen === "weight" ? "weight" : "configuration";
  const before = new Set(first.unplaced.map((each) => each.pod));
  const lost = second.unplaced.filter((each) => !before.has(each.pod));
  return [
    h("p", { class: "sentence" }, h("span", { class: found.fits ? "tag good" : "tag bad" }, found.fits ? "fits" : "worse"), " ",
      differences.length ? `${plural(differences.length, "pod goes", "pods go")} elsewhere with this ${what}` : "Every pod goes to the same node",
      placed ? `, and ${plural(Math.abs(placed), `${placed > 0 ? "more" : "fewer"} pod gets`, `${placed > 0 ? "more" : "fewer"} pods get`)} a node.` : "."),
    found.notes.map((note) => h("p", { class: "hint" }, sentence(note))),
    section(`All pods scheduled anew: as configured now, and with this ${what}`, figures(first.figures, second.figures, ["Now", "Tried"])),
    pods("Go elsewhere", differences, (each) => [podLink(each.pod), [each.first ? knownNode(each.first) : "no node", " → ", each.second ? knownNode(each.second) : "no node"]]),
    pods(`Get no node with this ${what}`, lost, (each) => [podLink(each.pod), each.reason]),
    pods(`Evicted with this ${what}`, second.victims, (each) => [podLink(each.pod), ["from ", knownNode(each.node), each.preemptor ? [" for ", podLink(each.preemptor)] : ""]]),
  ];
}

function figures(before, after, [one, other] = ["Before", "After"]) {
  const row = (label, ...cells) => h("tr", {}, h("th", { scope: "row" }, label), cells.map((cell) => h("td", { class: "number" }, cell)));
  const signed = (number) => (number > 0 ? `+${count(number)}` : number < 0 ? `−${count(-number)}` : "–");
  const rows = [
    row("Nodes that take pods", count(before.nodes), count(after.nodes), signed(after.nodes - before.nodes)),
    row("Pods with a node", count(before.pods), count(after.pods), signed(after.pods - before.pods)),
    row("Pending pods", count(before.pending), count(after.pending), signed(after.pending - before.pending)),
    after.resources.filter((each) => each.allocatable).map((each) => {
      const old = before.resources.find((use) => use.resource === each.resource) || { share: 0, requested: 0 };
      const change = each.requested - old.requested;
      return row(`${each.resource} requested`, percentOf(old.share), percentOf(each.share), change ? `${change > 0 ? "+" : "−"}${amount(each.resource, Math.abs(change))}` : "–");
    }),
  ];
  return table(`${one} and ${other.toLowerCase()}`, ["", { text: one, number: true }, { text: other, number: true }, { text: "Change", number: true }], h("tbody", {}, rows));
}

function pods(title, items, cells) {
  if (!items.length) return null;
  const rows = items.slice(0, SHOWN).map((each) => h("tr", {}, cells(each).map((cell) => h("td", {}, cell))));
  return section(`${title} (${count(items.length)})`, table(title, ["Pod", "What"], h("tbody", {}, rows)),
    items.length > SHOWN ? h("p", { class: "hint" }, `and ${count(items.length - SHOWN)} more`) : null);
}
