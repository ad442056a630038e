"use strict";
// Search over all pages: findings first, then rows of tables, figures, prose. The texts are part of this page, so that
// it works from a folder and offline. A word that no text has matches words that differ from it by one letter.
document.addEventListener("DOMContentLoaded", () => {
  const pages = JSON.parse(document.getElementById("texts").textContent);
  const field = document.getElementById("q"), list = document.getElementById("found"), count = document.getElementById("count");
  const ORDER = ["finding", "row", "figure", "text"], KIND = {finding: "finding", row: "table", figure: "figure", text: "text"};
  const entries = pages.flatMap(([url, title, group, parts]) => parts.flatMap(([kind, anchor, heading, texts]) => texts.map(text => ({
    url: anchor ? `${url}#${anchor}` : url, title, group, kind: ORDER.indexOf(kind), heading, text,
    low: text.toLowerCase(), whole: `${text} ${heading} ${title} ${group}`.toLowerCase(),
  }))));
  let vocabulary;
  const known = () => vocabulary ??= new Set(entries.flatMap(entry => entry.whole.match(/[\p{L}]{4,}/gu) || []));
  // Whether two words differ by one letter: changed, missing, added, or swapped with its neighbour.
  const near = (one, two) => {
    if (Math.abs(one.length - two.length) > 1) return false;
    let at = 0;
    while (at < one.length && one[at] === two[at]) at++;
    const [a, b] = [one.slice(at), two.slice(at)];
    return a.slice(1) === b.slice(1) || a === b.slice(1) || a.slice(1) === b || (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2));
  };
  const meant = word => {
    const words = [word, ...(ALIKE[word] ? [ALIKE[word]] : [])];
    if (word.length < 4 || entries.some(entry => entry.whole.includes(word))) return words;
    return [...words, ...[...known()].filter(other => near(word, other)).slice(0, 5)];
  };
  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const snippet = (text, low, words) => {
    const first = Math.min(...words.map(word => low.indexOf(word)).filter(at => at >= 0), text.length);
    const start = first === text.length ? 0 : Math.max(0, first - 60), part = text.slice(start, start + 220), own = part.toLowerCase();
    const marks = words.flatMap(word => { const at = own.indexOf(word); return at < 0 ? [] : [[at, at + word.length]]; }).sort((a, b) => a[0] - b[0]);
    const pieces = [start ? "…" : ""];
    let done = 0;
    for (const [from, to] of marks) if (from >= done) { pieces.push(part.slice(done, from), element("mark", {}, part.slice(from, to))); done = to; }
    return [...pieces, part.slice(done), start + 220 < text.length ? "…" : ""];
  };
  const find = () => {
    const groups = [...new Set(field.value.toLowerCase().split(/\s+/).filter(Boolean))].map(meant), words = groups.flat();
    // A number is a word of its own: the 3 of "zone 3" is not the 3 of 3,395.
    const test = new Map(words.map(word => [word, /^\d+$/.test(word) ? new RegExp(`(?<![\\d.,])${word}(?![\\d.,]*\\d)`) : null]));
    const has = (text, word) => test.get(word) ? test.get(word).test(text) : text.includes(word);
    const headed = entry => groups.filter(group => group.some(word => has(entry.heading.toLowerCase(), word))).length;
    const own = entry => groups.filter(group => group.some(word => has(entry.low, word))).length;
    const phrase = field.value.toLowerCase().trim().replace(/\s+/g, " "), together = entry => groups.length > 1 && entry.low.includes(phrase);
    const found = groups.length ? entries.filter(entry => groups.every(group => group.some(word => has(entry.whole, word)))) : [];
    const titled = entry => groups.every(group => group.some(word => has(entry.title.toLowerCase(), word)));
    // Prose comes last, but for pages of that title. Else, a text that has the words itself comes before one whose page or heading has them; the
    // answers of the pages of that title are first, as are the questions of the first page.
    const points = entry => [
      ORDER[entry.kind] === "text" && !titled(entry) ? -1000 : 0, 10 * own(entry), entry.kind ? 0 : 8 * headed(entry), together(entry) ? 20 : 0,
      entry.url.startsWith("index.html#") && headed(entry) ? 12 : 0,
      entry.url.endsWith("#findings_answer") ? (titled(entry) ? 30 : 5) : 0, entry.url.includes("00_summary") ? 2 : 0, -entry.kind,
    ];
    const rank = new Map(found.map(entry => [entry, points(entry).reduce((sum, each) => sum + each)]));
    found.sort((a, b) => rank.get(b) - rank.get(a));
    count.textContent = groups.length && !found.length ? "No page of this collection has these words." : groups.length ? `${found.length} ${found.length === 1 ? "result" : "results"}${found.length > 60 ? ", first 60 shown" : ""}` : `${pages.length} pages`;
    list.replaceChildren(...found.slice(0, 60).map(entry => element("li", {"data-kind": KIND[ORDER[entry.kind]]},
      element("a", {href: entry.url}, entry.title + (entry.heading && entry.heading !== entry.title ? ` › ${entry.heading}` : "")),
      element("p", {class: "holds"}, `${entry.group} · ${KIND[ORDER[entry.kind]]}`), element("p", {}, ...snippet(entry.text, entry.low, words)))));
  };
  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", () => { find(); history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`); });
  find();
  field.focus();
});
