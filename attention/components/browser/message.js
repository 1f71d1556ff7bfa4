// What the server sends: one message of a header and bytes, as attention/wire/message.py frames it. The keys of each
// header stand here, for all who read them.

/**
 * @typedef {{ text: string, muted: string, line: string, masked: string, hatch: string }} Neutrals
 * @typedef {Record<"dark" | "light", Neutrals>} BothNeutrals
 * @typedef {"linear" | "log" | "times even" | "own maximum"} Scale
 * @typedef {{ head: number, query: number }} Focus
 */

/**
 * How the codes of cells lie in the bytes: `rows` by `columns` a head, each of `tile` by `tile` of the `queries` and
 * `keys`.
 * @typedef {object} Shape
 * @property {number} heads
 * @property {number} rows
 * @property {number} columns
 * @property {number} tile
 * @property {number} queries
 * @property {number} keys
 * @property {boolean} places  do they say where in its tile the greatest weight stands?
 * @property {number} shift
 * @property {number} bits
 * @property {[number, number]} sights  lines of keys in sight, one for all heads or one each; numbers of a line
 * @property {number[]} most  the greatest code of each head, where its own maximum is
 */

/**
 * What is said of weights, whether of all heads or of one.
 * @typedef {object} Weights
 * @property {string} painted  the link of what is drawn
 * @property {number} height
 * @property {string} note
 * @property {Scale} colors
 * @property {"max" | "mean"} pool  what a cell has of its tile
 * @property {string} why  nobody has chosen this scale: why it is in force
 * @property {Focus} focus
 * @property {number} group  heads that share keys and values
 * @property {number} floor  the least weight of the logarithmic scale
 * @property {number} times  the even share at the end of its scale
 * @property {string[]} stops
 * @property {{ query: string, key: string }} accents
 * @property {string[]} head_colors
 * @property {BothNeutrals} neutrals
 */

/**
 * @typedef {{ tokens: string[], names: string[], certain: number, address?: [string, string] | null }} Known
 * @typedef {Known & { waits?: boolean }} Said
 * @typedef {Said & { key_tokens?: string[] | null }} Told  `key_tokens`: those of keys that are not the queries
 * @typedef {Weights & Shape & Told & { per?: number, whose?: Whose }} GridHeader
 * `certain`: so many heads, the first ones, are exact, the others a preview from one query of each tile. `per`: heads
 * of a layer, where the grid has layers.
 */

/**
 * Whose the heads of a layer are, where no page says it: the layer's name, the title of all, who made them of what.
 * @typedef {{ layer: string, title: string, provenance: string }} Whose
 */

/**
 * One head: `first` query and key, `names` of both sides where each cell is a token.
 * @typedef {object} Part
 * @property {number} head
 * @property {number} query
 * @property {[number, number]} first
 * @property {number} tokens
 * @property {[string[], string[]]} names
 * @property {boolean} zooms
 * @typedef {Weights & Shape & Part} LargeHeader
 */

/**
 * Words of one head with lines: `first` query and key, `names` of both sides, the lines of `all` queries or of one.
 * @typedef {object} Joined
 * @property {number} head
 * @property {number} query
 * @property {[number, number]} first
 * @property {[string[], string[]]} names
 * @property {boolean} all
 * @property {string} heading  what a file of it says above
 * @property {string} provenance  and below: whose it is
 * @property {string} link  that opens it, empty where there is none
 * @typedef {Weights & Shape & Joined} LinesHeader
 */

/**
 * A line for each of some keys, by `names`, the `rest` of them together in the last; what they come to is the output.
 * @typedef {object} OutputHeader
 * @property {string} painted  the link of what is drawn
 * @property {string} query  the one in focus
 * @property {number} head
 * @property {string[]} names
 * @property {number} rest  how many keys are together; 0 where each has a line
 * @property {number} channels
 * @property {{ query: string, less: string, more: string }} accents
 * @property {BothNeutrals} neutrals
 */

/**
 * @typedef {object} Card
 * @property {string} name
 * @property {boolean} single
 * @property {boolean} used
 * @property {string} mark
 * @property {string[]} lines
 * @property {string} title
 * @property {string[]} joins
 * @property {string} joined
 */

/**
 * The gallery: a card a mask, and how many rows and columns each picture has.
 * @typedef {object} GalleryHeader
 * @property {string} painted
 * @property {[number, number]} sides
 * @property {Card[]} cards
 * @property {BothNeutrals} neutrals
 * @property {string} accent
 */

/**
 * A step of the pass as it is drawn: `sent` heads from the `first` on, `high` by `broad` cells, each of `tiles`
 * numbers.
 * @typedef {object} Step
 * @property {string} name
 * @property {string} title
 * @property {string} axes
 * @property {string} sizes
 * @property {string} says  the template of its arithmetic
 * @property {{ name: string, rule: string, sign: string }[]} sources
 * @property {"weights" | "mask" | "signed"} scale
 * @property {number} heads
 * @property {number} rows
 * @property {number} columns
 * @property {number} sent
 * @property {number} first
 * @property {number} high
 * @property {number} broad
 * @property {[number, number]} tiles
 * @property {number} exponent
 * @property {number[]} most  the greatest magnitude of each head that was sent
 * @property {boolean} places
 */

/**
 * A part of the pass in the diagram: `place` says where it stands, `leads` to which of its `steps` it leads.
 * @typedef {{ place: string, name: string, title: string, steps: string[], leads: string }} PassPart
 */

/**
 * @typedef {object} StepsHeader
 * @property {string} painted
 * @property {Step[]} matrices
 * @property {string[]} order
 * @property {PassPart[]} parts
 * @property {string | null} step  null where all are shown
 * @property {string} lesson  what that step is for
 * @property {Focus} focus
 * @property {number} heads
 * @property {number} repeats
 * @property {Record<string, number>} lengths
 * @property {Record<string, string[]>} tokens
 * @property {string[]} weights
 * @property {[string, string]} signed
 * @property {BothNeutrals} neutrals
 * @property {string} accent
 * @property {boolean} masked
 */

/**
 * u32 length | JSON header | padding to 4 | whatever follows, little-endian: the header, and where the rest begins.
 * @param {Uint8Array} bytes
 * @returns {[any, number]}
 */
export function openMessage(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), 4 + length + (-length & 3)];
}

/**
 * A message with another header, or with some keys of it changed, and whatever follows; the inverse of `opened`.
 * @param {object} header
 * @param {Uint8Array[]} parts
 * @returns {Uint8Array}
 */
export function frameMessage(header, parts) {
  const text = new TextEncoder().encode(JSON.stringify(header)), start = 4 + text.length + (-text.length & 3);
  const whole = new Uint8Array(start + parts.reduce((sum, part) => sum + part.length, 0));
  new DataView(whole.buffer).setUint32(0, text.length, true);
  whole.set(text, 4);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), start);
  return whole;
}
