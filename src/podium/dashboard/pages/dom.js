// Elements from values. Text only ever becomes text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: h("a", {href: "#/", class: "x", onclick: f}, "text", child, ...). */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Replace what is inside an element. */
export function put(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** Set a text only if it differs, so that nothing is announced or laid out again for nothing. */
export function say(element, text) {
  const value = String(text);
  if (element.textContent !== value) element.textContent = value;
}

/** Show a list with one element for each item; elements of items that stay are kept. */
export function keyed(container, items, keyOf, make, update) {
  const known = container.keyed || new Map();
  const next = new Map();
  let place = container.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    if (next.has(key)) continue;
    const element = known.get(key) || make(item);
    if (update) update(element, item);
    next.set(key, element);
    if (element === place) place = place.nextSibling;
    else container.insertBefore(element, place);
  }
  for (const [key, element] of known) if (!next.has(key)) element.remove();
  container.keyed = next;
}

/** A link to a pod's decision. */
export function podLink(pod) {
  return h("a", { href: `#/pod/${path(pod)}`, class: "name pod", dir: "auto" }, pod);
}

/** A link to a node on the map. */
export function nodeLink(node) {
  return h("a", { href: `#/map?node=${encodeURIComponent(node)}`, class: "name node", dir: "auto" }, node);
}

/** The node that a pod goes to after a fix; a link, unless the fix adds it first. */
export function fixedNode(fix) {
  const isNew = fix.changes.some((each) => each.kind === "Node" && each.action === "create" && each.name === fix.node);
  return isNew ? h("span", { class: "name", dir: "auto" }, fix.node) : nodeLink(fix.node);
}

/** namespace/name as a part of an address. */
export function path(pod) {
  return pod.split("/").map(encodeURIComponent).join("/");
}

/** A heading with what follows, as a section with a name. */
export function section(title, ...children) {
  const id = `section-${(sections += 1)}`;
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}
let sections = 0;

/** A text as a sentence: with a capital letter and a full stop. */
export function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "";
}

/** A table in a box that scrolls sideways. */
export function table(label, heads, body) {
  const cells = heads.map((head) =>
    h("th", { scope: "col", class: head.number ? "number" : head.wide ? "widest" : null }, head.text ?? head));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, cells)), body));
}

export function empty(text, hint) {
  return h("div", { class: "empty" }, h("p", {}, text), hint ? h("p", { class: "hint" }, hint) : null);
}

/** What went wrong, and a button that tries again. */
export function failure(error, again) {
  return h("div", { class: "empty failed", role: "alert" },
    h("p", {}, error.message),
    error.hint ? h("p", { class: "hint" }, error.hint) : null,
    again ? h("button", { type: "button", onclick: again }, "Try again") : null);
}

export function working(text) {
  return h("p", { class: "working", role: "status" }, text);
}
