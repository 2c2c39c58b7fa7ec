// Conveniences only: the page says everything without them.
"use strict";
function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done ? Promise.resolve() : Promise.reject(new Error("copying is not allowed here"));
}
function label(button, text) {
  button.textContent = text;
  setTimeout(() => { button.textContent = "copy"; }, 1500);
}
const folds = () => document.querySelectorAll("details");
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.classList.contains("copy")) {
    copyText(button.previousElementSibling.textContent).then(() => label(button, "copied"), () => label(button, "select it"));
  } else if (button.dataset.details) {
    for (const fold of folds()) fold.open = button.dataset.details === "open";
  }
});
window.addEventListener("beforeprint", () => { for (const fold of folds()) fold.open = true; });
