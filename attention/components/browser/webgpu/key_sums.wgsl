    var s = vec4f();  // of four keys, SETS apart: first the part of this thread, then the sum of its four threads
//for k 4
    {
      let at = key + ${k}u * SETS + four;
      if (at < end) {
        var sum = vec4f();
//for i OWN
        sum = fma(q${i}, vec4f(keys[key_at + at * D4 + ${i}u * 4u + own]), sum);
//end
        s[${k}] = sum.x + sum.y + sum.z + sum.w;
      }
    }
//end
//if SUBGROUPS
    s += subgroupShuffleXor(s, 1u);
    s += subgroupShuffleXor(s, 2u);
//else
    workgroupBarrier();
    sums[lane] = s;
    workgroupBarrier();
    s = sums[four * 4u] + sums[four * 4u + 1u] + sums[four * 4u + 2u] + sums[four * 4u + 3u];
//end
