/*
** CRC32C (Castagnoli), as the blocks of a stream carry it.
**
** Header only: the recorder, the sampler and the reader compile it in. Needs
** no libc; safe in threads, since it has no state but constants.
*/

#ifndef _LJM_CRC32C_H
#define _LJM_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__aarch64__) && defined(__linux__) && !defined(__ARM_FEATURE_CRC32)
#include <sys/auxv.h>
#endif

/* -- In software: eight bytes at a time ----------------------------------- */

/* A CRC is linear, so 8 constants span a table of 256 entries: the entry of a
** byte is the sum of its bits' constants. The compiler does the sums.
*/
#define LJM_CRC_1(b0, b1, b2, b3, b4, b5, b6, b7, i)                           \
  (((i)&1 ? b0 : 0) ^ ((i)&2 ? b1 : 0) ^ ((i)&4 ? b2 : 0) ^ ((i)&8 ? b3 : 0) ^ \
   ((i)&16 ? b4 : 0) ^ ((i)&32 ? b5 : 0) ^ ((i)&64 ? b6 : 0) ^                 \
   ((i)&128 ? b7 : 0))
#define LJM_CRC_4(B, i) B((i)), B((i) + 1), B((i) + 2), B((i) + 3)
#define LJM_CRC_16(B, i)                                                       \
  LJM_CRC_4(B, (i)), LJM_CRC_4(B, (i) + 4), LJM_CRC_4(B, (i) + 8),             \
      LJM_CRC_4(B, (i) + 12)
#define LJM_CRC_64(B, i)                                                       \
  LJM_CRC_16(B, (i)), LJM_CRC_16(B, (i) + 16), LJM_CRC_16(B, (i) + 32),        \
      LJM_CRC_16(B, (i) + 48)
#define LJM_CRC_256(B)                                                         \
  {                                                                            \
    LJM_CRC_64(B, 0), LJM_CRC_64(B, 64), LJM_CRC_64(B, 128),                   \
        LJM_CRC_64(B, 192)                                                     \
  }

/* Row K: the CRC of a byte that K zero bytes follow. */
#define LJM_CRC_ROW0(i)                                                        \
  LJM_CRC_1(0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, 0x105ec76fu,   \
            0x20bd8edeu, 0x417b1dbcu, 0x82f63b78u, i)
#define LJM_CRC_ROW1(i)                                                        \
  LJM_CRC_1(0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, 0x3fc5f181u,   \
            0x7f8be302u, 0xff17c604u, 0xfbc3faf9u, i)
#define LJM_CRC_ROW2(i)                                                        \
  LJM_CRC_1(0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, 0x70a27d8au,   \
            0xe144fb14u, 0xc76580d9u, 0x8b277743u, i)
#define LJM_CRC_ROW3(i)                                                        \
  LJM_CRC_1(0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, 0xe964b13du,   \
            0xd725148bu, 0xaba65fe7u, 0x52a0c93fu, i)
#define LJM_CRC_ROW4(i)                                                        \
  LJM_CRC_1(0x38116facu, 0x7022df58u, 0xe045beb0u, 0xc5670b91u, 0x8f2261d3u,   \
            0x1ba8b557u, 0x37516aaeu, 0x6ea2d55cu, i)
#define LJM_CRC_ROW5(i)                                                        \
  LJM_CRC_1(0xef306b19u, 0xdb8ca0c3u, 0xb2f53777u, 0x6006181fu, 0xc00c303eu,   \
            0x85f4168du, 0x0e045bebu, 0x1c08b7d6u, i)
#define LJM_CRC_ROW6(i)                                                        \
  LJM_CRC_1(0x68032cc8u, 0xd0065990u, 0xa5e0c5d1u, 0x4e2dfd53u, 0x9c5bfaa6u,   \
            0x3d5b83bdu, 0x7ab7077au, 0xf56e0ef4u, i)
#define LJM_CRC_ROW7(i)                                                        \
  LJM_CRC_1(0x493c7d27u, 0x9278fa4eu, 0x211d826du, 0x423b04dau, 0x847609b4u,   \
            0x0d006599u, 0x1a00cb32u, 0x34019664u, i)

/* Without the final complement, on any machine. */
static inline uint32_t ljm_crc32c_soft(uint32_t c, const uint8_t *p, size_t n)
{
  static const uint32_t t[8][256] = {
      LJM_CRC_256(LJM_CRC_ROW0), LJM_CRC_256(LJM_CRC_ROW1),
      LJM_CRC_256(LJM_CRC_ROW2), LJM_CRC_256(LJM_CRC_ROW3),
      LJM_CRC_256(LJM_CRC_ROW4), LJM_CRC_256(LJM_CRC_ROW5),
      LJM_CRC_256(LJM_CRC_ROW6), LJM_CRC_256(LJM_CRC_ROW7),
  };
  for (; n >= 8; n -= 8, p += 8) {
    uint32_t lo = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                  (uint32_t)p[3] << 24;
    lo ^= c;
    c = t[7][lo & 0xff] ^ t[6][lo >> 8 & 0xff] ^ t[5][lo >> 16 & 0xff] ^
        t[4][lo >> 24] ^ t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
  }
  for (; n; n--, p++)
    c = c >> 8 ^ t[0][(c ^ *p) & 0xff];
  return c;
}

/* -- With the machine's own instruction ----------------------------------- */

#if defined(__x86_64__)

/* Has this machine the instruction? */
static inline int ljm_crc32c_have(void)
{
  return __builtin_cpu_supports("sse4.2");
}

/* Without the final complement, by SSE4.2. */
__attribute__((target("sse4.2"))) static inline uint32_t
ljm_crc32c_hard(uint32_t c, const uint8_t *p, size_t n)
{
  uint64_t c64 = c, v;
  for (; n >= 8; n -= 8, p += 8) {
    memcpy(&v, p, 8);
    c64 = __builtin_ia32_crc32di(c64, v);
  }
  c = (uint32_t)c64;
  for (; n; n--, p++)
    c = __builtin_ia32_crc32qi(c, *p);
  return c;
}

#elif defined(__aarch64__) && defined(__AARCH64EL__) &&                        \
    (defined(__linux__) || defined(__ARM_FEATURE_CRC32))

/* Has this machine the instruction? Optional in ARMv8.0, bit 7 of AT_HWCAP. */
static inline int ljm_crc32c_have(void)
{
#ifdef __ARM_FEATURE_CRC32
  return 1;
#else
  return (getauxval(AT_HWCAP) & (1u << 7)) != 0;
#endif
}

/* Without the final complement, by ARMv8's CRC extension. */
static inline uint32_t ljm_crc32c_hard(uint32_t c, const uint8_t *p, size_t n)
{
  uint64_t v;
  for (; n >= 8; n -= 8, p += 8) {
    memcpy(&v, p, 8);
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(c) : "r"(v));
  }
  for (; n; n--, p++)
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1"
            : "+r"(c)
            : "r"((uint32_t)*p));
  return c;
}

#else

/* No such instruction, or none that is known here. */
static inline int ljm_crc32c_have(void)
{
  return 0;
}

#define ljm_crc32c_hard ljm_crc32c_soft

#endif

/* The CRC32C of N bytes that follow those whose CRC32C is CRC (0: none). */
static inline uint32_t ljm_crc32c(uint32_t crc, const void *p, size_t n)
{
  uint32_t c = ljm_crc32c_have() ? ljm_crc32c_hard(~crc, (const uint8_t *)p, n)
                                 : ljm_crc32c_soft(~crc, (const uint8_t *)p, n);
  return ~c;
}

#endif
