// The files of the page that `segget serve --web` shows, as they stand in the executable.
#pragma once
#include <stddef.h>

struct page_file {
    /// The name: `index.html`, `main.js`.
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// The file of a number from 0; NULL beyond the last one.
const struct page_file *page_file(size_t number);
