"""The rows of the table of bad input: what is given, and what happens."""

from __future__ import annotations

ROWS = (
    # distances
    ("NaN as a distance", "Error"),
    (
        "null as a distance",
        "Error; with `null_distance='not_retrieved'` the item is known but not retrieved",
    ),
    ("+∞ as a distance", "Error, which names FAISS's padding"),
    ("−∞ as a distance", "Error"),
    ("−0.0 beside 0.0", "Defined: one tie"),
    ("denormal numbers beside 0", "Defined: different distances"),
    ("negative distances", "Defined: only their order counts"),
    (
        "distances 1e-12 apart",
        "Defined: different; hints tell how many are near; `decimals` rounds, and never chains",
    ),
    ("Float32", "Compared as Float32, thresholds too"),
    ("Float32 and Float64 mixed in one list", "Error"),
    ("Float64", "Never narrowed"),
    ("Float16", "Accepted, with a warning of its ties"),
    (
        "signed integers, also beyond 2⁵³",
        "Compared as integers of up to 128 bits; error where a text file mixes them with fractions",
    ),
    ("unsigned integers", "Compared as they are: nothing is negated or subtracted"),
    ("Int8 −128", "As any other integer"),
    ("truth values as distances", "Error"),
    ("text as distances", "Error; nothing is cast in silence"),
    ("decimals", "Compared exactly"),
    ("dates, lists, structs, objects, categories as distances", "Error"),
    ("all items tied", "Defined: the exact expectation"),
    ("no ties", "All policies give the same bits"),
    (
        "scores where larger is nearer",
        "The column `score` says so; both columns at once are an error",
    ),
    # relevance
    ("null or NaN as relevance", "Error; `unjudged` decides for items without judgement"),
    (
        "negative relevance, or no weight at all",
        "Error, or with `negative='unjudged'` not judged; a mean without weight is null",
    ),
    (
        "fractional relevance",
        "Gains take it; binary metrics count what is above 0 or from `relevant_from` on",
    ),
    ("truth values as relevance", "1 and 0"),
    ("text as relevance", "Error"),
    ("grades whose gain is not finite", "Error for exponential gain; linear gain is defined"),
    ("relevance up to 2⁶⁴", "Defined; no table grows with the largest grade"),
    ("Int8 relevance in long lists", "Sums do not wrap"),
    (
        "a query without a relevant item",
        "0 by default, and counted; `no_relevant`: zero, skip, one or error",
    ),
    ("no relevant item in any query", "A warning; with skip the mean is null"),
    ("every item relevant", "Defined"),
    ("one item with two relevances", "Error"),
    ("grades so steep that one item decides", "A warning"),
    # keys
    ("an item twice in a list", "Error"),
    ("identical rows", "Error, which says how to drop them"),
    ("null as an id", "Error"),
    (
        "empty ids, blanks around ids and headers",
        "Ids are taken as they are, with a warning where strip() would merge",
    ),
    ("Unicode in ids", "Compared as bytes, with a warning where NFC would merge"),
    ("NUL in an id", "Accepted in frames"),
    ("half a surrogate pair", "Error"),
    (
        "whole numbers in one frame, text in the other",
        "Text spelt as a number fits it (not 007); else an error",
    ),
    ("fractions, dates, truth values as ids", "Error"),
    ("categories as ids", "Compared as text"),
    ("ids like 007 or 1e5 in text files", "Text, always"),
    (
        "a judged query that a model did not answer",
        "0 by default, and counted; `missing_query`: zero, skip or error",
    ),
    ("a query that nobody judged", "Error; `unjudged_query='skip'` leaves it out and counts it"),
    ("models with different queries", "As row 47, model by model"),
    ("models with different items", "Accepted; the number of items is shown"),
    ("a judged item that was not retrieved", "Counts in R and in the ideal"),
    (
        "a retrieved item that nobody judged",
        "With judgements not relevant by default; `unjudged` decides",
    ),
    ("models named alike but for case, or by nothing", "Accepted; an empty name is an error"),
    # shape, size, parameters
    (
        "a frame without rows",
        "A function returns a typed frame without rows; the command line gives an error",
    ),
    ("a missing column", "Error with what is there, and what was looked for"),
    ("a column name twice", "Error"),
    ("other columns", "Left out"),
    ("a query with one item", "Defined"),
    ("cutoffs 0, −1, 2.5, True, '5'", "Error; NumPy's integers are fine"),
    (
        "a cutoff beyond the list",
        "Defined: precision divides by k, or with `denominator='retrieved'` by min(k, n)",
    ),
    (
        "cutoffs repeated, unsorted or beyond 64 bits",
        "Kept in their order once; beyond 64 bits an error",
    ),
    ("an unknown metric, policy or parameter", "Error with the nearest name"),
    (
        "lists and counts of more items than 32 bits hold",
        "Defined; memory grows with the rows alone",
    ),
    ("very many short lists", "No Python loop over queries"),
    ("one long list among many short ones", "The same result"),
    ("ties of one item", "Defined"),
    ("cancellation far down a list", "Twelve digits against exact fractions"),
    (
        "rows in any order, chunks, lazy frames, streaming",
        "The same bytes; naive order by row number or id alone",
    ),
    ("any number of threads", "The same bytes"),
    ("seeds", "The same draws on every machine"),
    ("0 or too many shuffles", "Error"),
    ("frames of pandas, PyArrow, DuckDB, dictionaries", "Converted, or an error with a hint"),
    ("fork after first use", "Error at once, for Polars would hang; spawn and forkserver work"),
    # files
    ("CSV with a byte order mark", "Accepted"),
    ("UTF-16", "Error"),
    ("Latin-1", "Error with the offset"),
    ("CRLF", "Accepted"),
    ("CR alone, or inside a row", "Error with the line"),
    ("a name twice in a header", "Error"),
    ("the header again among the rows", "Error with the line"),
    ("short rows", "Error with the line"),
    ("long rows", "Error with the line"),
    ("NaN, NA, inf, nothing in a field", "Read as such; then rows 1 to 4"),
    ("a decimal comma, another separator", "Error with a hint"),
    ("types that change after 100 rows", "Nothing is inferred from the first rows"),
    (
        "an open quote; NUL bytes inside a text file; a line break inside an id",
        "Error; error; accepted where quoted",
    ),
    (
        "a text file that was cut off",
        "A warning without a last newline",
    ),
    ("Parquet or Arrow damaged or cut off", "Error; another process reads uploads first"),
    (
        "flipped bits",
        "Error where compression, structure or a checksum of Parquet pages shows it",
    ),
    ("gzip, also damaged", "Accepted; damage is an error"),
    ("an empty file, or a header alone", "Error; no rows"),
    ("a content that does not fit the name", "The content decides"),
    ("folders, pipes, devices, no permission, names that are not UTF-8", "Error"),
    (
        "bombs: gzip, zip, Parquet",
        "Refused by what they declare, or at a bound (4 GiB of gzip or .npz, counted before they are held)",
    ),
    ("very large uploads", "Refused at a bound of bytes"),
    ("names of uploads such as `../../x`", "A label; never a path"),
    ("members of archives named `../x`", "Error; archives are never unpacked"),
    # output
    (
        "a full disk while writing",
        "The old files stay, and nothing new; compiled code does without",
    ),
    (
        "SIGINT, SIGTERM, kill −9 while writing",
        "Files that belong together are old together, or new together",
    ),
    ("two writers of one report", "One whole winner"),
    ("two sessions, two uploads of one name", "Nothing is shared"),
    (
        "a folder that cannot be written",
        "Error before anything is computed; compiled code does without",
    ),
    ("text that a spreadsheet would run", "Gets an apostrophe in CSV, unless `raw`"),
    ("text that HTML would run, addresses that would become links", "Comes out as text"),
    ("text that Markdown, LaTeX or a terminal would act on", "Escaped"),
    ("names of a million characters, right to left, invisible", "Cut where they are shown"),
    ("NaN in JSON", "null"),
    ("locales", "Do not matter"),
    ("the same input again", "The same bytes"),
    ("memory that ends", "No half result"),
    (
        (
            "a run without lists for more than 5 % of the judged queries, with ids of its own, or read the "
            "wrong way round"
        ),
        (
            "“Check your data”: no rank, verdict or p of that run; exit code 2 of `leaderboard`, "
            "`compare`, `report` and `gate`"
        ),
    ),
    (
        "judgements of other items whose ids look alike; lists of the wrong queries",
        "A note before the verdict: a model that ranks at random does the same",
    ),
    (
        "lists of the most popular items; some items with ids of another form",
        "The same; a note where few lists or few items show it",
    ),
    ("judgements without a relevant item, or of no item that was retrieved", "The same"),
    ("packed bits or a dictionary as vectors", "Error, which says what to pass"),
)
