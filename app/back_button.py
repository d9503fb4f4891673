"""Let the browser's Back button return to the last setting.

Streamlit replaces the address where a control changes it, so that Back would leave the dashboard.
Here the first change of the address after a click or a key becomes a step in the browser's history;
what Streamlit adds to that change, and what Back itself restores, become none.
"""

import streamlit as st

SCRIPT = """<script>
(() => {
  const history = window.history;
  if (history.stepsBySetting) return;
  history.stepsBySetting = true;
  const replace = history.replaceState.bind(history), push = history.pushState.bind(history);
  let touched = false;
  for (const event of ["pointerdown", "keydown"])
    window.addEventListener(event, () => { touched = true; }, true);
  window.addEventListener("popstate", () => { touched = false; }, true);
  const write = (original) => (state, title, address) => {
    const next = new URL(address ?? location.href, location.href);
    const changed = next.pathname === location.pathname && next.search !== location.search;
    (changed ? (touched ? push : replace) : original)(state, title, address);
    if (changed || original === push) touched = false;
  };
  history.pushState = write(push);
  history.replaceState = write(replace);
})();
</script>"""


def step_by_setting() -> None:
    """Add the script to the page, where it runs once."""
    with st.sidebar:
        st.html(SCRIPT, unsafe_allow_javascript=True)
