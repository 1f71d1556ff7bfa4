// The scaled scores of a tile of queries with a tile of keys, masked, into memory: [heads of this call, queries, keys].
//use call
@group(0) @binding(1) var<storage, read> queries: array<Numbers>;
@group(0) @binding(2) var<storage, read> keys: array<Numbers>;
@group(0) @binding(3) var<storage, read_write> scores: array<f32>;

//use tile

//use rows

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = call.head + workgroup.z;
  let query_at = head * call.queries * D4;
  let key_at = head / call.group * call.n * D4;
  let first = call.row + workgroup.y * BQ4 * 4u;
  let key = workgroup.x * BK4 * 4u;
  let col = lane % COLS;
  let row = lane / COLS;
//for m TM
//for g TG
//for e 4
  var s${m}_${g}${e} = vec4f();
//end
//end
//end
//if KEEP
  let part = 0u;
//use query_tile
//end
//use score_sums
//for m TM
//for i 4
  {
    let q = first + (${m}u * ROWS + row) * 4u + ${i}u;
    if (q < min(call.row + call.rows, call.queries)) {
      let at = (workgroup.z * call.rows + q - call.row) * call.n;
      let token = call.n - call.queries + q;
//for g TG
//for e 4
      {
        let k = key + (${g}u * COLS + col) * 4u + ${e}u;
        let seen = k <= token + call.ahead && token <= k + call.back;
        if (k < call.n) { scores[at + k] = select(LOWEST, s${m}_${g}${e}[${i}], seen); }
      }
//end
//end
    }
  }
//end
//end
}
