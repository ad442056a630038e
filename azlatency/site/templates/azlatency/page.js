"use strict";
// Interaction on a page. Without this script the page still shows all of its content.
// Words of readers, and what the pages say; search.js reads them, too.
const ALIKE = {
  ppg: "proximity placement group", proximity: "placement group", accelnet: "accelerated networking", rtt: "round trip", "rtt/2": "half round trips", "zone-id": "zone id", kubernetes: "aks",
  bandwidth: "throughput", reset: "break", symmetric: "both directions", asymmetric: "both directions",
  "az-id": "zone id", azid: "zone id", gcp: "google cloud", jitter: "tail", licence: "license", credit: "burst", credits: "burst", symmetry: "both directions", commit: "replica", citation: "cite", price: "prices", cost: "prices", failover: "failover times", outlier: "slowest",
};
(() => {
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const one = (selector, root = document) => root.querySelector(selector);
const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    name === "click" ? element.addEventListener("click", value) : element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const button = (text, click, attributes) => make("button", {type: "button", click, ...attributes}, text);
const unmarked = text => text.replaceAll("\u200e", "");  // marks that keep the order of right-to-left names
const plain = element => {
  if (!one(".from", element)) return unmarked(element.textContent).trim();
  const copy = element.cloneNode(true);
  all(".from", copy).forEach(each => each.remove());
  return unmarked(copy.textContent).trim();
};
const say = text => { one("#said").textContent = text; };
const fileName = text => (document.body.dataset.name + "-" + text).replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 90).replace(/-$/, "");
const save = (name, blob) => {
  const url = URL.createObjectURL(blob);
  make("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
};

// --- light and dark
const theme = document.documentElement.dataset;
theme.scripts = "run";
const store = value => { try { return value ? localStorage.setItem("azlatency-theme", value) : localStorage.getItem("azlatency-theme"); } catch { return null; } };
if (["light", "dark"].includes(store())) theme.theme = store();
const isDark = () => theme.theme ? theme.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
function themeButton() {
  const toggle = button("", () => { theme.theme = isDark() ? "light" : "dark"; store(theme.theme); name(); });
  const name = () => { toggle.textContent = isDark() ? "Light" : "Dark"; toggle.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours"); };
  name();
  return toggle;
}

// --- dialogs
function dialog(title, ...content) {
  const opened = make("dialog", {"aria-label": title}, make("div", {class: "bar"}, make("strong", {}, title), button("Close", () => opened.close())), ...content);
  opened.addEventListener("close", () => opened.remove());
  opened.addEventListener("click", event => { if (event.target === opened) opened.close(); });
  document.body.append(opened);
  opened.showModal();
  return opened;
}

// --- folded content: thousands of elements slow a browser down, so large parts arrive as text and are unfolded later
// A box of class "folded" has its content in a noscript element; an element of class "room" reserves its space.
function unfold(box) {
  if (!box.classList.contains("folded")) return;
  box.classList.remove("folded");
  all(":scope > .room", box).forEach(each => each.remove());
  const text = one(":scope > noscript", box);
  text.replaceWith(...new DOMParser().parseFromString(text.textContent, "text/html").body.childNodes);
  all(":scope > table.az", box).forEach(sortable);
}
const unfoldAll = root => all(".folded", root).forEach(unfold);
// Boxes in or near the view are unfolded at once, the others one by one when the browser is idle.
function unfoldByAndBy() {
  const near = new IntersectionObserver(found => found.forEach(({target, isIntersecting}) => {
    if (isIntersecting) { near.unobserve(target); unfold(target); }
  }), {rootMargin: "50%"});
  all(".folded").forEach(each => near.observe(each));
  const later = window.requestIdleCallback ? work => requestIdleCallback(work, {timeout: 500}) : work => setTimeout(work, 50);
  const next = () => {
    const box = one(".folded");
    if (box) { unfold(box); later(next); }
  };
  addEventListener("load", () => later(next));
  addEventListener("beforeprint", () => unfoldAll());
}

// --- tables: sort, copy, CSV
const NUMBER = /^[+\-−]?[\d,]*\.?\d+(?:e[+-]?\d+)?/i;
const isNumber = text => (NUMBER.exec(text) || [])[0] === text;
const number = text => { const found = NUMBER.exec(text); return found ? parseFloat(found[0].replace(/,/g, "").replace("−", "-")) : NaN; };
// Text after the number: a column with "5 us" and "3 ms" cannot be sorted by a script.
const unit = text => NUMBER.test(text) ? text.replace(/[+\-−]?[\d,]*\.?\d+(?:e[+-]?\d+)?/gi, "").replace(/[\s()–]/g, "") : "";
const rowsOf = table => all("tbody tr", table);
const asNumber = text => text.replace(/,/g, "").replace("−", "-");
const forCsv = text => {
  if (isNumber(text)) return asNumber(text);
  const safe = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? "'" + text : text;  // text from a log must not become a formula
  return /[",\n\r;]/.test(safe) || safe !== text ? '"' + safe.replace(/"/g, '""') + '"' : safe;
};
const lines = (table, values, between) => [one("thead tr", table), ...rowsOf(table)].map(row => [...row.cells].flatMap(values).join(between));
// A cell's own CSV values (full precision, the ends of an interval), else its text.
const csvOf = cell => unmarked(cell.dataset.csv ?? plain(cell)).split("\t").map(forCsv);
function sortable(table) {
  const heads = [...one("thead tr", table).cells], body = one("tbody", table), original = rowsOf(table);
  const titles = heads.map(plain);
  const total = original.length && plain(original.at(-1).cells[0]) === "all files" ? original.at(-1) : null;
  const rows = original.filter(row => row !== total);
  if (rows.length < 2 || rows.some(row => row.cells.length !== heads.length)) return;
  const within = ["quantity", "unit"].map(title => titles.indexOf(title)).filter(index => index >= 0);
  heads.forEach((head, column) => {
    const numeric = head.classList.contains("number");
    const texts = new Map(rows.map(row => [row, plain(row.cells[column])]));
    if (numeric && new Set([...texts.values()].map(unit).filter(Boolean)).size + [...texts.values()].some(isNumber) > 1) return;
    const group = within.includes(column) ? () => "" : row => within.map(index => plain(row.cells[index])).join("|");
    const groups = [...new Set(rows.map(group))];
    const compare = (a, b) => {
      if (!numeric) return texts.get(a).localeCompare(texts.get(b), "en", {numeric: true});
      const [x, y] = [number(texts.get(a)), number(texts.get(b))];
      return isNaN(x) - isNaN(y) || (isNaN(x) ? 0 : x - y);
    };
    const missing = row => numeric && isNaN(number(texts.get(row)));
    const press = button("", () => {
      const next = {ascending: "descending", descending: ""}[head.ariaSort] ?? "ascending";
      heads.forEach(each => each.removeAttribute("aria-sort"));
      const sorted = [...rows];
      if (next) {
        head.setAttribute("aria-sort", next);
        const sign = next === "descending" ? -1 : 1;
        sorted.sort((a, b) => groups.indexOf(group(a)) - groups.indexOf(group(b)) || missing(a) - missing(b) || sign * compare(a, b));
      }
      body.append(...sorted, ...(total ? [total] : []));
      say(next ? `Sorted by ${titles[column]}, ${next}` : "Original order");
    }, {class: "sort"});
    press.append(...head.childNodes);
    head.append(press);
  });
}
function tableTools(box) {
  const caption = box.getAttribute("aria-label"), table = () => { unfold(box); return one("table", box); };
  const copy = async () => {
    const text = lines(table(), cell => (isNumber(plain(cell)) ? asNumber(plain(cell)) : plain(cell)).replace(/\s+/g, " "), "\t").join("\n");
    try { await navigator.clipboard.writeText(text); } catch {
      const area = make("textarea", {"aria-label": "Copy"});
      area.value = text; document.body.append(area); area.select(); document.execCommand("copy"); area.remove();
    }
    say("Table copied");
  };
  const csv = () => { save(fileName(caption) + ".csv", new Blob(["\ufeff" + lines(table(), csvOf, ",").join("\r\n") + "\r\n"], {type: "text/csv"})); say("CSV saved"); };
  all("table", box).forEach(sortable);
  box.before(make("div", {class: "tools", role: "group", "aria-label": "Table: " + caption}, button("Copy", copy), button("CSV", csv)));
  if (box.matches(".short")) {
    const count = getComputedStyle(box).getPropertyValue("--rows").trim();
    const more = button(`Show all ${count} rows`, () => { more.textContent = box.classList.toggle("short") ? `Show all ${count} rows` : "Show the first 10 rows"; });
    box.after(make("div", {class: "tools"}, more));
  }
}

// --- figures: enlarge, SVG, PNG, PDF
function svgText(svg) {
  const copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
  copy.setAttribute("width", box.width + "pt");
  copy.setAttribute("height", box.height + "pt");
  // Other programs know neither the variables nor the dark scheme of the page.
  return new XMLSerializer().serializeToString(copy).replace(/var\(--c([0-9a-f]{6})\)/g, "#$1");
}
const loaded = source => new Promise((done, failed) => { const image = new Image(); image.onload = () => done(image); image.onerror = failed; image.src = source; });
async function png(svg) {
  const box = svg.viewBox.baseVal, scale = 300 / 72;
  const canvas = make("canvas", {width: Math.round(box.width * scale), height: Math.round(box.height * scale)});
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(await loaded("data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText(svg))), 0, 0, canvas.width, canvas.height);
  return new Promise(done => canvas.toBlob(done, "image/png"));
}
// The browser prints the figure alone on a page of its size, with its fonts: "Save as PDF" makes the file.
function printFigure(figure, svg) {
  const {width, height} = svg.viewBox.baseVal;
  const sheet = make("style", {}, `@media print{@page{size:${width}pt ${height}pt;margin:0}}`);
  document.head.append(sheet);
  document.documentElement.classList.add("one-figure");
  figure.classList.add("printed");
  addEventListener("afterprint", () => { sheet.remove(); document.documentElement.classList.remove("one-figure"); figure.classList.remove("printed"); }, {once: true});
  print();
}
function figureTools(figure) {
  const card = one(".card", figure);
  const title = card.getAttribute("aria-label");
  const picture = () => { unfold(card); return one("svg,img", card); };
  const enlarge = () => {
    picture();
    const own = all("svg,img", card).find(drawing => drawing.getClientRects().length);  // that of a phone, or of a page
    const holder = make("div", {class: "card large", tabindex: "0", role: "group", "aria-label": title}), mark = document.createComment("");
    own.replaceWith(mark);
    holder.append(own);
    dialog(title, holder).addEventListener("close", () => mark.replaceWith(own));
  };
  const as = (ending, content) => button(ending.toUpperCase(), async () => {
    try { save(`${fileName(title)}.${ending}`, await content(picture())); say(ending.toUpperCase() + " saved"); }
    catch { say(`This browser cannot save the figure as ${ending.toUpperCase()}; choose another format`); }
  });
  const tools = (...buttons) => make("div", {class: "tools", role: "group", "aria-label": "Figure: " + title}, ...buttons);
  card.after(tools(button("Enlarge", enlarge)));
  if (!one("img", card)) one(".reading", figure).append(tools(as("svg", async svg => new Blob([svgText(svg)], {type: "image/svg+xml"})), as("png", png),
    button("PDF", () => printFigure(figure, picture()))));
}

// --- from a number to the line of its log
function showLog(row, cell) {
  unfoldAll(one(".provenance"));
  const link = one(".from", row), target = document.getElementById(link.hash.slice(1));
  const heads = [...one("thead tr", row.closest("table")).cells].map(plain), title = plain(row.cells[0]);
  const list = make("dl", {class: "lines"});
  const quoted = (term, quote, marked) => {
    const place = make("p", {class: "place"}, `${quote.closest(".file").dataset.path}:${quote.value}`);
    list.append(make("dt", {}, term), make("dd", marked ? {class: "here"} : {}, place, one("code,em", quote).cloneNode(true)));
  };
  [...row.cells].forEach((each, column) => {
    const quote = each.dataset.at && document.getElementById(each.dataset.at);
    if (quote) quoted(`${heads[column]}: ${plain(each)}`, quote, each === cell);
  });
  if (target.id.startsWith("q_")) quoted(title, target);
  else if (!list.children.length || target.matches(".group")) {
    const copy = target.cloneNode(true);
    copy.removeAttribute("id");
    all("[id]", copy).forEach(each => each.removeAttribute("id"));
    const names = all("a[href^='#q_']", copy);
    names.forEach(each => {
      const quote = document.getElementById(each.hash.slice(1));
      if (quote) each.closest("li").append(one("code,em", quote).cloneNode(true));
    });
    if (copy.matches("details")) copy.open = true;
    list.append(make("dt", {}, title), make("dd", {}, copy.matches("li") ? make("div", {}, ...copy.childNodes) : copy));
  }
  const opened = dialog("Source: " + title, list);
  opened.addEventListener("click", event => { if (event.target.closest("a[href^='#']")) opened.close(); });
  const here = one(".here", opened);
  if (here) here.scrollIntoView({block: "center"});
}
const reveal = () => {
  const name = decodeURIComponent(location.hash.slice(1)), find = () => document.getElementById(name);
  if (!name) return;
  if (!find()) {
    unfoldAll();
    if (find()) location.replace(location.hash);  // the browser marks a target only when it navigates to it
  }
  const target = find();
  if (!target) return;
  const rows = target.closest(".short");
  if (rows) rows.classList.remove("short");
  for (let each = target.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  target.scrollIntoView();
};

// --- search: this page at once, and all pages if the page is part of a site
function searchBox() {
  const {root, at} = document.body.dataset, inSite = decodeURIComponent(location.pathname).endsWith("/" + at);
  const field = make("input", {type: "search", name: "q", autocomplete: "off", placeholder: inSite ? "Search" : "Search this page", "aria-label": inSite ? "Search all pages" : "Search this page", "aria-controls": "hits"});
  const hits = make("ol", {id: "hits", "aria-label": "Search results"});
  const form = make("form", {role: "search"}, field, hits);
  // On the first page, a line alone does not say which question or study it belongs to.
  const inIndex = document.body.classList.contains("index");
  const headOf = each => { const head = one("th[scope=row],h2,h3", each.closest("tr,section") || each); return head && !head.contains(each) && !each.contains(head) && plain(head).replace(/\s+/g, " "); };
  let texts;
  const find = () => {
    if (!texts) unfoldAll();
    texts ??= all("h1,h2,h3,p,li,caption,figcaption,tbody tr,pre,dd", one("main")).filter(each => !each.closest(".tools") && !one("p,li", each))
      .map(each => ({each, text: [inIndex && headOf(each), plain(each).replace(/\s+/g, " ")].filter(Boolean).join(": ")}));
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? texts.filter(({text}) => { const low = text.toLowerCase(); return words.every(word => low.includes(word) || (ALIKE[word] && low.includes(ALIKE[word]))); }) : [];
    const items = found.slice(0, 8).map(({each, text}, index) => {
      const at = text.toLowerCase().indexOf(words[0]), start = at < 90 ? 0 : at - 30;
      each.id ||= "hit_" + index + "_" + Math.random().toString(36).slice(2, 8);
      return make("li", {}, make("a", {href: "#" + each.id, click: () => { hits.replaceChildren(); setTimeout(reveal); }}, (start ? "…" : "") + text.slice(start, start + 110) + (text.length > start + 110 ? "…" : "")));
    });
    if (words.length && inSite) items.push(make("li", {class: "all"}, make("a", {href: `${root}search.html?q=${encodeURIComponent(field.value)}`}, `All pages: ${field.value}`)));
    hits.replaceChildren(...items);
    say(words.length ? `${found.length} found on this page` : "");
  };
  field.addEventListener("input", find);
  form.addEventListener("keydown", event => { if (event.key === "Escape") { hits.replaceChildren(); field.focus(); } });
  document.addEventListener("click", event => { if (!form.contains(event.target)) hits.replaceChildren(); });
  form.addEventListener("submit", event => {
    event.preventDefault();
    if (inSite && field.value.trim()) location.href = `${root}search.html?q=${encodeURIComponent(field.value)}`;
    else { find(); const first = one("a", hits); if (first) first.focus(); }
  });
  return form;
}

// --- index: filters; without this script all studies are listed
function filters() {
  const studies = all("[data-tool]");
  if (studies.length < 4) return;
  const of = (study, name) => study.dataset[name].split("|").filter(Boolean);
  const choose = name => {
    const values = [...new Set(studies.flatMap(study => of(study, name)))].sort();
    const select = make("select", {}, make("option", {value: ""}, "all"), ...values.map(value => make("option", {}, value)));
    select.addEventListener("change", show);
    return [name, select];
  };
  const show = () => {
    studies.forEach(study => { study.hidden = chosen.some(([name, {value}]) => value && !of(study, name).includes(value)); });
    if (chosen.some(([, {value}]) => value)) all("details:has([data-tool])").forEach(fold => { fold.open = !!one("[data-tool]:not([hidden])", fold); });
    const emulated = studies.filter(study => study.closest("details")), real = studies.filter(study => !emulated.includes(study));
    const count = (those, words) => `${those.filter(study => !study.hidden).length} of ${those.length} ${words}`;
    said.textContent = count(real, "studies") + (emulated.length ? `, and ${count(emulated, "of the emulated lab")}` : "");
  };
  const chosen = ["tool", "placement", "evidence"].map(choose), said = make("span", {role: "status"});
  one(".studies,.cards").before(make("div", {class: "filters", role: "group", "aria-label": "Filter the studies"},
    ...chosen.map(([name, select]) => make("label", {}, name + " ", select)), said));
}

document.addEventListener("DOMContentLoaded", () => {
  document.body.append(make("p", {id: "said", role: "status", class: "unseen"}));
  const bar = one(".top");
  if (bar) bar.append(...(document.body.dataset.at === "search.html" ? [] : [searchBox()]), themeButton());
  all(".scroll[aria-label]:has(> table.az, > noscript)").forEach(tableTools);
  all("figure").forEach(figureTools);
  filters();
  unfoldByAndBy();
  all("main").forEach(main => main.addEventListener("click", event => {
    const link = event.target.closest(".from"), cell = event.target.closest("td");
    const row = (link || cell) && event.target.closest("tr");
    if (!row || !one(".from", row) || (!link && (!cell.matches(".number,[data-at]") || String(getSelection())))) return;
    event.preventDefault();
    showLog(row, link ? null : cell);
  }));
  addEventListener("hashchange", reveal);
  reveal();
});
})();
