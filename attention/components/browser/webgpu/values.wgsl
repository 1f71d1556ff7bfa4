// Weights times values, for a tile of queries: the weights are read from memory, [heads of this call, queries, keys].
//use call
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read> values: array<Numbers>;
@group(0) @binding(3) var<storage, read_write> outputs: array<Numbers>;

//use tile

fn weight_row(at: u32, row: u32, key: u32) -> vec4f {
  var found = vec4f();
  if (row >= call.rows || call.row + row >= call.queries) { return found; }
//for e 4
  if (key + ${e}u < call.n) { found[${e}] = weights[at + row * call.n + key + ${e}u]; }
//end
  return found;
}

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = call.head + workgroup.y;
  let query_at = head * call.queries * D4;
  let key_at = head / call.group * call.n * D4;
  let weight_at = workgroup.y * call.rows * call.n;
  let start = workgroup.x * BQ4 * 4u;
  let first = call.row + start;
  let col = lane % COLS;
  let row = lane / COLS;
//for m TM
//for x TX
//for e 4
  var o${m}_${x}${e} = vec4f();
//end
//end
//end
  for (var key = 0u; key < call.n; key += KC) {
    workgroupBarrier();
//for i WEIGHT_LOADS
    {
      let at = lane + ${i}u * ${THREADS}u;
      if (at < BQ4 * (KC / 4u)) {
        let c = at % (KC / 4u);
        let r = at / (KC / 4u);
        let x0 = weight_row(weight_at, start + r * 4u, key + c * 4u);
        let x1 = weight_row(weight_at, start + r * 4u + 1u, key + c * 4u);
        let x2 = weight_row(weight_at, start + r * 4u + 2u, key + c * 4u);
        let x3 = weight_row(weight_at, start + r * 4u + 3u, key + c * 4u);
//for e 4
        left[(c * 4u + ${e}u) * BQ4 + r] = vec4f(x0[${e}], x1[${e}], x2[${e}], x3[${e}]);
//end
      }
    }
//end
//for i VALUE_LOADS
    {
      let at = lane + ${i}u * ${THREADS}u;
      if (at < KC * D4) {
        let k = key + at / D4;
        var x = vec4f();
        if (k < call.n) { x = vec4f(values[key_at + k * D4 + at % D4]); }
        right[at] = x;
      }
    }
//end
    workgroupBarrier();
//use value_sums
  }
//use write_outputs
}
