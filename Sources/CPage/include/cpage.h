// The files of the page that `segget serve --web` serves, embedded in the executable.
#pragma once
#include <stddef.h>

struct page_file {
    /// The name of the file, such as `index.html` or `main.js`.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// Returns the file with an index from 0; NULL after the last one.
const struct page_file *page_file(size_t number);
