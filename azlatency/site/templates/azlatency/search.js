"use strict";
// Search over all pages. The texts are part of this page, so that it works from a folder and offline.
document.addEventListener("DOMContentLoaded", () => {
  const pages = JSON.parse(document.getElementById("texts").textContent);
  const field = document.getElementById("q"), list = document.getElementById("found"), count = document.getElementById("count");
  const sections = pages.flatMap(([url, title, group, parts]) => parts.map(([anchor, heading, text]) => ({
    url: anchor ? `${url}#${anchor}` : url, title, group, heading, text,
    low: text.toLowerCase(), head: `${heading} ${title}`.toLowerCase(), whole: `${group} ${title} ${heading} ${text}`.toLowerCase(),
  })));
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
    const words = [...new Set(field.value.toLowerCase().split(/\s+/).filter(Boolean))];
    const score = section => words.reduce((sum, word) => sum + 5 * section.head.includes(word) + Math.min(section.low.split(word).length - 1, 5), 0);
    const found = words.length ? sections.filter(section => words.every(word => section.whole.includes(word))) : [];
    found.sort((a, b) => score(b) - score(a));
    count.textContent = words.length ? `${found.length} ${found.length === 1 ? "result" : "results"}${found.length > 60 ? ", first 60 shown" : ""}` : `${pages.length} pages`;
    list.replaceChildren(...found.slice(0, 60).map(section => element("li", {},
      element("a", {href: section.url}, section.title + (section.heading && section.heading !== section.title ? ` › ${section.heading}` : "")),
      element("p", {class: "holds"}, section.group), element("p", {}, ...snippet(section.text, section.low, words)))));
  };
  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", () => { find(); history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`); });
  find();
  field.focus();
});
