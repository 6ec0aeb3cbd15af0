// A form that was sent is not sent again by a second click. Forms of islands see to that themselves.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if ("sent" in form.dataset) event.preventDefault();
  else form.dataset.sent = "";
});
// A page that the browser kept comes back as it was left.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
