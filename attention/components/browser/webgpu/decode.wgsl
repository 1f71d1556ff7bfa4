// One query of each head against a part of its keys: a workgroup has four threads for each key of a step, and each of these
// sets of four keeps a softmax of its own, online. `combine` then joins the parts (Dao et al. 2023, Flash-Decoding).
//if SUBGROUPS
enable subgroups;
//end
//if HALF
enable f16;
alias Numbers = vec4<f16>;
//else
alias Numbers = vec4f;
//end

//use decode_call
@group(0) @binding(1) var<storage, read> queries: array<Numbers>;
@group(0) @binding(2) var<storage, read> keys: array<Numbers>;
@group(0) @binding(3) var<storage, read> values: array<Numbers>;
@group(0) @binding(4) var<storage, read_write> partial: array<vec4f>;  // head, part: output, then maximum and sum

const D4 = ${D4}u;        // channels of a head, by four
const THREADS = ${THREADS}u;
const SETS = ${SETS}u;    // sets of four threads
const LOWEST = -1e30;

//if SUBGROUPS
//else
var<workgroup> sums: array<vec4f, ${THREADS}>;
//end
var<workgroup> tops: array<vec2f, ${SETS}>;
var<workgroup> outs: array<vec4f, ${OUTS}>;

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = call.head + workgroup.x;
  let part = workgroup.y;
  let key_at = head / call.group * call.n * D4;
  let four = lane / 4u;
  let own = lane % 4u;
  let begin = call.first + part * call.chunk;
  let end = min(call.n, begin + call.chunk);
//for i OWN
  let q${i} = vec4f(queries[head * D4 + ${i}u * 4u + own]) * call.scale;
  var o${i} = vec4f();
//end
  var top = LOWEST;
  var total = 0.0;
  for (var key = begin; key < end; key += SETS * 4u) {
//use key_sums
    let at = vec4u(key + four) + vec4u(0u, SETS, 2u * SETS, 3u * SETS);
    s = select(vec4f(LOWEST), s, at < vec4u(end));
    let next = max(top, max(max(s.x, s.y), max(s.z, s.w)));
    let shrink = exp2(top - next);
    let weights = select(vec4f(), exp2(s - next), at < vec4u(end));
    top = next;
    total = total * shrink + weights.x + weights.y + weights.z + weights.w;
//for i OWN
    o${i} *= shrink;
//end
//for k 4
    if (at[${k}] < end) {
//for i OWN
      o${i} = fma(vec4f(weights[${k}]), vec4f(values[key_at + at[${k}] * D4 + ${i}u * 4u + own]), o${i});
//end
    }
//end
  }
  if (own == 0u) { tops[four] = vec2f(top, total); }
//for i OWN
  outs[four * D4 + ${i}u * 4u + own] = o${i};
//end
  workgroupBarrier();
  var best = LOWEST;
  for (var each = 0u; each < SETS; each += 1u) { best = max(best, tops[each].x); }
  let place = (head * call.parts + part) * (D4 + 1u);
  if (lane < D4) {
    var sum = vec4f();
    for (var each = 0u; each < SETS; each += 1u) { sum += exp2(tops[each].x - best) * outs[each * D4 + lane]; }
    partial[place + lane] = sum;
  }
  if (lane == D4) {
    var sum = 0.0;
    for (var each = 0u; each < SETS; each += 1u) { sum += exp2(tops[each].x - best) * tops[each].y; }
    partial[place + D4] = vec4f(best, sum, 0.0, 0.0);
  }
}
