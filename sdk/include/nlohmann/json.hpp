// Values of JSON under the names by which host code knows them: what tiling functions read from compile information and
// what tuning structures are turned into and made from. Written for this SDK; pointers, patches, binary formats and
// comments in texts are not there.
#ifndef ASCEND_SDK_NLOHMANN_JSON_HPP
#define ASCEND_SDK_NLOHMANN_JSON_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nlohmann/json_define.h"
#include "nlohmann/json_text.h"
#include "nlohmann/json_value.h"

namespace nlohmann {

/// A text as a value; with `exceptions` off, a text that is none gives a discarded value.
template <typename Callback>
json json::parse(const std::string& text, const Callback&, bool exceptions)
{
    try {
        return detail::Reader<json>(text).Whole();
    } catch (const parse_error&) {
        if (exceptions) {
            throw;
        }
        json discarded;
        discarded.type_ = value_t::discarded;
        return discarded;
    }
}
inline json json::parse(const std::string& text) { return parse(text, nullptr, true); }
inline bool json::accept(const std::string& text) { return !parse(text, nullptr, false).is_discarded(); }

inline std::string json::dump(int indent) const
{
    std::string text;
    detail::Write(*this, indent, 0, text);
    return text;
}

inline std::ostream& operator<<(std::ostream& stream, const json& value) { return stream << value.dump(); }
inline std::string to_string(const json& value) { return value.dump(); }

}  // namespace nlohmann

#endif
