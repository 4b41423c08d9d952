"use strict";
(() => {
  // A diff is built when it is opened, and of a long one only as much as anyone scrolls to.
  const ROWS = 1500;
  const all = [...document.querySelectorAll("details.object")];
  const by = (id) => document.getElementById(id);
  const [search, kind, split, open, count] = ["search", "kind", "split", "open", "count"].map(by);
  const narrow = matchMedia("(max-width: 44rem)");
  let isSplit = false;

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // A line is [sign, text, start, end, …]: what is between start and end differs.
  const code = (line, className) => {
    const cell = element("td", className);
    if (!line) return cell;
    const text = line[1];
    let done = 0;
    for (let at = 2; at < line.length; at += 2) {
      cell.append(text.slice(done, line[at]), element("mark", "", text.slice(line[at], line[at + 1])));
      done = line[at + 1];
    }
    cell.append(text.slice(done));
    return cell;
  };

  const side = (line) => (!line ? "" : line[0] === "-" ? "o" : line[0] === "+" ? "a" : "");

  const inlineRows = (lines, old, now) => lines.map((line) => {
    const row = element("tr", side(line));
    row.append(element("td", "n", line[0] === "+" ? "" : old++), element("td", "n", line[0] === "-" ? "" : now++));
    row.append(element("td", "s", line[0]), code(line, "t"));
    return row;
  });

  const splitRows = (lines, old, now) => {
    const rows = [];
    const add = (left, right) => {
      const row = element("tr");
      row.append(element("td", "n " + side(left), left ? old++ : ""), code(left, "t " + side(left)));
      row.append(element("td", "n " + side(right), right ? now++ : ""), code(right, "t " + side(right)));
      rows.push(row);
    };
    for (let at = 0; at < lines.length;) {
      if (lines[at][0] === " ") {
        add(lines[at], lines[at]);
        at += 1;
        continue;
      }
      const removed = [], added = [];
      while (at < lines.length && lines[at][0] === "-") removed.push(lines[at++]);
      while (at < lines.length && lines[at][0] === "+") added.push(lines[at++]);
      for (let n = 0; n < Math.max(removed.length, added.length); n++) add(removed[n], added[n]);
    }
    return rows;
  };

  const build = (details) => {
    const wanted = isSplit && !narrow.matches ? "split" : "inline";
    const place = details.querySelector(".diff");
    if (place.dataset.built === wanted) return;
    place.dataset.built = wanted;
    const table = element("table", wanted);
    const body = element("tbody");
    const rows = [];
    for (const [old, now, lines] of JSON.parse(details.querySelector("script").textContent)) {
      const gap = element("tr", "gap");
      const cell = element("td", "", `line ${Math.max(old, now)}`);
      cell.colSpan = 4;
      gap.append(cell);
      if (old > 1 || now > 1) rows.push(gap);
      rows.push(...(wanted === "split" ? splitRows : inlineRows)(lines, old, now));
    }
    if (wanted === "split") {
      const columns = element("colgroup");
      columns.append(element("col", "n"), element("col", "t"), element("col", "n"), element("col", "t"));
      table.append(columns);
    }
    table.append(body);
    place.replaceChildren(table);
    const more = element("button", "more");
    more.type = "button";
    const show = () => {
      body.append(...rows.splice(0, ROWS));
      if (rows.length) {
        more.textContent = `${rows.length} more lines`;
        place.append(more);
      } else more.remove();
    };
    more.addEventListener("click", show);
    show();
  };

  for (const details of all) {
    details.addEventListener("toggle", () => { if (details.open) build(details); });
  }

  const filter = () => {
    // The data is JSON with `<` and `>` as escapes: look for the text in the same form.
    const query = search.value.trim().toLowerCase();
    const quoted = JSON.stringify(query).slice(1, -1).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e").replaceAll("&", "\\u0026");
    const statuses = new Set([...document.querySelectorAll(".filter:checked")].map((box) => box.value));
    let shown = 0;
    for (const details of all) {
      const { status, kind: own, search: words } = details.dataset;
      const isShown = statuses.has(status) && (!kind.value || kind.value === own) && (!query || words.includes(query)
        || details.querySelector("script").textContent.toLowerCase().includes(quoted));
      details.hidden = !isShown;
      shown += isShown;
    }
    const isFiltered = shown !== all.length;
    for (const target of document.querySelectorAll(".target")) {
      target.hidden = isFiltered && !target.querySelector("details.object:not([hidden])");
    }
    by("nothing").hidden = shown > 0 || !all.length;
    count.textContent = isFiltered ? `${shown} of ${all.length} objects` : `${all.length} object${all.length === 1 ? "" : "s"}`;
  };
  let waiting;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
  kind.addEventListener("change", filter);
  document.querySelectorAll(".filter").forEach((box) => box.addEventListener("change", filter));

  const visible = () => all.filter((details) => !details.hidden);
  open.addEventListener("click", () => {
    const isOpening = open.textContent === "Open all";
    for (const details of visible()) details.open = isOpening;
    open.textContent = isOpening ? "Close all" : "Open all";
  });
  const rebuild = () => all.filter((details) => details.open).forEach(build);
  split.addEventListener("click", () => {
    isSplit = !isSplit;
    split.setAttribute("aria-pressed", isSplit);
    rebuild();
  });
  narrow.addEventListener("change", rebuild);
  by("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });

  const step = (by) => {
    const list = visible();
    const at = list.findIndex((details) => details.contains(document.activeElement));
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
    next?.querySelector("summary").focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input[type=search], select");
    if (event.key === "Escape" && event.target === search) {
      search.value = "";
      search.blur();
      filter();
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { "/": () => search.focus(), j: () => step(1), k: () => step(-1), e: () => open.click(), s: () => split.click(), t: () => by("theme").click() }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  filter();
  // One diff alone is what everybody came for.
  if (all.length === 1) all[0].open = true;
})();
