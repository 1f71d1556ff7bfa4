    for (var part = 0u; part < D4 * 4u; part += DK) {
      workgroupBarrier();
//if KEEP
//else
//use query_tile
//end
//use key_tile
      workgroupBarrier();
//if KEEP
      var a_at = part * BQ4 + row;
//else
      var a_at = row;
//end
      var b_at = col;
      for (var step = 0u; step < DK; step += ${UNROLL}u) {
//for u UNROLL
        {
//for m TM
          let a${m} = ${QUERIES}[a_at + (${u}u * BQ4 + ${m}u * ROWS)];
//end
//for g TG
          let b${g} = right[b_at + (${u}u * BK4 + ${g}u * COLS)];
//end
//for g TG
//for e 4
//for m TM
          s${m}_${g}${e} = fma(a${m}, vec4f(b${g}[${e}]), s${m}_${g}${e});
//end
//end
//end
        }
//end
        a_at += ${UNROLL}u * BQ4;
        b_at += ${UNROLL}u * BK4;
      }
    }
