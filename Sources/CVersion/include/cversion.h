// Facts about the source that are known only at build time.
#ifndef SEGGET_CVERSION_H
#define SEGGET_CVERSION_H

// The commit from which the program was built, with the suffix `-modified` if files differed from
// it. Empty if the environment variable SEGGET_COMMIT was not set at build time; `make build` sets
// it.
const char *segget_commit(void);

#endif
