// Forms that the browser posts by itself. Those of islands see to all of this themselves.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  // A form that was sent is not sent again by a second click.
  if ("sent" in form.dataset) return event.preventDefault();
  form.dataset.sent = "";
  const kept = [...form.querySelectorAll("[data-kept]")].map(({ id, value }) => [id, value]);
  sessionStorage.setItem("typed", JSON.stringify(kept));
});
addEventListener("pageshow", () => {
  // A page that the browser kept comes back as it was left.
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  // What was typed is there again beside the error that it was answered with.
  const typed = JSON.parse(sessionStorage.getItem("typed") ?? "[]");
  sessionStorage.removeItem("typed");
  if (!new URLSearchParams(location.search).has("__err")) return;
  for (const [id, value] of typed) {
    const field = document.getElementById(id);
    if (field && !field.value) field.value = value;
  }
});
