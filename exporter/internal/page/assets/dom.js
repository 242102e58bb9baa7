// Text from other people reaches the document through textContent and attributes
// only, never as markup.

const byID = id => document.getElementById(id);
const filter = byID("filter");

function el(tag, className, ...content) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  e.append(...content);
  return e;
}

function svg(tag, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) e.setAttribute(name, attributes[name]);
  if (text !== undefined) e.textContent = text;
  return e;
}

// put does not touch text that is already right, so that a selection in it survives.
function put(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

function mark(e, attribute, value) {
  if (value == null) e.removeAttribute(attribute);
  else if (e.getAttribute(attribute) !== String(value)) e.setAttribute(attribute, value);
}

function style(e, className) {
  if (e.className !== className) e.className = className;
}

function show(e, visible) {
  if (e.hidden === visible) e.hidden = !visible;
}

// part returns the child of that class; it makes one at the end where there is none. The space
// before it keeps words apart for who copies them, or has them read out.
function part(parent, tag, className) {
  for (const child of parent.children) if (child.dataset.part === className) return child;
  const child = el(tag, className);
  child.dataset.part = className;
  if (parent.firstChild) parent.append(" ");
  parent.append(child);
  return child;
}

// sync makes the children of parent those of items, in that order. A child stays
// the same element as long as its key is there, so that focus, selection and
// what is expanded stay as they are.
function sync(parent, items, keyOf, make, update) {
  const old = parent.keyed ?? new Map();
  const next = new Map();
  for (const item of items) {
    let key = keyOf(item);
    while (next.has(key)) key += "\0";
    const child = old.get(key) ?? make(item);
    old.delete(key);
    next.set(key, child);
    update(child, item, key);
  }
  for (const child of old.values()) child.remove();
  let at = parent.firstChild;
  for (const child of next.values()) {
    if (child === at) at = at.nextSibling;
    else place(parent, child, at);
  }
  parent.keyed = next;
}

// place moves child without taking the focus from it.
function place(parent, child, before) {
  if (parent.moveBefore && child.parentNode === parent) return parent.moveBefore(child, before);
  const focused = document.activeElement;
  parent.insertBefore(child, before);
  if (focused !== document.activeElement && child.contains(focused)) focused.focus({preventScroll: true});
}
