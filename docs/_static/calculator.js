/* Scores two runs while all orders of tied items are equally likely; everything stays in this page. */
"use strict";

const rankedResults = (() => {
  const COLUMNS = {
    query: /^(query|qid|query_id|topic)$/i,
    item: /^(item|doc|docno|docid|doc_id|document|passage)$/i,
    value: /^(score|distance|relevance|rel|grade|label)$/i,
  };

  /** Map query → Map item → number, from TREC lines, two or three columns, a table with a heading, or JSON. */
  function read(text, what) {
    if (text.trim().startsWith("{")) return readDictionary(text, what);
    const table = new Map();
    let columns = null;
    let falling = true; // larger is nearer
    text.split(/\r?\n/).forEach((line, number) => {
      const fields = line.trim().split(/[,\t;]/.test(line) ? /\s*[,\t;]\s*/ : /\s+/);
      if (fields.length === 1 && fields[0] === "") return;
      const place = `${what}, line ${number + 1}`;
      if (columns === null) {
        columns = heading(fields);
        if (columns !== null) {
          falling = !/^distance$/i.test(fields[columns.value]);
          return;
        }
        columns = { 2: [-1, 0, 1], 3: [0, 1, 2], 4: [0, 2, 3], 6: [0, 2, 4] }[fields.length];
        if (columns === undefined) {
          throw new Error(`${place}: ${fields.length} columns; 2, 3, 4 (judgements) or 6 (a TREC run) can be read`);
        }
        columns = { query: columns[0], item: columns[1], value: columns[2], width: fields.length };
      }
      if (fields.length !== columns.width) {
        throw new Error(`${place}: ${fields.length} columns, where the lines before have ${columns.width}`);
      }
      put(table, columns.query < 0 ? "1" : fields[columns.query], fields[columns.item], fields[columns.value], place);
    });
    return { table, falling };
  }

  function heading(fields) {
    const found = { width: fields.length };
    for (const [name, pattern] of Object.entries(COLUMNS)) found[name] = fields.findIndex((field) => pattern.test(field));
    return found.item < 0 || found.value < 0 ? null : found;
  }

  function readDictionary(text, what) {
    const table = new Map();
    for (const [query, items] of Object.entries(JSON.parse(text))) {
      for (const [item, value] of Object.entries(items)) put(table, query, item, value, `${what}, query ${query}`);
    }
    return { table, falling: true };
  }

  function put(table, query, item, given, place) {
    const value = given === "" || given === null ? NaN : Number(given);
    if (!Number.isFinite(value)) throw new Error(`${place}: “${given}” is not a number`);
    if (!table.has(query)) table.set(query, new Map());
    if (table.get(query).has(item)) throw new Error(`${place}: item ${item} is there twice for query ${query}`);
    table.get(query).set(item, value);
  }

  const MEASURES = {
    ndcg: { title: "nDCG", weight: (rank) => 1 / Math.log2(1 + rank), gain: (grade) => grade },
    precision: { title: "precision", weight: () => 1, gain: (grade) => Number(grade > 0) },
    recall: { title: "recall", weight: () => 1, gain: (grade) => Number(grade > 0) },
  };

  /** The items of one list, nearest first; equal scores by item, the last name first, as trec_eval does. */
  function ranked(items, judged, falling) {
    const rows = [...items].map(([item, score]) => ({ item, score, grade: Math.max(judged.get(item) ?? 0, 0) }));
    const sign = falling ? 1 : -1;
    rows.sort((a, b) => sign * (b.score - a.score) || (a.item < b.item ? 1 : a.item > b.item ? -1 : 0));
    return rows;
  }

  function divisor(name, measure, grades, k) {
    if (name === "precision") return k;
    const relevant = grades.filter((grade) => grade > 0).sort((a, b) => b - a);
    if (name === "recall") return relevant.length;
    return relevant.slice(0, k).reduce((sum, grade, index) => sum + measure.gain(grade) * measure.weight(index + 1), 0);
  }

  /** Printed, exact, lowest and highest value of one list, and the variance of its random tie order. */
  function scoreList(name, rows, grades, k) {
    const measure = MEASURES[name];
    const by = divisor(name, measure, grades, k);
    const sums = { printed: 0, exact: 0, lowest: 0, highest: 0, variance: 0, cut: false };
    for (let begin = 0; begin < rows.length && begin < k; ) {
      let end = begin + 1;
      while (end < rows.length && rows[end].score === rows[begin].score) end += 1;
      const gains = rows.slice(begin, end).map((row) => measure.gain(row.grade));
      const weights = [];
      for (let rank = begin + 1; rank <= Math.min(end, k); rank += 1) weights.push(measure.weight(rank));
      const sorted = [...gains].sort((a, b) => a - b);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
      weights.forEach((weight, index) => {
        sums.printed += weight * gains[index];
        sums.lowest += weight * sorted[index];
        sums.highest += weight * sorted[sorted.length - 1 - index];
      });
      sums.exact += total * mean;
      if (gains.length > 1) {
        const spread = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0) / (gains.length - 1);
        const squares = weights.reduce((sum, weight) => sum + weight * weight, 0);
        sums.variance += spread * (squares - (total * total) / gains.length);
      }
      sums.cut = end === rows.length && end > begin + 1 && k > begin;
      begin = end;
    }
    for (const kind of ["printed", "exact", "lowest", "highest"]) sums[kind] = by ? sums[kind] / by : 0;
    sums.variance = by ? sums.variance / by ** 2 : 0;
    return sums;
  }

  /** Means over the judged queries, by measure. */
  function scoreRun(run, judgements, k) {
    const queries = [...judgements.table.keys()];
    const result = { tied: 0, cut: 0, missing: 0, queries: queries.length, measures: {} };
    const lists = queries.map((query) => {
      const judged = judgements.table.get(query);
      const items = run.table.get(query);
      if (items === undefined) result.missing += 1;
      return { rows: ranked(items ?? [], judged, run.falling), grades: [...judged.values()].map((grade) => Math.max(grade, 0)) };
    });
    for (const name of Object.keys(MEASURES)) {
      const found = lists.map((list) => scoreList(name, list.rows, list.grades, k));
      const mean = (kind) => found.reduce((sum, one) => sum + one[kind], 0) / found.length;
      result.measures[name] = {
        printed: mean("printed"),
        exact: mean("exact"),
        lowest: mean("lowest"),
        highest: mean("highest"),
        std: Math.sqrt(Math.max(mean("variance") / found.length, 0)),
      };
      if (name === "ndcg") {
        result.tied = found.filter((one) => one.highest > one.lowest).length;
        result.cut = found.filter((one) => one.cut).length;
      }
    }
    return result;
  }

  const shown = (value) => value.toFixed(4);

  /** What the numbers of one measure say about two runs, in sentences. */
  function verdict(title, names, a, b) {
    const leader = (kind) => (a[kind] === b[kind] ? -1 : Number(a[kind] < b[kind]));
    const lead = (kind) => {
      const first = leader(kind);
      if (first < 0) return `both have ${shown(a[kind])}`;
      const [high, low] = first ? [b, a] : [a, b];
      return `${names[first]} leads, ${shown(high[kind])} to ${shown(low[kind])}`;
    };
    const low = a.lowest - b.highest;
    const high = a.highest - b.lowest;
    const turns = low < 0 && high > 0;
    const same = leader("printed") === leader("exact");
    const sentences = same
      ? [`${title}: ${lead("exact")}, averaged over all orders of ties; as printed, ${shown(a.printed)} and ${shown(b.printed)}.`]
      : [`${title}: printed, ${lead("printed")}; averaged over all orders of ties, ${lead("exact")}.`];
    sentences.push(
      turns
        ? "Tie order alone can make either of them win."
        : low === high
          ? "Ties change nothing here."
          : "No order of ties makes the other one win.",
    );
    return { text: sentences.join(" "), turns, accident: !same };
  }

  return { read, scoreRun, verdict, MEASURES, shown };
})();

function startCalculator(root) {
  const field = (name) => root.querySelector(`[data-field="${name}"]`);
  const KINDS = ["printed", "exact", "lowest", "highest"];
  const MOST_SHOWN = 100_000; // characters of a file that a box shows
  const held = new Map(); // whole files of which a box shows the beginning

  function element(tag, text) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const boxes = ["a", "b", "judgements"];
  const content = (box) => held.get(box) ?? field(box).value;

  function show() {
    const [verdict, table, notes] = ["verdict", "table", "notes"].map(field);
    for (const part of [verdict, table, notes]) part.replaceChildren();
    try {
      const k = Number(field("k").value);
      if (!Number.isInteger(k) || k < 1) throw new Error("k: a whole number from 1 on is needed");
      const judgements = rankedResults.read(content("judgements"), "judgements");
      if (!judgements.table.size) throw new Error("judgements: there are none");
      const names = ["a", "b"].map((box) => field(`name-${box}`).value.trim() || box.toUpperCase());
      const runs = ["a", "b"].map((box, index) => {
        const run = rankedResults.read(content(box), names[index]);
        if (!run.table.size) throw new Error(`${names[index]}: the run is empty`);
        if (field("smaller").checked) run.falling = false;
        return rankedResults.scoreRun(run, judgements, k);
      });
      draw(k, names, runs, table);
      const said = rankedResults.verdict(`nDCG@${k}`, names, runs[0].measures.ndcg, runs[1].measures.ndcg);
      verdict.className = said.turns || said.accident ? "warning" : "";
      verdict.append(said.text);
      runs.forEach((run, index) => {
        const parts = [`${names[index]}: ${run.tied} of ${run.queries} queries depend on tie order by nDCG@${k}`];
        if (run.missing) parts.push(`${run.missing} have no list and count 0`);
        if (run.cut) parts.push(`in ${run.cut} the last tie of the list counts; if lists were cut there, what they left out is unknown`);
        notes.append(element("li", `${parts.join("; ")}.`));
      });
    } catch (error) {
      verdict.className = "warning";
      verdict.append(error instanceof SyntaxError ? `JSON: ${error.message}` : error.message);
    }
  }

  function draw(k, names, runs, table) {
    const head = element("tr");
    for (const text of ["measure", "run", ...KINDS, "from lowest to highest"]) head.append(element("th", text));
    table.append(head);
    for (const [name, { title }] of Object.entries(rankedResults.MEASURES)) {
      runs.forEach((run, index) => {
        const values = run.measures[name];
        const row = element("tr");
        row.append(element("td", index ? "" : `${title}@${k}`), element("td", names[index]));
        for (const kind of KINDS) {
          const cell = element("td", rankedResults.shown(values[kind]));
          cell.dataset.value = `${name} ${index} ${kind} ${values[kind]}`;
          if (kind === "exact" && values.std > 0) cell.append(` ± ${rankedResults.shown(values.std)}`);
          row.append(cell);
        }
        row.append(bar(values));
        table.append(row);
      });
    }
  }

  /** A line from the lowest to the highest value, with a bar at the exact and a dot at the printed one. */
  function bar(values) {
    const cell = element("td");
    const range = element("span");
    range.className = "range";
    range.title = `printed ${rankedResults.shown(values.printed)} (dot), exact ${rankedResults.shown(values.exact)} (bar)`;
    const at = (share) => `${Math.min(Math.max(share, 0), 1) * 100}%`;
    for (const kind of ["line", "exact", "printed"]) {
      const mark = element("i");
      mark.className = kind;
      mark.style.left = at(kind === "line" ? values.lowest : values[kind]);
      if (kind === "line") mark.style.width = at(values.highest - values.lowest);
      range.append(mark);
    }
    cell.append(range);
    return cell;
  }

  async function take(box, file) {
    const text = await file.text();
    const lines = text.split("\n").length;
    held.delete(box);
    if (text.length > MOST_SHOWN) {
      held.set(box, text);
      field(box).value = `${text.slice(0, 2000)}\n… ${lines} lines of ${file.name}`;
    } else field(box).value = text;
    if (box !== "judgements") field(`name-${box}`).value = file.name.replace(/\.(txt|run|csv|tsv|json)$/i, "");
    show();
  }

  let waiting = 0;
  for (const box of boxes) {
    field(box).addEventListener("input", () => held.delete(box));
    field(box).addEventListener("dragover", (event) => event.preventDefault());
    field(box).addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      take(box, event.dataTransfer.files[0]);
    });
    field(`file-${box}`).addEventListener("change", (event) => {
      if (event.target.files.length) take(box, event.target.files[0]);
    });
  }
  root.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 150);
  });
  show();
}

for (const root of document.querySelectorAll(".calculator")) startCalculator(root);
