// Joins the parts of `decode`: a workgroup has one head, and a thread four channels of its output.
//if HALF
enable f16;
alias Numbers = vec4<f16>;
//else
alias Numbers = vec4f;
//end

//use decode_call
@group(0) @binding(1) var<storage, read> partial: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> outputs: array<Numbers>;

const D4 = ${D4}u;  // channels of a head, by four

@compute @workgroup_size(${D4})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = call.head + workgroup.x;
  let place = head * call.parts * (D4 + 1u);
  var top = -1e30;
  var total = 0.0;
  var sum = vec4f();
  for (var part = 0u; part < call.parts; part += 1u) {
    let at = place + part * (D4 + 1u);
    let ends = partial[at + D4];
    let next = max(top, ends.x);
    let shrink = exp2(top - next);
    let weight = exp2(ends.x - next);
    top = next;
    total = total * shrink + ends.y * weight;
    sum = sum * shrink + partial[at + lane] * weight;
  }
  outputs[head * D4 + lane] = Numbers(sum / total);
}
