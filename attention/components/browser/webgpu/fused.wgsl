// Attention of a tile of queries: tiles of keys and values pass through workgroup memory, the softmax is computed online
// (Milakov and Gimelshein 2018, arXiv:1805.02867; Dao et al. 2022, arXiv:2205.14135), and weights never leave the workgroup.
//
// Both products have the same form: each thread sums 4 TM queries by 4 TG keys, or by 4 TX channels. In workgroup memory
// each row of a tile is one step of the sum. Every accumulator is a vector over four queries.
//use call
@group(0) @binding(1) var<storage, read> queries: array<Numbers>;
@group(0) @binding(2) var<storage, read> keys: array<Numbers>;
@group(0) @binding(3) var<storage, read> values: array<Numbers>;
@group(0) @binding(4) var<storage, read_write> outputs: array<Numbers>;

//use tile

//use rows

@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = call.head + workgroup.y;
  let query_at = head * call.queries * D4;
  let key_at = head / call.group * call.n * D4;
  let first = call.row + workgroup.x * BQ4 * 4u;
  let token = call.n - call.queries + first;  // of the first query
  let last = call.n - call.queries + min(first + BQ4 * 4u, call.queries) - 1u;
  let begin = select(token - call.back, 0u, token < call.back) / (BK4 * 4u) * (BK4 * 4u);
  let end = min(call.n, last + call.ahead + 1u);
  let col = lane % COLS;
  let row = lane / COLS;
//for m TM
  var top${m} = vec4f(LOWEST);
  var total${m} = vec4f();
//for x TX
//for e 4
  var o${m}_${x}${e} = vec4f();
//end
//end
//end
//if KEEP
  let part = 0u;
//use query_tile
//end
  for (var key = begin; key < end; key += BK4 * 4u) {
//for m TM
//for g TG
//for e 4
    var s${m}_${g}${e} = vec4f();
//end
//end
//end
//use score_sums
    if (key + BK4 * 4u > end || key + BK4 * 4u - 1u > token + call.ahead || last > key + call.back) {
//for g TG
//for e 4
      {
        let k = vec4u(key + (${g}u * COLS + col) * 4u + ${e}u);
//for m TM
        {
          let q = vec4u(token + (${m}u * ROWS + row) * 4u) + vec4u(0u, 1u, 2u, 3u);
          let seen = (k <= q + vec4u(call.ahead)) & (q <= k + vec4u(call.back)) & (k < vec4u(call.n));
          s${m}_${g}${e} = select(vec4f(LOWEST), s${m}_${g}${e}, seen);
        }
//end
      }
//end
//end
    }
    workgroupBarrier();
//for m TM
    var best${m} = s${m}_00;
//for g TG
//for e 4
    best${m} = max(best${m}, s${m}_${g}${e});
//end
//end
    left[col * BQ4 + ${m}u * ROWS + row] = best${m};
//end
    workgroupBarrier();
//for m TM
//for i COLS
    best${m} = max(best${m}, left[${i}u * BQ4 + ${m}u * ROWS + row]);
//end
    let next${m} = max(top${m}, best${m});
    let shrink${m} = exp2(top${m} - next${m});
    top${m} = next${m};
    total${m} *= shrink${m};
//for x TX
//for e 4
    o${m}_${x}${e} *= shrink${m};
//end
//end
//for g TG
//for e 4
    s${m}_${g}${e} = exp2(s${m}_${g}${e} - next${m});
    total${m} += s${m}_${g}${e};
//end
//end
//end
//for g TG
//for h HALVES
    workgroupBarrier();
//for j JC
//for m TM
    left[(col * ${JC}u + ${j}u) * BQ4 + ${m}u * ROWS + row] = s${m}_${g}${E${h}${j}};
//end
//end
//for i VALUE_LOADS
    {
      let at = lane + ${i}u * ${THREADS}u;
      if (at < KC * D4) {
        let r = at / D4;
        let k = key + (${g}u * COLS + r / ${JC}u) * 4u + ${h}u * ${JC}u + r % ${JC}u;
        var x = vec4f();
        if (k < call.n) { x = vec4f(values[key_at + k * D4 + at % D4]); }
        right[at] = x;
      }
    }
//end
    workgroupBarrier();
//use value_sums
//end
//end
  }
  workgroupBarrier();
//for m TM
  left[col * BQ4 + ${m}u * ROWS + row] = total${m};
//end
  workgroupBarrier();
//for m TM
  {
    var sum = vec4f();
//for i COLS
    sum += left[${i}u * BQ4 + ${m}u * ROWS + row];
//end
//for x TX
//for e 4
    o${m}_${x}${e} /= sum;
//end
//end
  }
//end
//use write_outputs
}
