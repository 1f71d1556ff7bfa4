// The same pass on the visitor's processor: JavaScript with typed arrays, on one thread.

/**
 * Returns the attention of one head, row by row.
 * @param {Float32Array} q
 * @param {Float32Array} k
 * @param {Float32Array} v
 * @param {import("./kernels.js").Shape} shape
 */
export function attendOnCpu(q, k, v, { length, d_head, ahead, back }) {
  const out = new Float32Array(length * d_head), weights = new Float32Array(length), scale = 1 / Math.sqrt(d_head);
  const row = new Float32Array(d_head);
  for (let query = 0; query < length; query++) {
    const first = Math.max(0, query - back), end = Math.min(length, query + ahead + 1), at = query * d_head;
    let top = -Infinity, total = 0;
    for (let key = first; key < end; key++) {
      let sum = 0;
      for (let c = 0, other = key * d_head; c < d_head; c += 4, other += 4) {
        sum += q[at + c] * k[other] + q[at + c + 1] * k[other + 1] + q[at + c + 2] * k[other + 2] + q[at + c + 3] * k[other + 3];
      }
      weights[key] = sum * scale;
      if (weights[key] > top) top = weights[key];
    }
    row.fill(0);
    for (let key = first; key < end; key++) {
      const weight = Math.exp(weights[key] - top);
      total += weight;
      for (let c = 0, other = key * d_head; c < d_head; c++, other++) row[c] += weight * v[other];
    }
    for (let c = 0; c < d_head; c++) out[at + c] = row[c] / total;
  }
  return out;
}
