//for m TM
//for i 4
  {
    let q = first + (${m}u * ROWS + row) * 4u + ${i}u;
    if (q < call.queries) {
//for x TX
      outputs[query_at + q * D4 + ${x}u * COLS + col] =
        Numbers(vec4f(o${m}_${x}0[${i}], o${m}_${x}1[${i}], o${m}_${x}2[${i}], o${m}_${x}3[${i}]));
//end
    }
  }
//end
//end
