#include "cpage.h"

// C23 has it; as an extension it needs no other version of the language.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "files/index.html"
};

static const struct page_file files[] = {
    {"index.html", index_html, sizeof index_html},
};

const struct page_file *page_file(size_t number) {
    return number < sizeof files / sizeof *files ? files + number : NULL;
}
