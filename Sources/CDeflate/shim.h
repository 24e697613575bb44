// libdeflate's CRC-32, several times as fast as zlib's.
#ifndef SEGGET_CDEFLATE_H
#define SEGGET_CDEFLATE_H
#include <libdeflate.h>
#endif
