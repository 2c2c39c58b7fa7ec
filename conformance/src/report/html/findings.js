// The list of findings: makes elements of those that come into view, of thousands that the page holds compressed.
(() => {
  const AT_ONCE = 40;
  const list = document.getElementById("finding-list");
  const packed = document.getElementById("finding-data");
  const tools = document.getElementById("finding-tools");
  if (!list || !packed || !tools) return;
  if (!window.DecompressionStream || !window.IntersectionObserver) {
    const further = document.getElementById("further");
    if (further) further.textContent = further.textContent.replace("JavaScript", "a newer browser");
    return;
  }
  const filter = document.getElementById("filter");
  const said = document.getElementById("matching");
  const unfilter = document.getElementById("unfilter");
  const buttons = [...document.querySelectorAll("button[data-facet]")];
  const facets = Math.max(0, ...buttons.map((button) => Number(button.dataset.facet))) + 1;
  const end = document.createElement("div");
  // The top quarter of the window does not count: there the list ends for somebody who has jumped to the heading behind it, which would be
  // pushed away by what is put in.
  const nearing = new IntersectionObserver((seen) => { if (seen.some((entry) => entry.isIntersecting)) more(); },
    { rootMargin: "-25% 0px 1200px 0px" });
  let items = [], matching = [], shown = 0;
  let chosen = Array(facets).fill(null);

  async function unpacked() {
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return (await new Response(stream).text()).split("\n");
  }
  function item(line) {
    const fields = line.split("\t");
    return { values: fields.slice(0, facets), element: fields[facets], words: null };
  }
  // As a reader sees it: without tags, and with the letters that they stand for.
  function words(item) {
    item.words ??= item.element.replace(/<[^>]*>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">")
      .replace(/&quot;/g, '"').replace(/&amp;/g, "&").toLowerCase();
    return item.words;
  }
  function more() {
    const next = matching.slice(shown, shown + AT_ONCE);
    end.insertAdjacentHTML("beforebegin", next.map((item) => item.element).join(""));
    shown += next.length;
    end.hidden = shown === matching.length;
    // An observer tells once that something has come into view: what is still there must be observed anew.
    nearing.unobserve(end);
    if (!end.hidden) nearing.observe(end);
  }
  function number(value) { return value.toLocaleString("en-US"); }
  // Each button counts what choosing it would leave, whatever else is chosen.
  function count(wanted) {
    const counts = chosen.map(() => new Map());
    for (const item of items) {
      const missed = item.values.map((value, facet) => chosen[facet] !== null && chosen[facet] !== value);
      const misses = missed.filter(Boolean).length;
      if (misses > 1 || !wanted(item)) continue;
      item.values.forEach((value, facet) => {
        if (misses === 0 || missed[facet]) counts[facet].set(value, (counts[facet].get(value) ?? 0) + 1);
      });
    }
    for (const button of buttons) {
      const { facet, value } = button.dataset;
      button.setAttribute("aria-pressed", String(chosen[facet] === value));
      button.querySelector("b").textContent = number(counts[facet].get(value) ?? 0);
    }
  }
  function show() {
    const asked = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = (item) => asked.every((word) => words(item).includes(word));
    matching = items.filter((item) => item.values.every((value, facet) => (chosen[facet] ?? value) === value) && wanted(item));
    count(wanted);
    said.textContent = `${number(matching.length)} of ${number(items.length)} match`;
    unfilter.hidden = asked.length === 0 && chosen.every((value) => value === null);
    shown = 0;
    list.replaceChildren(end);
    more();
  }
  function all() {
    chosen = chosen.map(() => null);
    filter.value = "";
    show();
  }
  // A link to a finding finds it, wherever it stands; one to a heading, where it stands once the list is there.
  function jump() {
    const name = location.hash.slice(1);
    if (!name.startsWith("f-")) return document.getElementById(name)?.scrollIntoView();
    const found = items.find((item) => item.element.includes(` id="${name}"`));
    if (!found) return;
    if (!document.getElementById(name)) {
      all();
      matching = [found, ...matching.filter((item) => item !== found)];
      shown = 0;
      list.replaceChildren(end);
      more();
    }
    document.getElementById(name).scrollIntoView();
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-facet]");
    if (!button) return;
    const { facet, value } = button.dataset;
    chosen[facet] = chosen[facet] === value ? null : value;
    show();
    if (button.classList.contains("cause")) said.scrollIntoView({ block: "center" });
  });
  unpacked().then((lines) => {
    items = lines.map(item);
    document.getElementById("further")?.remove();
    tools.hidden = false;
    for (const button of buttons) button.disabled = false;
    filter.addEventListener("input", show);
    unfilter.addEventListener("click", all);
    window.addEventListener("hashchange", jump);
    show();
    jump();
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  });
})();
