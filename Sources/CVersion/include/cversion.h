// What is known of the source only while it is built.
#ifndef SEGGET_CVERSION_H
#define SEGGET_CVERSION_H

// The commit that the program was built from, with `-modified` where files differed from it. Empty where whoever
// built it did not say (SEGGET_COMMIT of the environment, which `make build` sets).
const char *segget_commit(void);

#endif
