// zlib's CRC-32 arithmetic: crc32_combine joins the checksums of adjacent extents.
#ifndef SEGGET_CZLIB_H
#define SEGGET_CZLIB_H
#include <zlib.h>
#endif
