// The search box: names of pods and nodes, with the keyboard alone if you like.

import { get } from "./api.js";
import { h, path, put } from "./dom.js";

const PAUSE = 150; // milliseconds after the last key

export function setUpSearch(input, list) {
  let timer = 0;
  let chosen = -1;
  let asking = null;

  function close() {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(number) {
    const options = list.querySelectorAll("[role=option]");
    if (!options.length) return;
    chosen = (number + options.length) % options.length;
    options.forEach((option, index) => option.setAttribute("aria-selected", String(index === chosen)));
    input.setAttribute("aria-activedescendant", options[chosen].id);
    options[chosen].scrollIntoView({ block: "nearest" });
  }

  function go(address) {
    location.hash = address;
    input.value = "";
    close();
    input.blur();
  }

  function option(address, kind, name, number) {
    return h("li", { role: "option", id: `found-${number}`, "aria-selected": "false", "data-address": address,
      onmousedown: (event) => { event.preventDefault(); go(address); } },
    h("span", { class: "kind" }, kind), h("span", { class: "name", dir: "auto" }, name));
  }

  async function ask() {
    const text = input.value.trim();
    asking?.abort();
    if (!text) return close();
    asking = new AbortController();
    try {
      const { pods, nodes } = await get(`search?q=${encodeURIComponent(text)}`, asking.signal);
      const options = [
        ...pods.map((pod) => [`#/pod/${path(pod)}`, "pod", pod]),
        ...nodes.map((node) => [`#/map?node=${encodeURIComponent(node)}`, "node", node]),
      ].map((each, number) => option(...each, number));
      put(list, options.length ? options : h("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false" }, "No pod or node has this name"));
    } catch (error) {
      if (error.name === "AbortError") return;
      put(list, h("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false" }, error.message));
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (list.querySelector("[data-address]")) choose(0);
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Escape") { input.value = ""; close(); input.blur(); }
    else if (event.key === "Enter") {
      const option = list.querySelectorAll("[data-address]")[chosen];
      if (option && !list.hidden) go(option.dataset.address);
    } else return;
    event.preventDefault();
  });
}
