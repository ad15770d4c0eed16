/**
 * Lets a library make what it makes with style elements, of which the page's policy allows none: each such element's
 * text becomes a style sheet that a script constructs, which is allowed. Only what is made before `make` returns.
 */
export function withConstructedStyles(make: () => void): void {
  const createElement = Document.prototype.createElement.bind(document);
  document.createElement = ((tag: string) =>
    tag === "style" ? styleElement(createElement("span")) : createElement(tag)) as typeof document.createElement;
  try {
    make();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}

/** Makes an element whose text is a style sheet of the document, for as long as it is in the page. */
function styleElement(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const remove = element.remove.bind(element);
  element.hidden = true;
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    remove();
  };
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  return element;
}
