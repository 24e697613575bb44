// Typed wrappers for libcurl's variadic functions, which Swift cannot import: one for each type of
// value.
#ifndef SEGGET_CCURL_H
#define SEGGET_CCURL_H

#include <curl/curl.h>

// The minimum version is defined only here; scripts/check.sh compares it with the README.
// CURLU_PUNYCODE requires 7.88.0, CURLOPT_QUICK_EXIT 7.87.0, CURLOPT_PROTOCOLS_STR 7.85.0,
// curl_easy_nextheader 7.83.0.
_Static_assert(LIBCURL_VERSION_NUM >= 0x075800, "segget needs libcurl 7.88 or later");

typedef size_t (*segget_curl_data_callback)(char *, size_t, size_t, void *);

static inline CURLcode segget_curl_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode segget_curl_setopt_string(
    CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode segget_curl_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode segget_curl_setopt_list(
    CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

// CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION share one signature.
static inline CURLcode segget_curl_setopt_callback(
    CURL *handle, CURLoption option, segget_curl_data_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode segget_curl_setopt_socket_callback(
    CURL *handle, CURLoption option, curl_sockopt_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode segget_curl_setopt_open_socket_callback(
    CURL *handle, CURLoption option, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode segget_curl_setopt_request_callback(
    CURL *handle, CURLoption option, curl_prereq_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode segget_curl_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode segget_curl_getinfo_off_t(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode segget_curl_getinfo_string(
    CURL *handle, CURLINFO info, const char **value) {
    return curl_easy_getinfo(handle, info, (char **)value);
}

static inline CURLcode segget_curl_getinfo_list(
    CURL *handle, CURLINFO info, struct curl_slist **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode segget_curl_getinfo_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode segget_curl_multi_setopt_long(
    CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode segget_curl_share_setopt_data(CURLSH *share, curl_lock_data data) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}

// Swift does not import the union in CURLMsg conveniently.
static inline CURLcode segget_curl_message_result(const CURLMsg *message) {
    return message->data.result;
}

// Swift does not import macros that contain casts.
static const long segget_curl_http_version_1_0 = (long)CURL_HTTP_VERSION_1_0;
static const long segget_curl_http_version_1_1 = (long)CURL_HTTP_VERSION_1_1;
static const long segget_curl_http_version_2_tls = (long)CURL_HTTP_VERSION_2TLS;
static const long segget_curl_http_version_2_at_once =
    (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
static const long segget_curl_http_version_2 = (long)CURL_HTTP_VERSION_2;
static const long segget_curl_http_version_3 = (long)CURL_HTTP_VERSION_3;
static const long segget_curl_ssl_other_connection = (long)CURLSSLOPT_REVOKE_BEST_EFFORT;
static const long segget_curl_sslversion_tls1_2 = (long)CURL_SSLVERSION_TLSv1_2;
static const long segget_curl_sslversion_tls1_3 = (long)CURL_SSLVERSION_TLSv1_3;
static const long segget_curl_auth_basic = (long)CURLAUTH_BASIC;
static const long segget_curl_auth_digest = (long)CURLAUTH_DIGEST;
static const long segget_curl_auth_negotiate = (long)CURLAUTH_NEGOTIATE;
static const long segget_curl_netrc_optional = (long)CURL_NETRC_OPTIONAL;
static const CURLversion segget_curl_version_now = CURLVERSION_NOW;
static const long segget_curl_global_default = CURL_GLOBAL_DEFAULT;
static const size_t segget_curl_writefunc_pause = CURL_WRITEFUNC_PAUSE;
static const int segget_curl_pause_continue = CURLPAUSE_CONT;
static const unsigned int segget_curl_headers_of_reply = CURLH_HEADER;
static const size_t segget_curl_error_size = CURL_ERROR_SIZE;

#endif
