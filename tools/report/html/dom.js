/* -- Pieces of the page ---------------------------------------------------- */

/* The element of that id. */
function byId(id) {
  return document.getElementById(id);
}

/* Set attributes, listeners (on...) and content of an element. */
function dress(e, attributes, inside) {
  for (const name of Object.keys(attributes || {})) {
    const value = attributes[name];
    if (name.startsWith("on"))
      e.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      e.setAttribute(name, value === true ? "" : value);
  }
  for (const x of inside)
    if (x !== null && x !== undefined && x !== false)
      e.append(x);
  return e;
}

/* An element of HTML. Text that is put into it is never read as HTML. */
function el(name, attributes, ...inside) {
  return dress(document.createElement(name), attributes, inside);
}

/* An element of SVG. */
function svg(name, attributes, ...inside) {
  return dress(document.createElementNS("http://www.w3.org/2000/svg", name),
    attributes, inside);
}

/* Replace the content of an element. */
function fill(e, ...inside) {
  e.textContent = "";
  return dress(e, null, inside);
}

/* The same; keeps keyboard focus on the part with the same data-name. */
function refill(e, ...inside) {
  const had = document.activeElement;
  const name = had && had !== e && e.contains(had) ? had.dataset.name : null;
  fill(e, ...inside);
  const now = name && Array.from(e.querySelectorAll("[data-name]"))
    .find(x => x.dataset.name === name);
  if (now)
    now.focus({preventScroll: true});
}

/* A name, isolated because its text may run from right to left. */
function nameEl(text, attributes) {
  return el("bdi", attributes, text);
}

/* Buttons of which one is pressed. */
function fillSwitch(id, choices, chosen, choose) {
  refill(byId(id), ...choices.map(c => el("button", {
    type: "button", "aria-pressed": String(c.value === chosen),
    title: c.hint, "data-name": c.value, onclick: () => choose(c.value)
  }, c.title)));
}
