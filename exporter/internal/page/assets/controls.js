const pauseButton = byID("pause");
pauseButton.addEventListener("click", () => {
  const pausing = pauseButton.getAttribute("aria-pressed") !== "true";
  mark(pauseButton, "aria-pressed", pausing);
  put(pauseButton.lastChild, pausing ? "Resume" : "Pause");
  setPaused(pausing);
});

// The storage may be forbidden; the choice then lasts as long as the page.
const themes = {auto: "Auto", light: "Light", dark: "Dark"}, themeButton = byID("theme");
function setTheme(theme) {
  if (!Object.hasOwn(themes, theme)) theme = "auto";
  mark(root, "data-theme", theme);
  put(themeButton.lastChild, themes[theme]);
  mark(themeButton, "aria-label", "Theme: " + themes[theme]);
  try { localStorage.setItem("lockscope-theme", theme); } catch { /* see above */ }
}
let saved = "auto";
try { saved = localStorage.getItem("lockscope-theme") ?? "auto"; } catch { /* see above */ }
setTheme(saved);
themeButton.addEventListener("click", () => {
  const names = Object.keys(themes);
  setTheme(names[(names.indexOf(root.dataset.theme) + 1) % names.length]);
});

filter.addEventListener("input", () => { view.write(); render(); });
addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target === filter) {
    if (e.key !== "Escape") return;
    if (filter.value === "") filter.blur();
    filter.value = "";
    view.write();
    render();
  } else if (e.key === "/") {
    filter.focus();
    filter.select();
  } else if (e.key === "p" || e.key === " " && e.target === document.body) {
    pauseButton.click();
  } else return;
  e.preventDefault();
});
