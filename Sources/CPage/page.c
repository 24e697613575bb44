#include "cpage.h"

// `#embed` is standard in C23; clang also accepts it as an extension in earlier versions of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char acts_js[] = {
#embed "files/acts.js"
};
static const unsigned char add_js[] = {
#embed "files/add.js"
};
static const unsigned char api_js[] = {
#embed "files/api.js"
};
static const unsigned char detail_texts_js[] = {
#embed "files/detail-texts.js"
};
static const unsigned char detail_css[] = {
#embed "files/detail.css"
};
static const unsigned char detail_js[] = {
#embed "files/detail.js"
};
static const unsigned char dom_js[] = {
#embed "files/dom.js"
};
static const unsigned char files_js[] = {
#embed "files/files.js"
};
static const unsigned char format_js[] = {
#embed "files/format.js"
};
static const unsigned char graph_js[] = {
#embed "files/graph.js"
};
static const unsigned char icon_svg[] = {
#embed "files/icon.svg"
};
static const unsigned char index_html[] = {
#embed "files/index.html"
};
static const unsigned char list_js[] = {
#embed "files/list.js"
};
static const unsigned char main_js[] = {
#embed "files/main.js"
};
static const unsigned char manifest_webmanifest[] = {
#embed "files/manifest.webmanifest"
};
static const unsigned char map_js[] = {
#embed "files/map.js"
};
static const unsigned char settings_js[] = {
#embed "files/settings.js"
};
static const unsigned char states_js[] = {
#embed "files/states.js"
};
static const unsigned char style_css[] = {
#embed "files/style.css"
};
static const unsigned char texts_js[] = {
#embed "files/texts.js"
};

static const struct page_file files[] = {
    {"acts.js", acts_js, sizeof acts_js},
    {"add.js", add_js, sizeof add_js},
    {"api.js", api_js, sizeof api_js},
    {"detail-texts.js", detail_texts_js, sizeof detail_texts_js},
    {"detail.css", detail_css, sizeof detail_css},
    {"detail.js", detail_js, sizeof detail_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"files.js", files_js, sizeof files_js},
    {"format.js", format_js, sizeof format_js},
    {"graph.js", graph_js, sizeof graph_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"index.html", index_html, sizeof index_html},
    {"list.js", list_js, sizeof list_js},
    {"main.js", main_js, sizeof main_js},
    {"manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
    {"map.js", map_js, sizeof map_js},
    {"settings.js", settings_js, sizeof settings_js},
    {"states.js", states_js, sizeof states_js},
    {"style.css", style_css, sizeof style_css},
    {"texts.js", texts_js, sizeof texts_js},
};

const struct page_file *page_file(size_t number) {
    return number < sizeof files / sizeof *files ? files + number : NULL;
}
