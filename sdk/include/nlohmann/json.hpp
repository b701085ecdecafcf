// Host code includes this without need. The JSON library itself is no part of this SDK: a source that does something
// with the class does not compile here.
#ifndef ASCEND_SDK_NLOHMANN_JSON_HPP
#define ASCEND_SDK_NLOHMANN_JSON_HPP

namespace nlohmann {
class json;
}

#endif
