/**
 * The document, as a library sees it that makes style elements. The page's policy allows none; a style sheet that a
 * script constructs is not one, so each such element's text becomes one.
 */
export function constructedStyles(real: Document): Document {
  return new Proxy(real, {
    get(target, key) {
      if (key === "createElement")
        return (tag: string) => (tag === "style" ? styleElement(real) : real.createElement(tag));
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** An empty element that holds a place, and whose text is a sheet of the document. */
function styleElement(real: Document): HTMLElement {
  const sheet = new CSSStyleSheet();
  real.adoptedStyleSheets.push(sheet);
  const element = real.createElement("span");
  element.hidden = true;
  const remove = element.remove.bind(element);
  element.remove = () => {
    real.adoptedStyleSheets = real.adoptedStyleSheets.filter((each) => each !== sheet);
    remove();
  };
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  return element;
}
