#include "cversion.h"

#ifndef SEGGET_COMMIT
#define SEGGET_COMMIT ""
#endif

const char *segget_commit(void) {
    return SEGGET_COMMIT;
}
