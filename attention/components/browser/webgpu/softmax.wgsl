// The softmax of one row of scores per workgroup, in place.
//use call
@group(0) @binding(1) var<storage, read_write> scores: array<f32>;

const THREADS = ${SOFTMAX}u;
var<workgroup> partial: array<f32, ${SOFTMAX}>;

@compute @workgroup_size(${SOFTMAX})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  let at = (workgroup.y * call.rows + workgroup.x) * call.n;
  var best = -1e30;
  for (var k = lane; k < call.n; k += THREADS) { best = max(best, scores[at + k]); }
  partial[lane] = best;
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) { partial[lane] = max(partial[lane], partial[lane + half]); }
  }
  workgroupBarrier();
  let top = partial[0];
  workgroupBarrier();
  var sum = 0.0;
  for (var k = lane; k < call.n; k += THREADS) {
    let weight = exp(scores[at + k] - top);
    scores[at + k] = weight;
    sum += weight;
  }
  partial[lane] = sum;
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) { partial[lane] += partial[lane + half]; }
  }
  workgroupBarrier();
  let total = partial[0];
  for (var k = lane; k < call.n; k += THREADS) { scores[at + k] /= total; }
}
