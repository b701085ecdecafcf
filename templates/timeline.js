"use strict";
// Marks of a pipe between two times: intervals that lie closer than `gap` are one, as in the still picture. An interval is
// [lane, start, end, label], in microseconds; what comes back is {from, to, busy, count, label}.
function marks(intervals, lane, from, to, gap) {
  const found = [];
  for (const [its, start, end, label] of intervals) {
    if (its !== lane || end < from || start > to) continue;
    const last = found[found.length - 1], busy = end - start;
    if (last && start - last.to < gap && busy <= 8 * gap && last.busy <= 8 * gap) {
      last.to = Math.max(last.to, end);
      last.busy += busy;
      last.count += 1;
    } else found.push({ from: start, to: end, busy, count: 1, label });
  }
  return found;
}
// A part of the whole, from 0 to 1: `factor` times as long, with the time at `at` of it staying where it is.
function zoomed([from, to], factor, at) {
  const length = Math.min(1, Math.max(1e-4, (to - from) * factor)), middle = from + (to - from) * at;
  const start = Math.min(1 - length, Math.max(0, middle - length * at));
  return [start, start + length];
}
function panned([from, to], by) {
  const start = Math.min(1 - (to - from), Math.max(0, from + by * (to - from)));
  return [start, start + (to - from)];
}
// Round times in a range, about eight.
function ticks(from, to) {
  const rough = (to - from) / 8, power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].find((one) => rough <= one * power) * power, found = [];
  for (let at = Math.ceil(from / step); at * step <= to; at += 1) found.push(at * step);
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}
function timeline(root) {
  const svg = root.querySelector("svg"), data = JSON.parse(root.querySelector("script").textContent);
  const groups = svg.querySelectorAll("g.marks"), axes = svg.querySelectorAll("g.ticks"), width = data.right - data.left;
  const still = [...groups, ...axes].map((group) => group.innerHTML);
  // A lane is as long as its core was at work.
  const lanes = svg.querySelectorAll("rect.lane"), shares = [...lanes].map((lane) => lane.getAttribute("width") / width);
  let view = [0, 1], dragged = null;
  const make = (name, words, parent) => {
    const made = document.createElementNS(svg.namespaceURI, name);
    for (const word in words) made.setAttribute(word, words[word]);
    return parent.appendChild(made);
  };
  const draw = () => {
    const span = view[1] - view[0];
    lanes.forEach((lane, at) => lane.setAttribute("width", width * Math.min(1, Math.max(0, (shares[at] - view[0]) / span))));
    if (span >= 1) return [...groups, ...axes].forEach((group, at) => { group.innerHTML = still[at]; });
    data.panels.forEach((panel, row) => {
      const from = view[0] * panel.span, to = view[1] * panel.span, unit = width / (to - from);
      const x = (time) => data.left + (Math.min(to, Math.max(from, time)) - from) * unit;
      axes[row].textContent = "";
      const { found, digits } = ticks(from, to);
      for (const tick of found) {
        make("line", { class: "grid", x1: x(tick), x2: x(tick), y1: panel.top, y2: panel.floor }, axes[row]);
        const text = make("text", { class: "tick", x: x(tick), y: panel.floor + 15, "text-anchor": "middle" }, axes[row]);
        text.textContent = tick.toFixed(digits) + " us";
      }
      data.lanes.forEach((pipe, lane) => {
        const group = groups[row * data.lanes.length + lane];
        group.textContent = "";
        for (const mark of marks(data.sides[panel.side], lane, from, to, data.gap / unit)) {
          const mine = { class: "pipe-" + pipe, x: x(mark.from), y: panel.top + lane * data.lane + 2, height: data.bar };
          mine.width = Math.max(0.4, x(mark.to) - x(mark.from));
          mine["fill-opacity"] = mark.to > mark.from ? Math.min(1, Math.max(0.15, mark.busy / (mark.to - mark.from))) : 1;
          const name = mark.count > 1 ? mark.count + " instructions from " + data.labels[mark.label] : data.labels[mark.label];
          const time = (mark.to - mark.from).toFixed(4) + " us at " + mark.from.toFixed(4) + " us";
          make("title", {}, make("rect", mine, group)).textContent = name + "\n" + time;
        }
      });
    });
  };
  const show = (next) => { view = next; draw(); };
  const does = {
    in: () => show(zoomed(view, 0.5, 0.5)), out: () => show(zoomed(view, 2, 0.5)),
    left: () => show(panned(view, -0.25)), right: () => show(panned(view, 0.25)), all: () => show([0, 1]),
  };
  const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all", Home: "all" };
  // Where the pointer is between the ends of the lanes, from 0 to 1.
  const place = (event) => {
    const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    return Math.min(1, Math.max(0, (at - data.left) / width));
  };
  root.querySelector(".tools").hidden = false;
  root.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => does[button.dataset.do]()));
  svg.tabIndex = 0;
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
    event.preventDefault();
    does[keys[event.key]]();
  });
  // Without Ctrl the wheel moves the page, as everywhere.
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    show(zoomed(view, event.deltaY > 0 ? 1.25 : 0.8, place(event)));
  }, { passive: false });
  // A finger moves the page; a mouse moves the time.
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    dragged = place(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (dragged === null) return;
    const now = place(event);
    show(panned(view, dragged - now));
    dragged = now;
  });
  ["pointerup", "pointercancel"].forEach((name) => svg.addEventListener(name, () => { dragged = null; }));
}
if (typeof document !== "undefined") document.querySelectorAll(".timeline").forEach(timeline);
