// Input that JavaScript and Python make bit for bit alike: see attention/timing/webgpu/proof.py.

const STRIDE = 0x9e3779b9;

/**
 * Returns numbers from -2 to 2 in steps of 1/512, which float16 has exactly.
 * @param {number} count
 * @param {number} stream
 */
export function uniforms(count, stream) {
  const found = new Float32Array(count), offset = Math.imul(stream, STRIDE);
  for (let at = 0; at < count; at++) {
    let x = (at + offset) | 0;
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    x ^= x >>> 16;
    found[at] = ((x >>> 21) - 1024) / 512;
  }
  return found;
}

/**
 * Returns the bits of float16 numbers: exactly those of `uniforms`, others rounded towards zero.
 * @param {Float32Array} numbers
 */
export function toHalf(numbers) {
  const bits = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length), found = new Uint16Array(bits.length);
  for (let at = 0; at < bits.length; at++) {
    const exponent = ((bits[at] >>> 23) & 255) - 112, sign = (bits[at] >>> 16) & 0x8000;
    found[at] = exponent <= 0 ? sign : sign | (exponent << 10) | ((bits[at] >>> 13) & 1023);
  }
  return found;
}

/**
 * Returns the numbers of float16 bits.
 * @param {Uint16Array} bits
 */
export function fromHalf(bits) {
  return Float32Array.from(bits, (x) => {
    const exponent = (x >>> 10) & 31, fraction = x & 1023, sign = x & 0x8000 ? -1 : 1;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
  });
}
