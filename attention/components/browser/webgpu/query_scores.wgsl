// The scaled scores of one query of each head with its keys, masked, into memory: [heads of this call, keys]. A workgroup has
// four threads for each key of a step.
//if SUBGROUPS
enable subgroups;
//end
//use call
@group(0) @binding(1) var<storage, read> queries: array<Numbers>;
@group(0) @binding(2) var<storage, read> keys: array<Numbers>;
@group(0) @binding(3) var<storage, read_write> scores: array<f32>;

const D4 = ${D4}u;      // channels of a head, by four
const SETS = ${SETS}u;  // sets of four threads

//if SUBGROUPS
//else
var<workgroup> sums: array<vec4f, ${THREADS}>;
//end

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = call.head + workgroup.x;
  let key_at = head / call.group * call.n * D4;
  let four = lane / 4u;
  let own = lane % 4u;
  let key = workgroup.y * SETS * 4u;
  let end = call.n;
//for i OWN
  let q${i} = vec4f(queries[head * D4 + ${i}u * 4u + own]) * call.scale;
//end
//use key_sums
  let at = key + own * SETS + four;
  if (at < end) { scores[workgroup.x * call.n + at] = select(-1e30, s[own], at + call.back >= call.n - 1u); }
}
