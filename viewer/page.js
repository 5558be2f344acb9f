"use strict";
const $ = (id) => document.getElementById(id);
const make = (tag, props = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
};
const state = { tab: "overview", kernel: 0, at: 0, left: -1, mode: "side", followed: null, words: "" };
const names = [...document.querySelectorAll("#overview .kernel")].map((node) => node.dataset.name);
let table = [], passes = [], run = [], keys = [];

async function unpack() {
  const bytes = Uint8Array.from(atob($("data").textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  ({ table, passes } = JSON.parse(await new Response(stream).text()));
  keys = table.map((line) => line.trim().replace(/%[\w$.-]+(#\d+)?/g, "%").replace(/\^bb\d+/g, "^bb").replace(/%?\b(rd?|p|f|h|b|fd)\d+\b/g, "$1"));
}

/* The passes of one kernel: those of the whole program first, then its own. */
function select(kernel) {
  state.kernel = kernel;
  const own = passes.some((each) => each.kernel === names[kernel]);
  run = passes.filter((each) => each.kernel === "" || (own && each.kernel === names[kernel]));
  let last = null;
  for (const each of run) {
    each.shown = each.changed ? each : last;
    last = each.shown;
  }
  state.at = Math.min(state.at, run.length - 1);
  state.left = -1;
  state.followed = null;
  document.querySelectorAll("article.kernel").forEach((node) => { node.hidden = Number(node.dataset.kernel) !== kernel; });
  if ($("kernel")) $("kernel").value = kernel;
  list();
}

function list() {
  const nodes = [];
  let stage = "";
  run.forEach((each, number) => {
    if (each.stage !== stage) {
      stage = each.stage;
      nodes.push(make("h4", { textContent: stage }));
    }
    const row = make("a", { title: each.what, onclick: () => show(number) },
      make("span", { textContent: each.pass || each.stage }),
      make("span", { className: "ms", textContent: each.ms ? each.ms.toFixed(1) : "" }));
    row.dataset.number = number;
    row.className = each.changed ? "" : "same";
    nodes.push(row);
  });
  $("list").replaceChildren(...nodes);
  $("left").replaceChildren(make("option", { value: -1, textContent: "the pass before" }),
    ...run.flatMap((each, number) => each.changed ? [make("option", { value: number, textContent: `${each.stage}: ${each.pass || each.stage}` })] : []));
  mark();
}

function mark() {
  const wanted = state.words.toLowerCase();
  let hits = 0;
  for (const row of $("list").querySelectorAll("a")) {
    const number = Number(row.dataset.number), each = run[number];
    row.classList.toggle("now", number === state.at);
    const said = `${each.pass} ${each.what}`.toLowerCase().includes(wanted);
    const hit = wanted && each.changed && (said || each.lines.some((line) => table[line].toLowerCase().includes(wanted)));
    row.classList.toggle("said", Boolean(wanted && said));
    row.classList.toggle("hit", Boolean(hit));
    hits += hit ? 1 : 0;
    row.classList.toggle("followed", Boolean(state.followed && each.changed && state.followed.get(each)?.size));
  }
  $("found").textContent = wanted ? `${hits} passes` : "";
  $("list").querySelector(".now")?.scrollIntoView({ block: "nearest" });
}

/* Lines of two texts, paired: [left, right], -1 where there is none (Myers; values count as the same). */
function pairs(left, right) {
  const a = left.map((line) => keys[line]), b = right.map((line) => keys[line]);
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const found = [];
  for (let i = 0; i < start; i++) found.push([i, i]);
  found.push(...middle(a.slice(start, endA), b.slice(start, endB)).map(([i, j]) => [i < 0 ? i : i + start, j < 0 ? j : j + start]));
  for (let i = 0; endA + i < a.length; i++) found.push([endA + i, endB + i]);
  return found;
}

function middle(a, b) {
  const n = a.length, m = b.length, most = Math.min(n + m, 3000), trace = [];
  let ends = new Map([[1, 0]]);
  for (let d = 0; d <= most; d++) {
    trace.push(new Map(ends));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (ends.get(k - 1) ?? -1) < (ends.get(k + 1) ?? -1));
      let x = down ? ends.get(k + 1) : ends.get(k - 1) + 1, y = x - k;
      while (x < n && y < m && a[x] === b[y]) { x++; y++; }
      ends.set(k, x);
      if (x >= n && y >= m) return back(trace, n, m);
    }
    if (d > 1500) break;
  }
  return [...a.keys()].map((i) => [i, -1]).concat([...b.keys()].map((j) => [-1, j]));
}

function back(trace, x, y) {
  const found = [];
  for (let d = trace.length - 1; d >= 0; d--) {
    const ends = trace[d], k = x - y;
    const down = k === -d || (k !== d && (ends.get(k - 1) ?? -1) < (ends.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1, fromX = ends.get(before) ?? 0, fromY = fromX - before;
    while (x > fromX && y > fromY && x > 0 && y > 0) found.push([--x, --y]);
    if (d > 0) found.push(down ? [-1, --y] : [--x, -1]);
  }
  return found.reverse();
}

/* Rows for two panes: removed and added lines beside each other. */
function aligned(left, right) {
  const rows = [];
  let cuts = [], adds = [];
  const flush = () => {
    for (let i = 0; i < Math.max(cuts.length, adds.length); i++) rows.push([cuts[i] ?? -1, adds[i] ?? -1, true]);
    cuts = []; adds = [];
  };
  for (const [i, j] of pairs(left, right)) {
    if (i >= 0 && j >= 0) { flush(); rows.push([i, j, false]); } else if (i >= 0) cuts.push(i); else adds.push(j);
  }
  flush();
  return rows;
}

function before(number) {
  for (let i = number - 1; i >= 0; i--) if (run[i].changed) return run[i];
  return null;
}

function show(number) {
  state.at = Math.max(0, Math.min(number, run.length - 1));
  const now = run[state.at], right = now.shown, left = state.left >= 0 ? run[state.left] : before(state.at);
  const options = now.options ? make("code", { textContent: " " + now.options }) : "";
  $("what").replaceChildren(make("b", { textContent: `${now.stage}: ${now.pass || now.stage}` }), options,
    make("span", { className: "dim", textContent: ` ${now.what} ${now.changed ? "" : "It changed nothing here."} ` }),
    now.file ? make("code", { className: "dim", textContent: now.file }) : "");
  const single = state.mode === "one" || !left || left === right;
  let rows = single ? right.lines.map((_, i) => [-1, i, false]) : aligned(left.lines, right.lines);
  const changed = rows.filter((row) => row[2]).length;
  $("counts").textContent = `${right.lines.length} lines` + (single ? "" : `, ${changed} of them differ; numbers of values are not compared`);
  if (state.mode === "changes" && !single) rows = folded(rows);
  $("panes").classList.toggle("single", single);
  fill($("before"), rows, 0, left, single);
  fill($("after"), rows, 1, right, single);
  document.querySelectorAll(".modes button").forEach((node) => node.classList.toggle("on", node.dataset.mode === state.mode));
  $("left").value = state.left;
  mark();
  focus();
  remember();
}

function folded(rows) {
  const near = rows.map((_, i) => rows.slice(Math.max(0, i - 3), i + 4).some((row) => row[2]));
  const kept = [];
  let skipped = 0;
  rows.forEach((row, i) => {
    if (near[i]) {
      if (skipped) kept.push([-2, -2, false, skipped]);
      skipped = 0;
      kept.push(row);
    } else skipped++;
  });
  if (skipped) kept.push([-2, -2, false, skipped]);
  return kept;
}

function fill(pane, rows, side, snapshot, single) {
  if (single && side === 0) { pane.replaceChildren(); return; }
  const wanted = state.words.toLowerCase(), ours = state.followed?.get(snapshot);
  const nodes = rows.map((row) => {
    const at = row[side], line = make("div", { className: "line" });
    if (at === -2) { line.textContent = `... ${row[3]} lines`; line.classList.add("gap"); return line; }
    if (at < 0) { line.classList.add("gap"); return line; }
    const text = table[snapshot.lines[at]];
    if (wanted && text.toLowerCase().includes(wanted)) {
      const start = text.toLowerCase().indexOf(wanted);
      line.append(text.slice(0, start), make("mark", { textContent: text.slice(start, start + wanted.length) }), text.slice(start + wanted.length));
    } else line.textContent = text;
    if (row[2]) line.classList.add(side ? "add" : "cut");
    if (ours?.has(snapshot.ops[at])) line.classList.add("op");
    line.onclick = () => follow(snapshot, snapshot.ops[at]);
    return line;
  });
  pane.replaceChildren(...nodes);
}

function focus() {
  const first = $("after").querySelector(state.followed ? ".op" : state.words ? "mark" : ".add") || $("before").querySelector(state.followed ? ".op" : ".cut");
  const top = first ? Math.max(0, first.offsetTop - $("panes").offsetTop - 120) : 0;
  $("before").scrollTop = $("after").scrollTop = top;
}

/* The operations that one came from, in all passes before, and what they became, in all after. */
function follow(snapshot, op) {
  if (op < 0) { state.followed = null; $("trail").hidden = true; show(state.at); return; }
  const chain = run.filter((each) => each.changed), at = chain.indexOf(snapshot), found = new Map([[snapshot, new Set([op])]]);
  for (let i = at; i > 0; i--) found.set(chain[i - 1], new Set([...found.get(chain[i])].map((each) => chain[i].parents[each]).filter((each) => each >= 0)));
  for (let i = at + 1; i < chain.length; i++) {
    const mine = found.get(chain[i - 1]), next = new Set();
    chain[i].parents.forEach((parent, each) => { if (mine.has(parent)) next.add(each); });
    found.set(chain[i], next);
  }
  state.followed = found;
  trail(chain, found);
  const scroll = [$("before").scrollTop, $("after").scrollTop];
  show(state.at);
  [$("before").scrollTop, $("after").scrollTop] = scroll;
}

function trail(chain, found) {
  const nodes = [];
  let last = "";
  for (const each of chain) {
    const ours = each.lines.filter((line, i) => found.get(each).has(each.ops[i]) && !table[line].trim().startsWith("}"));
    const said = ours.map((line) => keys[line]).join("\n");
    if (!ours.length || said === last) continue;
    last = said;
    nodes.push(make("a", { textContent: `${each.stage}: ${each.pass || each.stage}`, onclick: () => show(run.indexOf(each)) }));
    ours.slice(0, 4).forEach((line) => nodes.push(make("div", { textContent: "  " + table[line].trim() })));
    if (ours.length > 4) nodes.push(make("div", { className: "more", textContent: `  ... ${ours.length - 4} more` }));
  }
  $("trail").replaceChildren(make("b", { textContent: "This operation through all passes" }), ...nodes);
  $("trail").hidden = false;
}

function step(by) {
  let number = state.at;
  do number += by; while (number > 0 && number < run.length - 1 && !run[number].changed);
  show(number);
}
function stage(by) {
  const stages = [...new Set(run.map((each) => each.stage))];
  const wanted = stages[Math.max(0, Math.min(stages.length - 1, stages.indexOf(run[state.at].stage) + by))];
  show(by > 0 ? run.findIndex((each) => each.stage === wanted) : run.findLastIndex((each) => each.stage === wanted));
}
function hit(by) {
  const rows = [...$("list").querySelectorAll("a.hit")].map((row) => Number(row.dataset.number));
  const next = by > 0 ? rows.find((row) => row > state.at) : rows.findLast((row) => row < state.at);
  if (next !== undefined) show(next);
}
function tab(name) {
  if (!$(name)) return;
  state.tab = name;
  document.querySelectorAll("main > section").forEach((node) => { node.hidden = node.id !== name; });
  document.querySelectorAll("#tabs button").forEach((node) => node.classList.toggle("on", node.dataset.tab === name));
  if (name === "passes") show(state.at); else remember();
}
function theme(dark) { document.documentElement.classList.toggle("dark", dark); }
function remember() {
  history.replaceState(null, "", `#${new URLSearchParams({ tab: state.tab, kernel: state.kernel, pass: state.at, mode: state.mode })}`);
}
function search(words) {
  state.words = words;
  if (state.tab !== "passes" && words) tab("passes"); else if (state.tab === "passes") show(state.at);
  mark();
}
function slowest() {
  const rows = passes.filter((each) => each.ms).sort((a, b) => b.ms - a.ms).slice(0, 20);
  $("slowest").replaceChildren(...rows.map((each) => {
    const bar = make("span", { className: "share" });
    bar.style.width = `${400 * each.ms / rows[0].ms}px`;
    return make("tr", {}, make("td", { textContent: each.kernel }), make("td", { textContent: each.stage }),
      make("td", { textContent: each.pass.slice(0, 80) }), make("td", { className: "number", textContent: `${each.ms.toFixed(1)} ms` }), make("td", {}, bar));
  }));
}
const pressed = {
  j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), "]": () => stage(1), "[": () => stage(-1),
  n: () => hit(1), N: () => hit(-1), "<": () => go(state.kernel - 1), ">": () => go(state.kernel + 1),
  d: () => { state.mode = { side: "changes", changes: "one", one: "side" }[state.mode]; show(state.at); },
  t: () => theme(!document.documentElement.classList.contains("dark")), "/": () => $("search").focus(),
  "?": () => $("help").showModal(), Escape: () => { state.followed = null; $("trail").hidden = true; if (state.tab === "passes") show(state.at); },
};
["overview", "passes", "choice", "time", "counters"].forEach((name, i) => { pressed[i + 1] = () => tab(name); });
function go(kernel) { if (kernel >= 0 && kernel < names.length) { select(kernel); tab(state.tab); } }

async function start() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const dark = wanted.get("theme") ? wanted.get("theme") === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme(dark);
  await unpack();
  select(Number(wanted.get("kernel") || 0));
  state.mode = wanted.get("mode") || "side";
  const named = run.findIndex((each) => each.pass === wanted.get("pass"));
  state.at = Math.max(0, named >= 0 ? named : Number(wanted.get("pass")) || run.findIndex((each) => each.stage !== "source"));
  slowest();
  tab(wanted.get("tab") || "overview");
  if (wanted.get("search")) { $("search").value = wanted.get("search"); search(wanted.get("search")); }
  if (wanted.get("follow")) {
    const each = run[state.at].shown, at = each.lines.findIndex((line) => table[line].includes(wanted.get("follow")));
    if (at >= 0) { follow(each, each.ops[at]); focus(); }
  }
  document.querySelectorAll("#tabs button").forEach((node) => { node.onclick = () => tab(node.dataset.tab); });
  document.querySelectorAll(".modes button").forEach((node) => { node.onclick = () => { state.mode = node.dataset.mode; show(state.at); }; });
  document.querySelectorAll(".candidate").forEach((node) => { node.onclick = () => { node.nextElementSibling.hidden = !node.nextElementSibling.hidden; }; });
  $("left").onchange = () => { state.left = Number($("left").value); show(state.at); };
  if ($("kernel")) $("kernel").onchange = () => go(Number($("kernel").value));
  $("search").oninput = () => search($("search").value);
  $("theme").onclick = pressed.t;
  $("keys").onclick = pressed["?"];
  for (const [one, other] of [["before", "after"], ["after", "before"]]) $(one).onscroll = () => { $(other).scrollTop = $(one).scrollTop; $(other).scrollLeft = $(one).scrollLeft; };
  document.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (["INPUT", "SELECT"].includes(event.target.tagName)) { if (["Escape", "Enter"].includes(event.key)) event.target.blur(); return; }
    const act = pressed[event.key];
    if (act && !$("help").open) { event.preventDefault(); act(); }
  };
  document.documentElement.dataset.ready = "yes";
}
start();
