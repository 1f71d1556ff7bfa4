// Expands the templates of the WebGPU kernels, by the same rules as attention/timing/webgpu/template.py, which states them.

const DIRECTIVE = /^\s*\/\/(for|if|else|end)\b\s*(\S*)\s*(\S*)/;

/** @typedef {Record<string, number | string>} Values */

/**
 * Returns the text of a template with the files that it uses.
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function source(name) {
  const answer = await fetch(new URL(`./${name}.wgsl`, import.meta.url));
  if (!answer.ok) throw new Error(`${answer.url} is not served: ${answer.status}.`);
  const lines = (await answer.text()).trimEnd().split("\n");
  const parts = lines.map((line) => {
    const used = /^\/\/use (\w+)$/.exec(line);
    return used ? source(used[1]) : line;
  });
  return (await Promise.all(parts)).join("\n");
}

/**
 * Returns the kernel of a template (see `source`) for these values.
 * @param {string} text
 * @param {Values} values
 */
export function expand(text, values) {
  return `${expandLines(text.split("\n"), values).join("\n")}\n`;
}

/**
 * @param {string[]} lines
 * @param {Values} values
 * @returns {string[]}
 */
function expandLines(lines, values) {
  const found = [];
  for (let at = 0; at < lines.length; at++) {
    const directive = DIRECTIVE.exec(lines[at]);
    if (!directive) {
      found.push(substitute(lines[at], values));
      continue;
    }
    const [, kind, name, count] = directive, { other, end } = block(lines, at);
    if (kind === "for") {
      const total = /^\d+$/.test(count) ? +count : +value(values, count);
      for (let i = 0; i < total; i++) found.push(...expandLines(lines.slice(at + 1, end), { ...values, [name]: i }));
    } else {
      found.push(...expandLines(value(values, name) ? lines.slice(at + 1, other) : lines.slice(other + 1, end), values));
    }
    at = end;
  }
  return found;
}

/**
 * @param {Values} values
 * @param {string} name
 */
function value(values, name) {
  if (name in values) return values[name];
  throw new Error(`The template has no value ${name}.`);
}

/**
 * Replaces `${NAME}`, the innermost first, so that a name can contain the values of loops.
 * @param {string} line
 * @param {Values} values
 */
function substitute(line, values) {
  let text = line;
  while (text.includes("${")) text = text.replace(/\$\{(\w+)\}/g, (_, name) => `${value(values, name)}`);
  return text;
}

/**
 * The lines of the `//else` (or else of the end) and of the `//end` of the block that begins at `start`.
 * @param {string[]} lines
 * @param {number} start
 */
function block(lines, start) {
  let depth = 0, other = -1;
  for (let at = start; at < lines.length; at++) {
    const kind = DIRECTIVE.exec(lines[at])?.[1];
    if (kind === "for" || kind === "if") depth++;
    if (kind === "end") depth--;
    if (kind === "else" && depth === 1) other = at;
    if (!depth) return { other: other < 0 ? at : other, end: at };
  }
  throw new Error(`Line ${start + 1} of the template has no //end.`);
}
