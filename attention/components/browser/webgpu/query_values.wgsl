// Weights times values for one query of each head, of a part of its keys: the weights are read from memory, [heads of this
// call, keys]. `combine` then sums the parts, whose maxima are all 0.
//if HALF
enable f16;
alias Numbers = vec4<f16>;
//else
alias Numbers = vec4f;
//end

//use decode_call
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read> values: array<Numbers>;
@group(0) @binding(3) var<storage, read_write> partial: array<vec4f>;  // head, part: output, then 0 and the sum of weights

const D4 = ${D4}u;      // channels of a head, by four
const SETS = ${SETS}u;  // sets of four threads, each with a key at a time

var<workgroup> totals: array<f32, ${SETS}>;
var<workgroup> outs: array<vec4f, ${OUTS}>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = call.head + workgroup.x;
  let value_at = head / call.group * call.n * D4;
  let four = lane / 4u;
  let own = lane % 4u;
  let begin = workgroup.y * call.chunk;
  let end = min(call.n, begin + call.chunk);
//for i OWN
  var o${i} = vec4f();
//end
  var total = 0.0;
  for (var key = begin; key < end; key += SETS * 4u) {
//for k 4
    {
      let at = key + ${k}u * SETS + four;
      if (at < end) {
        let weight = weights[workgroup.x * call.n + at];
        total += weight;
//for i OWN
        o${i} = fma(vec4f(weight), vec4f(values[value_at + at * D4 + ${i}u * 4u + own]), o${i});
//end
      }
    }
//end
  }
  if (own == 0u) { totals[four] = total; }
//for i OWN
  outs[four * D4 + ${i}u * 4u + own] = o${i};
//end
  workgroupBarrier();
  let place = (head * call.parts + workgroup.y) * (D4 + 1u);
  if (lane < D4) {
    var sum = vec4f();
    for (var each = 0u; each < SETS; each += 1u) { sum += outs[each * D4 + lane]; }
    partial[place + lane] = sum;
  }
  if (lane == D4) {
    var sum = 0.0;
    for (var each = 0u; each < SETS; each += 1u) { sum += totals[each]; }
    partial[place + D4] = vec4f(0.0, sum, 0.0, 0.0);
  }
}
