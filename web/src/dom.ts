// Makes elements in one expression. Text is always inserted as text, so a run's label may contain any
// character.

type Child = Node | string;
type Attributes = Record<string, string | number | boolean | EventListener>;

const svgSpace = 'http://www.w3.org/2000/svg';

function fill(target: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') target.addEventListener(name, value);
    else if (value === true) target.setAttribute(name, '');
    else if (value !== false) target.setAttribute(name, String(value));
  }
  target.append(...children);
}

export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(svgSpace, tag);
  fill(made, attributes, children);
  return made;
}

export function select(
  id: string, choices: { value: string; text: string }[], chosen: string,
  onChange: (value: string) => void,
): HTMLSelectElement {
  const made = html('select', { id });
  for (const choice of choices) {
    made.append(html('option', { value: choice.value, selected: choice.value === chosen }, choice.text));
  }
  made.addEventListener('change', () => onChange(made.value));
  return made;
}
