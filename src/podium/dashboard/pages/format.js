// Numbers, times and shares as texts.

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1, minimumFractionDigits: 1 });

export function count(number) {
  return whole.format(number);
}

export function plural(number, one, many) {
  return `${count(number)} ${number === 1 ? one : many || `${one}s`}`;
}

export function rate(number) {
  return number >= 100 ? whole.format(number) : tenths.format(number);
}

/** Seconds as a person says them: 3.2 ms, 1.4 s, 2 min 5 s. */
export function seconds(value) {
  if (value < 0.0005) return value > 0 ? "<1 ms" : "0 ms";
  if (value < 1) return `${value < 0.01 ? tenths.format(value * 1000) : whole.format(value * 1000)} ms`;
  if (value < 60) return `${tenths.format(value)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
  if (value < 86400) return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
  return `${Math.floor(value / 86400)} d ${Math.floor((value % 86400) / 3600)} h`;
}

export function clockTime(text) {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toTimeString().slice(0, 8);
}

/** A share in thousandths as percent; a dash where there is nothing. */
export function percent(thousandths) {
  return thousandths < 0 ? "–" : `${whole.format(thousandths / 10)} %`;
}

export function percentOf(share) {
  return `${whole.format(share * 100)} %`;
}

/** An amount of a resource: cpu in cores, bytes in Ki, Mi, Gi. */
export function amount(resource, value) {
  if (resource === "cpu") return value % 1000 ? `${tenths.format(value / 1000)}` : count(value / 1000);
  if (resource === "memory" || resource.includes("storage")) return bytes(value);
  return count(value);
}

function bytes(value) {
  for (const [unit, size] of [["Ti", 2 ** 40], ["Gi", 2 ** 30], ["Mi", 2 ** 20], ["Ki", 2 ** 10]]) {
    if (Math.abs(value) >= size) return `${tenths.format(value / size)} ${unit}`;
  }
  return count(value);
}

/** A quantity with thousandths as a decimal number, so that 13200m stands well beside 16. */
export function cores(quantity) {
  return /^-?\d+m$/.test(quantity) ? String(Number(quantity.slice(0, -1)) / 1000) : quantity;
}

/** What the states of a pod mean that are not words for themselves. */
export const STATES = {
  active: "next to be tried", backoff: "backing off", unschedulable: "waiting for an event", gated: "gated", incomplete: "waiting for the PodGroup",
  "in flight": "being tried or bound", waiting: "waiting for Permit", "not ours": "left to another scheduler",
};
