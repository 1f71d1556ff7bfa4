// Messages from the server: a header and bytes, framed as in attention/wire/message.py. The headers of all components are
// typed here.

/**
 * @typedef {{ text: string, muted: string, line: string, masked: string, hatch: string }} Neutrals
 * @typedef {Record<"dark" | "light", Neutrals>} BothNeutrals
 * @typedef {"linear" | "log" | "times even" | "own maximum" | "root"} Scale  “root” only of differences
 * @typedef {{ head: number, query: number }} Focus
 */

/**
 * The layout of the codes of cells: `rows` by `columns` per head, each a tile of `tile` queries by `tile` keys out of
 * `queries` and `keys`.
 * @typedef {object} Shape
 * @property {number} heads
 * @property {number} rows
 * @property {number} columns
 * @property {number} tile
 * @property {number} queries
 * @property {number} keys
 * @property {boolean} places  whether the message has the position of the largest weight in each tile
 * @property {number} shift
 * @property {number} bits
 * @property {boolean} [signed]  whether the highest bit of a code is the sign of its weight
 * @property {[number, number]} sights  lines of visible keys, one for all heads or one per head; numbers per line
 * @property {boolean} [sums]  whether the message has the sum of each row
 * @property {boolean} [sides]  whether cells are differences of two sides, A and B, coded as attention/wire/difference_cells.py
 * describes, with the codes of both sides
 * @property {{ name: string, bytes: number }} [kept]  the name of the last bytes, which the browser keeps, and their number in
 * this message: 0 if it only names them (kept_bytes.js)
 * @property {number[]} most  the largest code of each head: the end of the scale “own maximum”
 */

/** @typedef {{ light: string[], dark: string[] }} Ramps  the stops of the colours of weights on a light and a dark page */

/**
 * Keys of all headers of weights, of one head or all heads.
 * @typedef {object} Weights
 * @property {string} painted  the link of the picture
 * @property {number} height
 * @property {string} note
 * @property {Scale} colors
 * @property {"max" | "mean"} pool  how the weights of a tile are pooled
 * @property {string} why  the reason for the colour scale if it was chosen automatically
 * @property {Focus} focus
 * @property {string | null} [rest]  where what a row lacks to sum to one goes, "" if it lacks nothing; null: no fixed sum
 * @property {number} group  heads that share keys and values
 * @property {number} floor  the smallest weight of the logarithmic scale
 * @property {number} times  the multiple of the uniform weight at the end of its scale
 * @property {Ramps} ramps
 * @property {string[]} stops  of the colours on the background of the page; theme.js derives them
 * @property {[string, string]} [signs]  the colours below and above zero, of differences
 * @property {string} [stripe]  the colour of stripes on what is visible on one side alone
 * @property {{ query: string, key: string }} accents
 * @property {string[]} head_colors
 * @property {BothNeutrals} neutrals
 */

/**
 * @typedef {{ tokens: string[], names: string[], certain: number, address?: [string, string] | null }} Known
 * @typedef {Known & { key_tokens?: string[] | null, short_names?: string[] }} Told  `key_tokens`: those of the keys in
 * cross-attention; `short_names`: the names in narrow squares
 * A training: the `step`, the shares of right predictions before it and then, the token after the `last` one, and whether
 * copies of a token are marked, and how many trainings that fail were begun. The second half of all codes is of the same heads
 * before the first step.
 * @typedef {{ step: number, accuracy: [string, string], last: string, copies: boolean, lessons: number }} Trained
 * @typedef {{ per?: number, trained?: Trained, whose?: Whose, end?: number, offers_percent?: boolean }} OfGrid
 * @typedef {Weights & Shape & Told & OfGrid} GridHeader
 * `end`: the larger of the largest weights of the selected row on two sides that are shown beside each other.
 * `certain`: the first `certain` heads are exact, the others a preview from one query of each tile. `per`: heads per
 * layer, if the grid shows several layers.
 */

/**
 * The origin of the heads of a layer, for pictures outside of the app: the layer's name, the title, and the provenance.
 * @typedef {{ layer: string, title: string, provenance: string }} Whose
 */

/**
 * One head: `first` query and key, `names` of both sides if each cell is one pair of tokens.
 * @typedef {object} Part
 * @property {number} head
 * @property {number} query
 * @property {[number, number]} first
 * @property {[number, number]} sizes  all queries and keys of the head
 * @property {[string[], string[]]} names
 * @property {boolean} zooms
 * @property {boolean} [pins]  whether a click selects a row
 * @property {Marks} [marks]
 * @typedef {{ starts: number[], pair: [number, number] | null, pointed?: [number, number], says: string, hides: boolean }} Marks
 * `starts`: the tokens at which a text starts again. `pair`: a framed query and key, which `says` describes;
 * `pointed`: those under the pointer.
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
 * @property {boolean} difference  whether the numbers are B − A of two sides
 * @property {string} heading  the heading of a saved picture
 * @property {string} provenance  the origin of the heads, below a saved picture
 * @property {string} link  the link that opens this picture, empty if there is none
 * @typedef {Weights & Shape & Joined} LinesHeader
 */

/**
 * One head over a sentence: the selected `query`, and the selected `key` if a pair is selected, the `tokens` of queries and
 * keys, which parts it shows, and the names of both masks if a second head is the same one under another mask.
 * @typedef {{ chips: boolean, map: boolean }} Shows
 * @typedef {{ query: number, key: number | null, tokens: string[], shows: Shows, masks: [string, string] | null }} Read
 * @typedef {Weights & Shape & Read} SentenceHeader
 */

/**
 * One line per key, with its name in `names`; the last line is the sum of `rest` further keys. All lines add up to the
 * output.
 * @typedef {object} OutputHeader
 * @property {boolean} gated  whether the output is multiplied by a gate
 * @property {string} painted  the link of the picture
 * @property {string} query  the selected query
 * @property {number} head
 * @property {string[]} names
 * @property {number} rest  number of keys in the last line; 0 if each key has a line
 * @property {boolean} shares  whether the weights of a row sum to one
 * @property {number} channels
 * @property {{ query: string, less: string, more: string }} accents
 * @property {BothNeutrals} neutrals
 */

/**
 * A normaliser: what is added to the denominator as a logit (`sink`), or the shift of a sigmoid; `power` of a threshold.
 * @typedef {{ kind: "softmax" | "sigmoid" | "threshold", power: number, sink: number | null }} Form
 */

/**
 * A row whose scores can be dragged.
 * @typedef {object} ScoresHeader
 * @property {string} painted  the link of the picture
 * @property {string[]} tokens  those of the keys, empty if there are none
 * @property {string[]} names  the keys in words
 * @property {number[]} places  the column of each key
 * @property {number | null} key  the key with the largest weight, null if all are masked
 * @property {[number, number]} ends  of the axis of logits, below and above 0
 * @property {string[]} changes  the operations between scores and logits
 * @property {Form} form
 * @property {{ query: string, key: string }} accents
 * @property {BothNeutrals} neutrals
 */

/**
 * @typedef {object} Card
 * @property {string} name
 * @property {boolean} single
 * @property {boolean} used
 * @property {string} mark
 * @property {string} shows
 * @property {string} purpose
 * @property {string} share  of pairs that are kept
 * @property {string} masked  how many rows are fully masked, "" if none
 * @property {string[]} lines
 * @property {string} title  all of it
 * @property {string[]} joins
 * @property {string} joined
 */

/**
 * The gallery of masks: one card per mask; `sides` are the rows and columns of each picture.
 * @typedef {object} GalleryHeader
 * @property {string} painted
 * @property {[number, number]} sides
 * @property {Card[]} cards
 * @property {BothNeutrals} neutrals
 * @property {string} accent
 */

/**
 * A step of the pass as it is drawn: `sent` heads from `first` on, of `high` by `broad` cells, each a tile of `tiles[0]`
 * by `tiles[1]` numbers.
 * @typedef {object} Step
 * @property {string} name
 * @property {string} title
 * @property {string} axes
 * @property {string} sizes
 * @property {string} says  the template of its arithmetic
 * @property {{ name: string, rule: string, sign: string }[]} sources
 * @property {"weights" | "mask" | "signed" | "difference"} scale
 * @property {"weights" | "mask" | "signed"} [of]  of a difference, the scale of both sides
 * @property {[number, number]} [sides]  of a difference, the exponents of A and B
 * @property {number} heads
 * @property {number} rows
 * @property {number} columns
 * @property {number} sent
 * @property {number} first
 * @property {number} high
 * @property {number} broad
 * @property {[number, number]} tiles
 * @property {number} exponent
 * @property {number[]} most  the largest magnitude of each head that was sent
 * @property {boolean} places
 */

/**
 * A part of the pass in the diagram: `place` is its position, `leads` the one of its `steps` that it selects, `group` what
 * it does together with its neighbours.
 * @typedef {{ place: string, name: string, title: string, steps: string[], leads: string, group: string }} PassPart
 */

/**
 * @typedef {object} StepsHeader
 * @property {string} painted
 * @property {Step[]} matrices
 * @property {string[]} order
 * @property {PassPart[]} parts
 * @property {boolean} ends  at the weights, because the source has no values
 * @property {string | null} step  null if all are shown
 * @property {Focus} focus
 * @property {number} heads
 * @property {number} repeats
 * @property {Record<string, number>} lengths
 * @property {Record<string, string[]>} tokens
 * @property {Ramps} ramps
 * @property {[string, string]} signed
 * @property {string} stripe  the colour of stripes on what one side of a comparison masks
 * @property {BothNeutrals} neutrals
 * @property {string} accent
 * @property {boolean} masked
 */

/**
 * Opens a message (little-endian: u32 length | JSON header | padding to 4 bytes | parts). Returns the header, and the
 * offset at which the parts begin.
 * @param {Uint8Array} bytes
 * @returns {[any, number]}
 */
export function openMessage(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), 4 + length + (-length & 3)];
}

/**
 * Returns a message of a header and parts; the inverse of `openMessage`.
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
