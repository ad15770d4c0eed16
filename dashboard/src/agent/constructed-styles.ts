/**
 * Lets a library create style elements, which the page's policy forbids: the text of each becomes a constructed style
 * sheet, which is allowed. Only for elements created before `make` returns.
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
