// Rules of accessibility that a page must keep, as axe-core has them; returns what breaks one.
(() => {
  const broken = [];
  const say = (what, node) => broken.push(`${what}: <${node.tagName.toLowerCase()} id="${node.id}" class="${node.getAttribute("class") || ""}"> ${(node.textContent || "").slice(0, 40)}`);
  const shown = (node) => node.getClientRects().length > 0 && getComputedStyle(node).visibility !== "hidden";
  const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
  const name = (node) => node.getAttribute("aria-label") || (node.labels && [...node.labels].map((l) => l.textContent).join(" ").trim()) ||
    (node.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id)?.textContent || "").join(" ").trim() || node.textContent.trim() || node.title || "";
  if (!document.documentElement.lang) broken.push("the page has no language");
  if (!document.title) broken.push("the page has no title");
  if (document.querySelectorAll("main").length !== 1) broken.push("the page has not one main part");
  if (all("h1").length !== 1) broken.push("the page has not one first heading");
  const ids = new Set();
  for (const node of document.querySelectorAll("[id]")) { if (ids.has(node.id)) say("an id twice", node); ids.add(node.id); }
  for (const node of all("button, a[href], input, select, [role=button], [role=tab]")) if (!name(node)) say("no name", node);
  for (const node of all("input, select")) if (!node.getAttribute("aria-label") && !(node.labels && node.labels.length)) say("no label", node);
  for (const node of all("canvas, [role=img], [role=application]")) if (!(node.getAttribute("aria-label") || "").trim()) say("a picture without words", node);
  for (const node of all("[aria-labelledby], [aria-controls]")) for (const id of `${node.getAttribute("aria-labelledby") || ""} ${node.getAttribute("aria-controls") || ""}`.split(/\s+/).filter(Boolean)) if (!document.getElementById(id)) say("names what is not there: " + id, node);
  for (const node of all("table")) if (node.querySelector("thead") && [...node.querySelectorAll("thead th")].some((th) => th.scope !== "col")) say("a head without scope", node);
  for (const node of all("pre, .wide, .tree")) if ((node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1) && node.tabIndex < 0) say("scrolls, but not by keys", node);
  for (const node of all("[tabindex]")) if (node.tabIndex > 0) say("takes the order of keys into its hands", node);
  let last = 1;
  for (const node of all("h1, h2, h3, h4")) { const level = Number(node.tagName[1]); if (level > last + 1) say("a heading is left out", node); last = level; }
  for (const node of all("[role=tab]")) if (!node.closest("[role=tablist]")) say("a tab without a list", node);
  // Contrast of text, 4.5 to 1 (WCAG 2.1, 1.4.3).
  const rgb = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (node) => { for (let at = node; at; at = at.parentElement) { const c = rgb(getComputedStyle(at).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  for (const node of all("body *")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()) || node.closest("svg, .hidden, .tip, option, noscript, script, style") || node.disabled) continue;
    const a = light(rgb(getComputedStyle(node).color)), b = light(ground(node));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) say(`contrast ${ratio.toFixed(2)}`, node);
  }
  return broken;
})()
