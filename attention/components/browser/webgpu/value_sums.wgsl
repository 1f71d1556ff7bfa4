    {
      var a_at = row;
      var b_at = col;
      for (var step = 0u; step < KC; step += ${UNROLL}u) {
//for u UNROLL
        {
//for m TM
          let a${m} = left[a_at + (${u}u * BQ4 + ${m}u * ROWS)];
//end
//for x TX
          let b${x} = right[b_at + (${u}u * D4 + ${x}u * COLS)];
//end
//for x TX
//for e 4
//for m TM
          o${m}_${x}${e} = fma(a${m}, vec4f(b${x}[${e}]), o${m}_${x}${e});
//end
//end
//end
        }
//end
        a_at += ${UNROLL}u * BQ4;
        b_at += ${UNROLL}u * D4;
      }
    }
