(() => {
  "use strict";
  const root = document.documentElement;

  // Dark and light: the system's choice until the reader makes another.
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = dark() ? "Light mode" : "Dark mode"; };
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; label(); });
  system.addEventListener("change", label);
  label();

  // Tables: sort by a column's values (numbers as numbers, nothing last), filter by words and by measure.
  const order = new Intl.Collator("en", { numeric: true });
  const key = (cell) => cell.dataset.sort ?? cell.textContent.trim();

  const compare = (first, second, numeric, direction) => {
    const missing = (value) => value === "" || value === "–";
    if (missing(first) || missing(second)) return missing(first) - missing(second);
    return direction * (numeric ? Number(first) - Number(second) : order.compare(first, second));
  };

  const sortable = (table) => {
    const body = table.tBodies[0];
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, column) => {
      const control = document.createElement("button");
      control.type = "button";
      control.append(...header.childNodes);
      header.append(control);
      const numeric = header.classList.contains("n");
      control.addEventListener("click", () => {
        const before = header.getAttribute("aria-sort");
        // Numbers start with the largest, names with A.
        const after = before ? (before === "ascending" ? "descending" : "ascending") : numeric ? "descending" : "ascending";
        headers.forEach((other) => other.removeAttribute("aria-sort"));
        header.setAttribute("aria-sort", after);
        const direction = after === "ascending" ? 1 : -1;
        const rows = [...body.rows].map((row) => [key(row.cells[column]), row]);
        rows.sort((a, b) => compare(a[0], b[0], numeric, direction));
        body.append(...rows.map(([, row]) => row));
      });
    });
  };

  const filterable = (part) => {
    const words = part.querySelector(".filter");
    const measure = part.querySelector(".measure");
    const count = part.querySelector(".count");
    const rows = [...part.querySelectorAll("tbody tr")];
    const texts = new Map(rows.map((row) => [row, [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase()]));
    const apply = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const fits = (!measure || !measure.value || row.dataset.measure === measure.value)
          && wanted.every((word) => texts.get(row).includes(word));
        row.hidden = !fits;
        shown += fits;
      }
      // One measure needs no column to tell it.
      part.classList.toggle("one-measure", Boolean(measure && measure.value));
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    words.addEventListener("input", apply);
    if (measure) measure.addEventListener("change", apply);
    part.querySelector(".tools").hidden = rows.length < 20 && !part.querySelector(".measure");
    apply();
  };

  for (const part of document.querySelectorAll(".table:has(table)")) {
    sortable(part.querySelector("table"));
    filterable(part);
  }

  // Charts: specifications are data; expressions are interpreted, never evaluated as code.
  const draw = async (script) => {
    const target = place(script);
    script.dataset.begun = "yes";
    try {
      await window.embedChart(target, JSON.parse(script.textContent), {
        ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true },
      });
      target.dataset.drawn = "yes";
    } catch (error) {
      target.textContent = `This chart could not be drawn: ${error.message}`;
      target.classList.add("failed");
      console.error(error);
    }
  };
  const place = (script) => document.getElementById(script.dataset.target);
  const waiting = () => [...document.querySelectorAll(".specification:not([data-begun])")];
  for (const script of waiting()) if (script.dataset.most) place(script).style.maxWidth = `${script.dataset.most}px`;
  const drawOpen = () => {
    for (const script of waiting()) if (!script.closest("details:not([open])")) draw(script);
  };

  // Paper waits for nothing: what is folded is drawn when nothing else is to be done, and fitted when the window
  // changes, while the style gives it its width and no height.
  const laidOut = (on) => root.classList.toggle("laid-out", on);
  const drawFolded = async () => {
    for (const script of waiting()) {
      await new Promise((rest) => (window.requestIdleCallback ?? setTimeout)(rest));
      laidOut(true);
      if (!script.dataset.begun && place(script).clientWidth) await draw(script);
    }
    laidOut(false);
  };
  let settled;
  addEventListener("resize", () => {  // before Vega, which measures when it hears of it
    laidOut(true);
    clearTimeout(settled);
    settled = setTimeout(laidOut, 500, false);
  });

  // A link opens what it leads to, and paper has everything.
  const follow = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const part = target && (target.querySelector("details.question") || target.closest("details.question"));
    if (!part) return;
    part.open = true;
    target.scrollIntoView();
  };
  for (const part of document.querySelectorAll("details")) part.addEventListener("toggle", drawOpen);
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details.question, #verdict details.note")) part.open = true;
    drawOpen();
  });
  follow();
  drawOpen();
  drawFolded();
})();
